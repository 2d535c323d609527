"""`dard info`."""

import re
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from tests.cli.helpers import Command

import dard
from dard.rewards import MlpReward


def fields(text: str) -> dict[str, str]:
    rows = (re.split(r"  +", line, maxsplit=1) for line in text.splitlines())
    return {name: value for name, value in rows}  # noqa: C416 (each row is a pair)


def test_versions_are_shown_without_importing_packages(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "minari", raising=False)
    found = fields(command("info").out)
    assert found["dard"] == dard.__version__
    assert found["numpy"] == np.__version__
    assert found["matplotlib"][0].isdigit()
    assert "minari" in found
    assert "minari" not in sys.modules
    assert not {"ruff", "pytest", "typer"} & found.keys()


def test_a_missing_package_is_shown_with_its_extra(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ['absent>=1; extra == "plot"'])
    assert fields(command("info").out)["absent"] == "not installed: pip install 'dard[plot]'"


def test_data_is_described(command: Command) -> None:
    found = fields(command("info", "data.npz").out)
    assert found["transitions"] == "400"
    assert found["state"] == "(2,) float64"
    assert found["episodes"] == "20, of 20 to 20 transitions"
    assert found["actions"].startswith("within grid:-0.99")


def test_a_store_shows_its_provenance(command: Command) -> None:
    data = dard.Transitions(np.zeros((3, 2)), np.array([0, 2, 1]), np.ones((3, 2)))
    dard.save_transitions(data, "store", provenance={"policy": "uniform", "seed": 3})
    found = fields(command("info", "store").out)
    assert found["provenance.policy"] == "uniform"
    assert found["provenance.seed"] == "3"
    assert found["episodes"] == "not recorded"
    assert found["actions"] == "within grid:0,2,3"


def test_empty_data_is_described(command: Command) -> None:
    np.savez(
        "empty.npz",
        state=np.zeros((0, 1)),
        action=np.zeros((0, 1)),
        next_state=np.zeros((0, 1)),
        episode=np.zeros(0, int),
    )
    found = fields(command("info", "empty.npz").out)
    assert (found["transitions"], found["episodes"]) == ("0", "0")


def test_a_reward_file_is_described(command: Command) -> None:
    net = MlpReward([(np.ones((6, 1)), np.zeros(1))])
    net.save("net.safetensors")
    assert fields(command("info", "net.safetensors").out)["kind"] == repr(net)


@pytest.mark.parametrize("source", ["missing.npz", "missing.onnx", "broken.safetensors"])
def test_what_cannot_be_read_is_an_error(command: Command, source: str) -> None:
    Path("broken.safetensors").write_bytes(b"1")
    ended = command("info", source)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


def test_the_version(command: Command) -> None:
    assert command("--version").out == f"dard {dard.__version__}\n"
