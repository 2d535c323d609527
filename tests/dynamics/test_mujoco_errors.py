"""What cannot be simulated is refused in one line that says what to do."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dard import dynamics
from dard.core.errors import (
    ConfigurationError,
    FileFormatError,
    MissingExtraError,
    TransitionModelError,
)
from dard.envs.point_maze import model_xml

STATE, ACTION = np.zeros((3, 4)), np.zeros((3, 2))


def with_value(array, value):
    array = array.copy()
    array[1, 0] = value
    return array


@pytest.fixture(scope="module")
def model():
    with dynamics.mujoco(model_xml(), 5, threads=1) as model:
        yield model


def one_line(error: pytest.ExceptionInfo[Exception]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("state", "action", "says"),
    [
        (np.zeros((3, 6)), ACTION, r"\(3, 6\).* 2 positions \+ 2 velocities: expected \(n, 4\)"),
        (np.zeros(4), ACTION, r"shape \(4,\)"),
        (STATE, np.zeros((3, 1)), r"shape \(3, 1\) for 3 states.* 2 controls: expected \(3, 2\)"),
        (STATE, np.zeros((2, 2)), r"shape \(2, 2\) for 3 states"),
        (with_value(STATE, np.nan), ACTION, "states for the model have NaN .* first in row 1"),
        (STATE, with_value(ACTION, np.inf), "actions for the model have NaN or infinite .* row 1"),
    ],
)
def test_inputs_that_do_not_fit(model, state, action, says):
    with pytest.raises(TransitionModelError, match=says) as error:
        model(state, action)
    one_line(error)
    assert np.isfinite(model(STATE, ACTION)).all()


def test_a_mapping_that_does_not_fit():
    with (
        dynamics.mujoco(model_xml(), 5, to_physics=lambda state: state[:, :3]) as model,
        pytest.raises(TransitionModelError, match=r"to_physics returned shape \(3, 3\)"),
    ):
        model(STATE, ACTION)


@pytest.mark.parametrize("frame_skip", [1, 2, 5])
@pytest.mark.parametrize("column", [1, 2])
def test_simulations_that_explode(frame_skip, column, tmp_path, monkeypatch):
    """MuJoCo itself starts anew without a word to its caller, and writes a log where it is."""
    monkeypatch.chdir(tmp_path)
    state = STATE.copy()
    state[2, column] = 1e12
    with dynamics.mujoco(model_xml(), frame_skip, threads=1) as model:
        with pytest.raises(TransitionModelError, match=r"exploded for 1 of 3 .* row 2") as error:
            model(state, ACTION)
        one_line(error)
        assert np.isfinite(model(STATE, ACTION)).all()


@pytest.mark.parametrize(
    "text", ["<mujoco><nonsense/></mujoco>", "<mujoco>", model_xml().replace("sphere", "cube")]
)
def test_models_that_do_not_load(text, tmp_path):
    with pytest.raises(FileFormatError, match="the model: MuJoCo cannot load it: ") as error:
        dynamics.mujoco(text, 5)
    one_line(error)
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"model\.xml: MuJoCo cannot load it: ") as error:
        dynamics.mujoco(path, 5)
    one_line(error)


@pytest.mark.parametrize("name", ["none.xml", "."])
def test_files_that_are_not_there(name, tmp_path):
    with pytest.raises(FileFormatError, match="no such file; expected an MJCF model"):
        dynamics.mujoco(tmp_path / name, 5)


@pytest.mark.parametrize("value", [0, -1, 2.5, True])
@pytest.mark.parametrize("name", ["frame_skip", "threads"])
def test_counts_that_make_no_sense(name, value):
    frame_skip, threads = (value, 1) if name == "frame_skip" else (5, value)
    with pytest.raises(ConfigurationError, match=f"{name} is {value}; expected an integer"):
        dynamics.mujoco(model_xml(), frame_skip, threads=threads)


def test_mujoco_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"needs mujoco: pip install 'dard\[envs\]'"):
        dynamics.mujoco(model_xml(), 5)


def test_a_relative_path_is_found_from_elsewhere_later(tmp_path, monkeypatch):
    (tmp_path / "maze.xml").write_text(model_xml())
    monkeypatch.chdir(tmp_path)
    model = dynamics.mujoco("maze.xml", 5)
    assert model.simulator.source == Path(tmp_path / "maze.xml")
    assert model.simulator.name == "maze.xml"
