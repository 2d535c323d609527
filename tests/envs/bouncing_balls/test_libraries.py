"""The functions of Bouncing Balls are the same in NumPy, in PyTorch, and traced by JAX."""

from typing import Any

import jax
import numpy as np
import pytest
import torch
from tests.envs.bouncing_balls.data import draws, scattered

from dard.envs.bouncing_balls import (
    environment,
    feasible,
    goal,
    positions,
    velocities,
)

ROWS = 2000
STATE, ACTION, UNIFORM, NORMAL = scattered(ROWS)
NEXT_STATE = environment.transition(STATE, ACTION, UNIFORM, NORMAL)
# Half of the transitions cannot happen.
NEXT_STATE[ROWS // 2 :] = np.roll(NEXT_STATE[ROWS // 2 :], 1, axis=0)
TRIPLE = STATE, ACTION, NEXT_STATE
RESET = draws(np.random.default_rng(1), ROWS, environment.reset_draws)

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "initial_state": (environment.initial_state, RESET),
    "transition": (environment.transition, (STATE, ACTION, UNIFORM, NORMAL)),
    "transition_model": (
        lambda state, action: environment.transition_model(state, action, None),
        (STATE, ACTION),
    ),
    "observation": (environment.observation, (STATE,)),
    "features": (environment.features, TRIPLE),
    "terminated": (environment.terminated, (STATE,)),
    "feasible": (feasible, (STATE, NEXT_STATE)),
    "positions": (positions, (STATE,)),
    "velocities": (velocities, (STATE,)),
    "goal": (goal, (STATE,)),
} | {name: (reward, TRIPLE) for name, reward in environment.rewards.items()}

every_function = pytest.mark.parametrize(
    ("function", "arguments"), FUNCTIONS.values(), ids=FUNCTIONS
)


def as_float32(arguments):
    return [part.astype(np.float32) for part in arguments]


def assert_same(result, expected, function) -> None:
    """Compare to rounding; noise is made in float32, whatever its arguments are."""
    exact = expected.dtype != np.float32 and function is not environment.rewards["FEASIBILITY"]
    tolerance = 1e-12 if exact else 1e-4
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@every_function
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_torch_agrees(function, arguments, dtype) -> None:
    arguments = [part.astype(dtype) for part in arguments]
    result = function(*(torch.from_numpy(part) for part in arguments))
    assert isinstance(result, torch.Tensor)
    assert_same(result, function(*arguments), function)


@every_function
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_jitted_jax_agrees(function, arguments, dtype) -> None:
    with jax.enable_x64(dtype == np.float64):
        arguments = [part.astype(dtype) for part in arguments]
        result = jax.jit(function)(*arguments)
        assert_same(result, function(*arguments), function)


@every_function
def test_jax_maps_over_batches(function, arguments) -> None:
    def batches(part):
        return part.reshape(20, ROWS // 20, *part.shape[1:])

    with jax.enable_x64(True):
        result = np.asarray(jax.vmap(function)(*map(batches, arguments)))
        assert_same(result.reshape(ROWS, *result.shape[2:]), function(*arguments), function)


@every_function
def test_inputs_are_not_written_to(function, arguments) -> None:
    copies = [part.copy() for part in arguments]
    for part in copies:
        part.flags.writeable = False
    function(*copies)


@every_function
def test_float32_stays_and_is_close(function, arguments) -> None:
    exact, rounded = function(*arguments), function(*as_float32(arguments))
    assert rounded.dtype == (bool if exact.dtype == bool else np.float32)
    if function is not environment.rewards["FEASIBILITY"]:
        # A number or two on the edge of a condition may fall on its other side.
        off = abs(exact.astype(float) - rounded.astype(float)) > 1e-3
        assert off.reshape(ROWS, -1).any(axis=1).sum() <= 2
