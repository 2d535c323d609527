"""The command as a program: streams, exit codes, signals and pipes."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Program = Callable[..., "subprocess.Popen[str]"]
TWO = ("rewards.py:goal", "rewards.py:effort", "--data", "data.npz")

WAITING = """
import sys, threading
import numpy as np

asked = 0

def reward(state, action, next_state):
    global asked
    asked += 1
    if asked > 2:  # after the probes
        print("waiting", file=sys.stderr, flush=True)
        threading.Event().wait()
    return np.arange(len(state), dtype=float)
"""


def test_modules_of_the_current_directory_are_found(program: Program) -> None:
    started = program("compare", "rewards:goal", "rewards:effort", "--data", "data.npz", "--json")
    out, err = started.communicate()
    assert (started.returncode, err) == (0, "")
    assert [row["metric"] for row in json.loads(out)] == ["Pearson", "EPIC"]


def test_results_and_errors_have_their_own_streams(program: Program) -> None:
    started = program("compare", "rewards.py:goal", "rewards.py:raising", "--data", "data.npz")
    out, err = started.communicate()
    assert (started.returncode, out) == (2, "")
    assert err.startswith("error: reward 'raising' raised")
    assert err.count("\n") == 1


def test_an_interruption_leaves_nothing_behind(folder: Path, program: Program) -> None:
    (folder / "waiting.py").write_text(WAITING)
    before = {path.name for path in folder.iterdir()}
    files = ("--out", "table.txt", "--plot", "heat.png")
    started = program("compare", "waiting.py:reward", *TWO[1:], *files)
    assert started.stderr is not None
    assert started.stderr.readline() == "waiting\n"
    started.send_signal(signal.SIGINT)
    out, err = started.communicate()
    assert (started.returncode, out, err) == (130, "", "interrupted\n")
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == before


def test_a_reader_that_leaves_early_is_no_error(program: Program) -> None:
    started = program("compare", *TWO, "--json")
    assert started.stdout is not None
    assert started.stderr is not None
    started.stdout.close()
    assert started.stderr.read() == ""
    started.stderr.close()
    assert started.wait() == 141


def test_a_terminal_without_the_sign_still_gets_the_numbers(folder: Path) -> None:
    command = [sys.executable, "-m", "dard", "compare", *TWO]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    assert b" ? 0." in done.stdout


def test_a_terminal_gets_tables(folder: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "dard", "compare", *TWO]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.PIPE, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.stderr == b""
    assert "────" in shown
    assert "\x1b[1mgoal" in shown


@pytest.mark.parametrize("arguments", [("--help",), ("compare", "--help"), ("info", "--help")])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    script = (
        "import sys\n"
        "from dard.cli import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit as ended:\n"
        "    assert ended.code == 0\n"
        "heavy = {'rich', 'matplotlib', 'torch', 'jax', 'onnxruntime', 'pandas', 'minari'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stderr == "[]\n"
    assert "Usage: dard" in done.stdout
