"""The functions of the maze are the same in NumPy, in PyTorch, and traced by JAX."""

from typing import Any

import jax
import numpy as np
import pytest
import torch
from tests.envs.point_maze.reference import run

from dard.envs.point_maze import feasible, original

ROWS = 2000
BATCHES = 20
RUN = run(original, "bang-bang", 20)
STATE, ACTION, NEXT_STATE = RUN.state, 1.5 * RUN.action, RUN.next_state.copy()
# Half of the transitions cannot happen.
NEXT_STATE[ROWS // 2 :] = np.roll(NEXT_STATE[ROWS // 2 :], 7, axis=0)
TRIPLE = STATE, ACTION, NEXT_STATE
NONE = np.zeros((ROWS, 0))
NOISY = {"FEASIBILITY"}

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "initial_state": (original.initial_state, (np.random.default_rng(0).random((ROWS, 2)), NONE)),
    "transition": (original.transition, (STATE, ACTION, NONE, NONE)),
    "observation": (original.observation, (STATE,)),
    "features": (original.features, TRIPLE),
    "terminated": (original.terminated, (STATE,)),
    "feasible": (feasible, (STATE, NEXT_STATE)),
} | {name: (reward, TRIPLE) for name, reward in original.rewards.items()}

every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def assert_same(result, expected, name) -> None:
    """Compare to rounding; noise is made in float32, whatever its arguments are."""
    tolerance = 1e-12 if expected.dtype != np.float32 and name not in NOISY else 1e-4
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@every_function
@every_dtype
def test_torch_agrees(name, dtype):
    function, arguments = FUNCTIONS[name]
    arguments = [part.astype(dtype) for part in arguments]
    result = function(*(torch.from_numpy(part) for part in arguments))
    assert isinstance(result, torch.Tensor)
    assert_same(result, function(*arguments), name)


@every_function
@every_dtype
def test_jitted_jax_agrees(name, dtype):
    function, arguments = FUNCTIONS[name]
    with jax.enable_x64(dtype == np.float64):
        arguments = [part.astype(dtype) for part in arguments]
        assert_same(jax.jit(function)(*arguments), function(*arguments), name)


@every_function
def test_jax_maps_over_batches(name):
    function, arguments = FUNCTIONS[name]
    with jax.enable_x64(True):
        batches = [part.reshape(BATCHES, ROWS // BATCHES, part.shape[1]) for part in arguments]
        result = np.asarray(jax.vmap(function)(*batches))
        assert_same(result.reshape(ROWS, *result.shape[2:]), function(*arguments), name)


@every_function
def test_inputs_are_not_written_to(name):
    function, arguments = FUNCTIONS[name]
    copies = [part.copy() for part in arguments]
    for part in copies:
        part.flags.writeable = False
    function(*copies)


@every_function
def test_float32_stays_and_is_close(name):
    function, arguments = FUNCTIONS[name]
    exact, rounded = function(*arguments), function(*(x.astype(np.float32) for x in arguments))
    assert rounded.dtype == (bool if exact.dtype == bool else np.float32)
    if name not in NOISY and exact.dtype != bool:
        np.testing.assert_allclose(rounded, exact, atol=1e-3)
