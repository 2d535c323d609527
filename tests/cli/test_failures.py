"""What is wrong is said in one line, with exit code 2, and leaves nothing behind."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.helpers import Command, save_npz

import dard
from dard.metrics.compare import Comparison

TWO = "rewards.py:goal rewards.py:effort "
GOOD = TWO + "--data data.npz "
DYNAMICS = "--transition-model rewards.py:dynamics "


def contents(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


@pytest.fixture
def broken(folder: Path) -> Path:
    """A folder with everything that can be wrong with a file."""
    whole = (folder / "data.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (folder / "pickled.npz").write_bytes(b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94.")
    columns = dict(np.load(folder / "data.npz"))
    save_npz(folder / "objects.npz", {**columns, "state": np.array([{}, {}])})
    save_npz(folder / "nan.npz", {**columns, "state": np.full_like(columns["state"], np.nan)})
    save_npz(folder / "one.npz", {name: column[:1] for name, column in columns.items()})
    save_npz(folder / "empty.npz", {name: column[:0] for name, column in columns.items()})
    dard.save_transitions(dard.load_transitions("data.npz"), folder / "newer")
    manifest = folder / "newer" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema": 99}))
    (folder / "net.pt").write_bytes(b"PK")
    (folder / "cut.safetensors").write_bytes(b"\x10\x00")
    (folder / "text.npy").write_text("1, 2, 3")
    (folder / "nothing.npy").write_bytes(b"")
    np.save(folder / "objects.npy", np.array([{}]))
    np.save(folder / "wide.npy", np.zeros((4, 3)))
    return folder


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        # Data
        (TWO + "--data cut.npz", "cut.npz is damaged or no .npz file"),
        (TWO + "--data pickled.npz", "pickled.npz is damaged or no .npz file"),
        (TWO + "--data objects.npz", "could run code"),
        (TWO + "--data newer", "pip install --upgrade dard"),
        (TWO + "--data missing.npz", "missing.npz does not exist"),
        (TWO + "--data net.pt", "net.pt is a pickle"),
        (TWO + "--data nan.npz", "state is not finite in transition 0"),
        (TWO + "--data one.npz", "one.npz holds too few transitions (1)"),
        (
            TWO + "--data empty.npz --metric dard " + DYNAMICS,
            "holds too few transitions (0)",
        ),
        # Rewards
        ("rewards.py:goal --data data.npz", "1 reward given"),
        ("a.py:x b.py:y --data data.npz", "there is no file a.py"),
        ("rewards.py:goal rewards.py:goul --data data.npz", "did you mean goal?"),
        ("rewards.py:goal rewards.py:Model --data data.npz", "is a class"),
        ("rewards.py:goal rewards.py:three_actions --data data.npz", "cannot be called"),
        ("rewards.py:goal missing.onnx --data data.npz", "missing.onnx: No such file"),
        ("rewards.py:goal cut.safetensors --data data.npz", "cut.safetensors"),
        ("rewards.py:goal net.pt --data data.npz", "would run code"),
        ("rewards.py:goal rewards.py:nan --data data.npz", "reward 'nan' returned nan"),
        (
            "rewards.py:goal rewards.py:raising --data data.npz",
            "reward 'raising' raised on the first transitions: RuntimeError: no such thing",
        ),
        ("rewards.py:goal rewards.py:goal --data data.npz", "name them apart, e.g. first="),
        ("a=rewards.py:goal a=rewards.py:effort --data data.npz", "two rewards have the name 'a'"),
        ("a= rewards.py:effort --data data.npz", "expected NAME=SOURCE"),
        # The transition model and the actions
        (GOOD + "--metric dard", "add --transition-model module:attribute"),
        (GOOD + DYNAMICS, "add e.g. --actions 'grid:"),
        (GOOD + "--transition-model missing:model --actions grid:-1,1,3", "no module 'missing'"),
        (GOOD + "--transition-model rewards.py:lost --actions grid:-1,1,3", "returned NaN"),
        (GOOD + "--transition-model rewards.py:raising --actions grid:-1,1,3", "transition model"),
        (GOOD + DYNAMICS + "--actions grid:-1,1", "2 parts between commas"),
        (GOOD + DYNAMICS + "--actions grid:-1,b,3", "'b' is not a number"),
        (GOOD + DYNAMICS + "--actions grid:-1,1,2.5", "'2.5' is not a whole number"),
        (GOOD + DYNAMICS + "--actions grid:-1:0:1,1,3", "has 3 numbers for 2 dimensions"),
        (GOOD + DYNAMICS + "--actions grid:1,-1,3", "low must not exceed high"),
        (GOOD + DYNAMICS + "--actions grid:-1,1,2000", "4,000,000 actions"),
        (GOOD + DYNAMICS + "--actions text.npy", "text.npy is damaged or no .npy file"),
        (GOOD + DYNAMICS + "--actions nothing.npy", "nothing.npy is damaged or no .npy file"),
        (GOOD + DYNAMICS + "--actions objects.npy", "objects.npy is damaged or no .npy file"),
        (GOOD + DYNAMICS + "--actions missing.npy", "missing.npy: No such file"),
        (GOOD + DYNAMICS + "--actions wide.npy", "actions has shape (4, 3)"),
        (GOOD + DYNAMICS + "--actions uniform", "expected grid:LOW,HIGH,POINTS"),
        # Options that do not fit together
        (GOOD + "--discount 1.5", "discount is 1.5"),
        (GOOD + "--json --csv", "--json and --csv exclude each other"),
        (GOOD + "--actions grid:-1,1,3", "--actions is for DARD"),
        (GOOD + "--metric epic --next-states 2", "--next-states is for DARD"),
        (GOOD + "--metric epic " + DYNAMICS, "--transition-model is for DARD"),
        (GOOD + "--metric pearson --samples 2", "--samples is for DARD and EPIC"),
        (
            GOOD + DYNAMICS + "--metric dard --actions grid:-1,1,3 --estimator full --samples 2",
            "--samples has no meaning for DARD with --estimator full",
        ),
        # Files to write
        (GOOD + "--out newer", "--out newer is not a file"),
        (GOOD + "--out data.npz/table", "data.npz is not a folder"),
        (GOOD + "--plot heat.txt2", "expected a file name in .png, .pdf or .svg"),
        (GOOD + "--plot heat", "expected a file name in .png, .pdf or .svg"),
    ],
)
def test_an_error_takes_one_line(broken: Path, compare: Command, arguments: str, said: str) -> None:
    before = contents(broken)
    # Options that come later win: the file to write is refused, or never written.
    ended = compare(*shlex.split(f"--out new.txt --plot new.png {arguments}"))
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert said in ended.err
    assert contents(broken) == before


def test_the_grid_that_an_error_suggests_is_accepted(compare: Command) -> None:
    refused = compare(*shlex.split(GOOD + DYNAMICS))
    suggested = refused.err.split("'")[1]
    assert compare(*shlex.split(GOOD + DYNAMICS), "--actions", suggested).code == 0


@pytest.mark.parametrize(
    "arguments", [TWO, GOOD + "--metric mmd", GOOD + "--limit 1", GOOD + "--workers 0", "--dat x"]
)
def test_wrong_usage_has_the_same_exit_code(compare: Command, arguments: str) -> None:
    ended = compare(*shlex.split(arguments))
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_debug_shows_where_an_error_comes_from(compare: Command) -> None:
    arguments = shlex.split("rewards.py:goal rewards.py:raising --data data.npz")
    plain, with_trace = compare(*arguments), compare(*arguments, "--debug")
    assert "Traceback" not in plain.err
    assert "in raising" in with_trace.err
    assert with_trace.err.splitlines()[-1] == plain.err.strip()
    assert with_trace.code == plain.code == 2


def test_an_unexpected_failure_asks_for_debug(compare: Command, monkeypatch) -> None:
    def fail(self: Comparison) -> str:
        raise ZeroDivisionError("never\nexpected")

    monkeypatch.setattr(Comparison, "to_json", fail)
    ended = compare(*shlex.split(GOOD), "--json")
    said = "error: unexpected ZeroDivisionError: never expected"
    assert (ended.code, ended.err) == (1, f"{said} (--debug shows where)\n")
    ended = compare(*shlex.split(GOOD), "--json", "--debug")
    assert (ended.code, ended.err.splitlines()[-1]) == (1, said)
    assert "in fail" in ended.err


def test_a_reward_cannot_end_the_command_quietly(compare: Command) -> None:
    ended = compare("rewards.py:goal", "rewards.py:leaving", "--data", "data.npz")
    assert (ended.code, ended.out) == (1, "")
    assert "unexpected SystemExit: bye" in ended.err


def test_a_picture_that_fails_leaves_nothing_and_keeps_the_old(
    folder: Path, compare: Command, monkeypatch
) -> None:
    from matplotlib.figure import Figure

    def half(self: Figure, file, **_) -> None:
        Path(file).write_bytes(b"half")
        raise OSError(5, "the disk is gone")

    monkeypatch.setattr(Figure, "savefig", half)
    (folder / "heat.png").write_bytes(b"old")
    before = contents(folder)
    ended = compare(*shlex.split(GOOD), "--plot", "heat.png")
    assert (ended.code, ended.err) == (
        2,
        "error: --plot heat.png cannot be written: the disk is gone\n",
    )
    assert (folder / "heat.png").read_bytes() == b"old"
    assert contents(folder) == before


def test_without_matplotlib_a_picture_is_refused_at_once(compare: Command, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    ended = compare("missing.onnx", "rewards.py:goal", "--data", "data.npz", "--plot", "heat.png")
    assert ended.code == 2
    assert ended.err == "error: --plot needs matplotlib: pip install 'dard[plot]'\n"


def test_devices_are_no_place_for_a_file(compare: Command) -> None:
    assert compare(*shlex.split(GOOD), "--out", "/dev/null").code == 2
    assert Path("/dev/null").is_char_device()


def test_a_folder_that_cannot_be_made_is_an_error(compare: Command, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "disk_usage", refuse)
    ended = compare(*shlex.split(GOOD), "--out", "table.txt")
    assert ended.err == "error: --out table.txt cannot be written: Permission denied\n"
