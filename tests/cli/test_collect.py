"""`dard collect`."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.helpers import Command

import dard
from dard.data import StoreWriter, load_splits
from dard.envs import ENVIRONMENTS

MODULE = sys.modules["dard.cli.collect"]
Program = Callable[..., "subprocess.Popen[str]"]

POLICIES = """
import sys, threading
from pathlib import Path
import numpy as np

asked = 0
not_callable = 3


def seek(state):
    return -state[:, :2]


def nan(state):
    return np.where(state[:, :2] > 1e9, 0.0, np.nan)


def waiting(state):
    global asked
    asked += 1
    if asked == 1000 and Path("wait").exists():  # in the third of shards with 400 steps
        print("waiting", file=sys.stderr, flush=True)
        threading.Event().wait()
    return -state[:, :2]


def talkative(state):
    print("I am asked")
    return -state[:, :2]
"""


@pytest.fixture(autouse=True)
def policies(folder: Path) -> None:
    (folder / "policies.py").write_text(POLICIES)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dard.data.rollout.SHARD_TRANSITIONS", 2000)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


NUMPY = ("--engine", "numpy")


@pytest.mark.usefixtures("small_shards")
def test_a_store_is_made_and_described(command: Command) -> None:
    asked = ("collect", "reacher", "--transitions", "4500", "--out", "made/data", *NUMPY)
    ended = command(*asked, "--seed", "3")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (
        "written to made/data: 4,500 transitions of reacher, policy uniform, seed 3\n"
    )
    assert len(dard.load_transitions("made/data", verify=True)) == 4500
    assert "provenance.seed            3" in command("info", "made/data").out
    assert command(*asked, "--seed", "3", "--quiet", "--workers", "2").err == ""


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.usefixtures("small_shards")
def test_every_environment_is_collected(command: Command, name: str) -> None:
    command("collect", name, "--transitions", "1000", "--out", "data", *NUMPY)
    data, world = dard.load_transitions("data"), ENVIRONMENTS[name]
    same = data.episode[1:] == data.episode[:-1]
    np.testing.assert_array_equal(data.state[1:][same], data.next_state[:-1][same])
    assert (data.action >= world.action_low).all()
    assert (data.action <= world.action_high).all()
    assert name in command("collect", "--help").out


@pytest.mark.usefixtures("small_shards")
def test_splits(command: Command) -> None:
    command("collect", "bouncing-balls", "--split", "--transitions", "4000", "--out", "s", *NUMPY)
    assert [len(data) for data in load_splits("s").values()] == [4000, 1000, 1000]


def test_splits_have_the_papers_sizes(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(MODULE, "collect_splits", lambda *a, **_: asked.append(a[2]))
    command("collect", "reacher", "--split", "--out", "data")
    sizes = {"train": 4_000_000, "validation": 1_000_000, "evaluation": 1_000_000}
    assert asked == [sizes]


@pytest.mark.usefixtures("small_shards")
def test_a_policy_of_ones_own(command: Command) -> None:
    asked = ("collect", "bouncing-balls", "--policy", "policies.py:talkative", *NUMPY)
    ended = command(*asked, "--transitions", "500", "--out", "data")
    assert ended.out == ""
    assert "I am asked" in ended.err
    data = dard.load_transitions("data")
    np.testing.assert_array_equal(data.action, np.clip(-data.state[:, :2], -5, 5))
    assert "policies.py:talkative" in command("info", "data").out


@pytest.mark.usefixtures("small_shards")
def test_ctrl_c_and_again(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("collect", "reacher", "--transitions", "6000", *NUMPY)
    command(*asked, "--out", "whole")
    append = StoreWriter.append

    def interrupted(writer: StoreWriter, data: dard.Transitions) -> None:
        if writer.shards == 2:
            raise KeyboardInterrupt
        append(writer, data)

    with monkeypatch.context() as patch:
        patch.setattr(StoreWriter, "append", interrupted)
        ended = command(*asked, "--out", "stopped")
    assert (ended.code, ended.err) == (130, "interrupted\n")
    assert content(Path("stopped")) != content(Path("whole"))
    assert command(*asked, "--out", "stopped").code == 0
    assert content(Path("stopped")) == content(Path("whole"))


def test_killed_and_again(folder: Path, command: Command, program: Program) -> None:
    asked = ("collect", "bouncing-balls", "--policy", "policies.py:waiting", *NUMPY)
    asked = (*asked, "--transitions", "300000", "--out")
    (folder / "wait").touch()
    started = program(*asked, "killed")
    assert started.stderr is not None
    assert started.stderr.readline() == "waiting\n"
    started.kill()
    assert started.communicate()[0] == ""
    assert started.returncode == -signal.SIGKILL
    (folder / "wait").unlink()
    left = command("compare", "rewards.py:goal", "rewards.py:effort", "--data", "killed")
    assert "run that again to resume" in left.err
    for out in ("killed", "whole"):
        assert command(*asked, out).code == 0
    assert content(folder / "killed") == content(folder / "whole")
    assert not [path for path in folder.iterdir() if path.name.endswith(".partial")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("reacher",), "say how many transitions"),
        (("walker", "--transitions", "9"), "there is no environment 'walker'; expected bouncing-"),
        (("policies.py:seek", "--transitions", "9"), "is function; expected a dard.envs.Env"),
        (("point-maze", "--split"), "the paper gives no sizes for point-maze"),
        (("reacher", "--policy", "expert", "--transitions", "9"), "there is no policy 'expert'"),
        (("reacher", "--policy", "policies.py:no", "--transitions", "9"), "no attribute 'no'"),
        (("reacher", "--policy", "policies.py:not_callable", "--transitions", "9"), "not a call"),
        (
            ("reacher", "--policy", "policies.py:nan", "--transitions", "9", *NUMPY),
            "policy returned NaN in step 0 of episode 0",
        ),
    ],
)
@pytest.mark.usefixtures("small_shards")
def test_errors_take_one_line(command: Command, arguments: tuple[str, ...], said: str) -> None:
    ended = command("collect", *arguments, "--out", "data")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert re.fullmatch(r"error: .*\n", ended.err)


def test_a_folder_with_something_else_is_left_alone(command: Command) -> None:
    before = content(Path())
    ended = command("collect", "reacher", "--transitions", "9", "--out", ".")
    assert ended.code == 2
    assert content(Path()) == before


@pytest.mark.usefixtures("small_shards")
def test_progress_counts_transitions(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dard.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    ended = command("collect", "reacher", "--transitions", "4000", "--out", "data", *NUMPY)
    *lines, _ = ended.err.splitlines()
    pattern = r"reacher: \d+% done, [\d.e+]+( [kMG])? transitions/s, \d+:\d\d:\d\d left"
    assert len(lines) == 3
    assert all(re.fullmatch(pattern, line) for line in lines)
