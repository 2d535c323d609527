"""A folder with rewards and data, and the command run in it."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.cli.helpers import REWARDS, Command, Ended, save_npz, transitions

from dard.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rewards.py").write_text(REWARDS)
    save_npz(tmp_path / "data.npz", transitions())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return `dard`, run in this process."""

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert isinstance(stopped.value.code, int)
        out, err = (str(text) for text in capsys.readouterr())
        return Ended(stopped.value.code, out, err)

    return run


@pytest.fixture
def compare(command: Command) -> Command:
    """Return `dard compare`, run in this process."""
    return partial(command, "compare")


@pytest.fixture
def program(folder: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Return `dard`, started in a process of its own."""

    def start(*arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "dard", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    return start
