"""Noise on a transition model: its size, its source, and the model underneath."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import dard
from dard.core.errors import ConfigurationError, TransitionModelError
from dard.core.random import library_stream
from dard.dynamics import noisy
from dard.testing import check_transition_model

STATE = np.random.default_rng(0).normal(size=(20_000, 3))
ACTION = np.ones((20_000, 3))
LIBRARIES = [np.array, torch.tensor, jnp.asarray]


def drift(state, action, rng):
    return state + 0.5 * action


def generator(like, number=0):
    return library_stream(0, "test", number, like=like)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_noise_has_its_size_and_stays_in_the_library(library, dtype):
    with jax.enable_x64(True):
        state, action = (library(part.astype(dtype)) for part in (STATE, ACTION))
        after = noisy(drift, 0.2)(state, action, generator(state))
        assert type(after) is type(state)
        assert after.dtype == state.dtype
        noise = np.asarray(after) - np.asarray(drift(state, action, None))
    np.testing.assert_allclose(noise.std(axis=0), 0.2, rtol=0.03)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=5 * 0.2 / math.sqrt(len(STATE)))
    np.testing.assert_allclose(np.corrcoef(noise.T), np.eye(3), atol=0.03)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_generator_decides_the_noise(library):
    state, action = library(STATE), library(ACTION)
    first, same, other = (
        np.asarray(noisy(drift, 1.0)(state, action, generator(state, number)))
        for number in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert abs(np.corrcoef((first - STATE).ravel(), (other - STATE).ravel())[0, 1]) < 0.02


@pytest.mark.parametrize("library", LIBRARIES)
def test_dimensions_may_have_noise_of_their_own(library):
    state, action = library(STATE), library(ACTION)
    after = noisy(drift, [0.0, 0.1, 1.0])(state, action, generator(state))
    noise = np.asarray(after) - np.asarray(drift(state, action, None))
    assert not noise[:, 0].any()
    np.testing.assert_allclose(noise[:, 1:].std(axis=0), [0.1, 1.0], rtol=0.03)


@pytest.mark.parametrize("library", LIBRARIES)
def test_two_layers_of_noise_are_independent(library):
    state, action = library(STATE), library(ACTION)
    after = noisy(noisy(drift, 3.0), 4.0)(state, action, generator(state))
    noise = np.asarray(after) - np.asarray(drift(state, action, None))
    # Layers that drew the same numbers would add up to 7.
    np.testing.assert_allclose(noise.std(axis=0), 5.0, rtol=0.03)


def test_jax_can_trace_it():
    state, action = jnp.asarray(STATE), jnp.asarray(ACTION)
    model, key = noisy(drift, [0.1, 0.2, 0.3]), jax.random.key(0)
    np.testing.assert_allclose(
        jax.jit(model)(state, action, key), model(state, action, key), rtol=1e-5, atol=1e-6
    )


def test_it_keeps_the_contract_and_dard_takes_it():
    state, action = STATE[:2000], ACTION[:2000]
    data = dard.Transitions(state, action, drift(state, action, None))
    model = noisy(drift, 0.3)
    check_transition_model(model, data)
    metric = dard.DARD(model, dard.action_grid([-1] * 3, [1] * 3, 2), next_states=4)

    def reward(state, action, next_state):
        return next_state[:, 0] * next_state[:, 0] + action[:, 1] * next_state[:, 1]

    def other(state, action, next_state):
        return next_state[:, 0] * next_state[:, 0]

    assert 0 < dard.distance(reward, other, data, metric).value < 1


def test_the_library_and_the_function_underneath_are_found():
    class OnHost:
        library = "numpy"

        def __call__(self, state, action, rng):
            assert isinstance(rng, np.random.Generator)
            return drift(state, action, rng)

    model = noisy(OnHost(), 0.1)
    assert model.library == "numpy"
    assert noisy(drift, 0.1).library is None
    assert noisy(drift, 0.1).__wrapped__ is drift
    data = dard.Transitions(*(torch.tensor(part[:50]) for part in (STATE, ACTION, STATE)))
    check_transition_model(model, data)


@pytest.mark.parametrize("sigma", [-0.1, math.nan, math.inf, [0.1, -1.0], [[0.1]]])
def test_sizes_that_make_no_sense(sigma):
    with pytest.raises(ConfigurationError, match=r"sigma is .* expected a finite number"):
        noisy(drift, sigma)


def test_sizes_that_do_not_fit_the_state():
    model = noisy(drift, [0.1, 0.2])
    with pytest.raises(TransitionModelError, match="sigma has 2 entries but next states have 3"):
        model(STATE, ACTION, np.random.default_rng(0))


def test_what_is_not_a_model():
    with pytest.raises(ConfigurationError, match="model is a float; expected a callable"):
        noisy(0.1, 0.1)  # pyright: ignore[reportArgumentType]


def test_noise_on_whole_numbers():
    whole = np.zeros((3, 2), np.int64)
    with pytest.raises(TransitionModelError, match=r"int64.* expected floating-point numbers"):
        noisy(lambda state, action, rng: state, 0.1)(whole, whole, np.random.default_rng(0))
