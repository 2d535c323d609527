import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core.errors import DataError, TransitionModelError
from dard.core.models import bind_model
from dard.core.placement import Placement

STATE = np.random.default_rng(0).normal(size=(8, 2))
ACTION = np.ones((8, 2))
LIBRARIES = ("numpy", "torch", "jax")
HOST = Placement("numpy")
KEY = (3, "model", 5)


def inputs(library: str):
    return [Placement(library).put(np.array(x)) for x in (STATE, ACTION)]


def add(state, action, rng):
    return state + action


def numpy_noise(state, action, rng):
    assert isinstance(rng, np.random.Generator)
    return np.add(state, action) + rng.normal(size=state.shape)


def torch_noise(state, action, rng):
    assert isinstance(rng, torch.Generator)
    return torch.add(state, action) + torch.randn(state.shape, generator=rng)


@jax.jit
def jax_noise(state, action, rng):
    return state + action + jax.random.normal(rng, state.shape)


NOISE = {"numpy": numpy_noise, "torch": torch_noise, "jax": jax_noise}


@pytest.mark.parametrize("home", LIBRARIES)
def test_results_come_back_in_the_library_that_is_asked_for(home):
    bound = bind_model("the model", add, inputs("numpy"))
    result = bound(inputs("numpy"), Placement(home), KEY)
    assert type(result) is type(inputs(home)[0])
    np.testing.assert_allclose(np.asarray(result), STATE + 1, rtol=1e-6)


@pytest.mark.parametrize("data", LIBRARIES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_models_get_the_random_generator_of_their_own_library(library, data):
    bound = bind_model("the model", NOISE[library], inputs(data))
    first, again, other = (bound(inputs(data), HOST, (3, "model", k)) for k in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).min() > 0
    assert 0.1 < (first - STATE - 1).std() < 3


def test_modules_get_their_own_type_and_no_gradients():
    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, state, action, rng):
            assert not torch.is_grad_enabled()
            return self.layer(state)

    bound = bind_model("the model", functools.partial(Step()), inputs("numpy"))
    assert bound.placement.dtype == torch.float32
    result = bound(inputs("numpy"), Placement("torch"), KEY)
    assert not result.requires_grad


def test_action_samplers_take_states_only():
    bound = bind_model("the action sampler", lambda s, rng: rng.normal(size=s.shape), [STATE])
    assert bound([STATE], HOST, KEY).shape == STATE.shape


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_randomness_of_their_own_is_refused(library):
    rng, counter = np.random.default_rng(0), itertools.count()
    impure = [
        lambda s, a, key: s + float(rng.normal()),
        lambda s, a, key: s + 1e-3 * next(counter),
        lambda s, a, key: s[: 1 + next(counter) % 7],
        lambda s, a, key: 1e-9 * s * next(counter),
    ]
    if library == "torch":
        impure.append(lambda s, a, key: s + torch.randn(2))
    for model in impure:
        with pytest.raises(TransitionModelError, match="the model gave two results for the same"):
            bind_model("the model", model, inputs(library))


def shift(state, action, rng):
    state += action
    return state


def clip(state, action, rng):
    state[state > 0] = 0  # Twice the same result, so that only the write gives it away.
    return state


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("model", [shift, clip])
def test_models_that_write_into_their_inputs_are_refused(model, library):
    with pytest.raises(TransitionModelError, match="the model writes into its inputs; it must"):
        bind_model("the model", model, inputs(library))


@pytest.mark.parametrize(
    ("result", "what"),
    [
        (None, "NoneType"),
        ([[1.0]], "list"),
        (np.array([None]), "ndarray of dtype object"),
        (np.array([1j]), "ndarray of dtype complex128"),
    ],
)
def test_results_that_are_no_arrays_of_numbers_are_refused(result, what):
    with pytest.raises(TransitionModelError, match=f"the model returned {what}; expected"):
        bind_model("the model", lambda s, a, rng: result, inputs("numpy"))


def broken_after(calls: int, error: Exception):
    counter = itertools.count()

    def model(state, action, rng):
        if next(counter) >= calls:
            raise error
        return state

    return model


def test_a_model_that_raises_is_named_with_its_error():
    with pytest.raises(TransitionModelError) as caught:
        bind_model("the model", broken_after(0, OSError("no\nsimulator")), inputs("numpy"))
    expected = "the model raised on the first transitions: OSError: no simulator"
    assert str(caught.value) == expected
    assert isinstance(caught.value.__cause__, OSError)


def test_a_model_that_raises_later_is_named_too():
    bound = bind_model("the model", broken_after(2, OSError("gone")), inputs("numpy"))
    with pytest.raises(TransitionModelError, match=r"^the model raised: OSError: gone$") as caught:
        bound(inputs("numpy"), HOST, KEY)
    assert isinstance(caught.value.__cause__, OSError)


def test_errors_of_our_own_pass_unchanged():
    with pytest.raises(DataError, match=r"^too few$"):
        bind_model("the model", broken_after(0, DataError("too few")), inputs("numpy"))
    bound = bind_model("the model", broken_after(2, DataError("too few")), inputs("numpy"))
    with pytest.raises(DataError, match=r"^too few$"):
        bound(inputs("numpy"), HOST, KEY)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TransitionModelError, match="the model is a ndarray, not a callable"):
        bind_model("the model", STATE, inputs("numpy"))


def test_equal_nans_are_no_difference():
    bind_model("the model", lambda s, a, rng: s * np.nan, inputs("numpy"))


def test_jax_data_on_models_of_any_library():
    bound = bind_model("the model", lambda s, a, rng: jnp.add(s, a), inputs("jax"))
    assert bound.placement == Placement("jax")
