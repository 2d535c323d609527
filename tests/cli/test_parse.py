"""Names of rewards and sets of actions from the command line."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dard.cli.parse import name_rewards, read_actions, suggest_grid
from dard.core.errors import ConfigurationError
from dard.core.transitions import Transitions


def with_actions(action) -> Transitions:
    state = np.zeros((len(action), 1))
    return Transitions(state, action, state)


PLANE = with_actions(np.array([[-1.0, -2.0], [1.0, 2.0]]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nets/a.onnx", "b.safetensors"], {"a": "nets/a.onnx", "b": "b.safetensors"}),
        (["m:goal", "x.py:best.reward"], {"goal": "m:goal", "best.reward": "x.py:best.reward"}),
        (["me=a.onnx", "a.onnx"], {"me": "a.onnx", "a": "a.onnx"}),
        (["x/n.onnx", "y/n.onnx"], {"x/n.onnx": "x/n.onnx", "y/n.onnx": "y/n.onnx"}),
        (["n=a.onnx", "n.onnx"], {"n": "a.onnx", "n.onnx": "n.onnx"}),
        (["lr=0.1=a.onnx", "b.onnx"], {"lr": "0.1=a.onnx", "b": "b.onnx"}),
        (["runs/lr=1/a.onnx", "b.onnx"], {"a": "runs/lr=1/a.onnx", "b": "b.onnx"}),
        (["a name=m:x", "É=m:y"], {"a name": "m:x", "É": "m:y"}),
        (
            ["C:\\nets\\v=1\\a.onnx", "m:y"],
            {"C:\\nets\\v=1\\a": "C:\\nets\\v=1\\a.onnx", "y": "m:y"},
        ),
    ],
)
def test_names(arguments: list[str], named: dict[str, str]) -> None:
    assert name_rewards(arguments) == named
    assert list(name_rewards(arguments)) == list(named)


def test_an_equals_sign_in_the_name_of_a_file(folder: Path) -> None:
    (folder / "v=1.onnx").touch()
    assert name_rewards(["v=1.onnx", "m:x"]) == {"v=1": "v=1.onnx", "x": "m:x"}


@given(st.lists(st.sampled_from(["m:x", "n:x", "x=m:y", "y=n:y", "x.onnx"]), min_size=2))
def test_no_reward_is_lost(arguments: list[str]) -> None:
    try:
        named = name_rewards(arguments)
    except ConfigurationError:
        assert len(set(arguments)) < len(arguments) or arguments.count("x=m:y")
    else:
        assert len(named) == len(arguments)


def test_a_grid_of_equal_dimensions() -> None:
    expected = [[-1, -1], [-1, 0.5], [0.5, -1], [0.5, 0.5]]
    np.testing.assert_array_equal(read_actions("grid:-1,.5,2", PLANE), expected)


def test_a_grid_of_different_dimensions() -> None:
    expected = [[-1, 0], [-1, 1], [-1, 2], [1, 0], [1, 1], [1, 2]]
    np.testing.assert_array_equal(read_actions("grid:-1:0,1:2,2:3", PLANE), expected)


def test_a_grid_of_discrete_actions_is_of_integers() -> None:
    data = with_actions(np.array([0, 3, 1]))
    assert suggest_grid(data) == "grid:0,3,4"
    actions = read_actions(suggest_grid(data), data)
    assert actions.dtype == data.action.dtype
    assert actions.tolist() == [[0], [1], [2], [3]]
    with pytest.raises(ConfigurationError, match="grid:0,3,4 spans them"):
        read_actions("grid:0,3,3", data)


@pytest.mark.parametrize(("dimensions", "points"), [(1, 8), (3, 8), (4, 5), (6, 3), (30, 2)])
def test_suggested_grids_stay_small(dimensions: int, points: int) -> None:
    action = np.stack([np.full(dimensions, -1.25), np.full(dimensions, 2.0)])
    assert suggest_grid(with_actions(action)).endswith(f",{points}")
    assert suggest_grid(PLANE) == "grid:-1:-2,1:2,8"


def test_actions_from_a_file_and_from_a_module(folder: Path) -> None:
    actions = np.arange(6.0).reshape(3, 2)
    np.save(folder / "actions.npy", actions)
    np.testing.assert_array_equal(read_actions("actions.npy", PLANE), actions)
    assert read_actions("rewards.py:three_actions", PLANE).shape == (3, 2)
    assert callable(read_actions("rewards.py:sampler", PLANE))
