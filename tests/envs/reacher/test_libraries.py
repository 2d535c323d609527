"""The same source on NumPy, on PyTorch, and traced by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from tests.envs.reacher.reference import bang_bang, episodes, step

from dard.envs import reacher

environment = reacher.environment
SINGLE = 1e-4
"""float32 against float64, after 0.05 s at up to 50 rad/s."""


def initial_state(state, action, after):
    # Any numbers in [0, 1) will do.
    uniform = (state[..., :6] / 100) % 1.0
    return reacher.initial_state(uniform, uniform[..., :0])


def transition(state, action, after):
    return reacher.transition(state, action, state[..., :0], state[..., :0])


FUNCTIONS = {
    "initial_state": initial_state,
    "transition": transition,
    "observation": lambda state, action, after: environment.observation(state),
    "terminated": lambda state, action, after: environment.terminated(state),
    "features": environment.features,
    **environment.rewards,
}

EXAMPLE = episodes("uniform", 4)
STATE = EXAMPLE.states[:, :-1].reshape(-1, 11)
# Out of bounds, so that clipping is compared as well.
ACTION = 1.2 * bang_bang(STATE, np.random.default_rng(0))
# What is infeasible is compared as well.
AFTER = np.where(np.arange(len(STATE))[:, None] % 3 > 0, step(STATE, ACTION), STATE[::-1])
INPUTS = STATE, ACTION, AFTER


def same(result, expected, tolerance):
    result = np.asarray(result)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_agrees_everywhere(name):
    function = FUNCTIONS[name]
    # The noise of infeasible transitions depends on bits that only float32 values share.
    inputs = [x.astype(np.float32).astype(np.float64) for x in INPUTS]
    expected = function(*inputs)
    assert expected.dtype in (np.float64, np.bool_)
    of_torch = function(*map(torch.from_numpy, inputs))
    assert of_torch.dtype in (torch.float64, torch.bool)
    tolerance = 1e-5 if name == "FEASIBILITY" else 1e-11
    same(of_torch, expected, tolerance)
    with jax.enable_x64(True):
        same(jax.jit(function)(*map(jnp.asarray, inputs)), expected, tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_stays_float32_and_agrees(name):
    function = FUNCTIONS[name]
    inputs = [x.astype(np.float32) for x in INPUTS]
    expected = function(*(x.astype(np.float64) for x in inputs))
    rows = jax.vmap(lambda *row: function(*(x[None] for x in row))[0])
    results = {
        "numpy": function(*inputs),
        "torch": function(*map(torch.from_numpy, inputs)),
        "jax": function(*map(jnp.asarray, inputs)),
        "jit": jax.jit(function)(*inputs),
        "vmap": jax.jit(rows)(*inputs),
    }
    for result in results.values():
        assert str(result.dtype).rpartition(".")[2] in ("float32", "bool")
        same(result, expected, SINGLE)


def test_single_precision_actions_move_double_precision_states_exactly():
    action = np.random.default_rng(0).uniform(-1, 1, ACTION.shape).astype(np.float32)
    np.testing.assert_array_equal(step(STATE, action), step(STATE, action.astype(np.float64)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_inputs_are_left_alone(name):
    inputs = [x.copy() for x in INPUTS]
    for x in inputs:
        x.flags.writeable = False
    FUNCTIONS[name](*inputs)
