import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core import callables
from dard.core.callables import bind_reward, evaluation_mode
from dard.core.errors import DeviceMemoryError, RewardError
from dard.core.placement import Placement
from dard.core.transitions import Transitions

N = 50
VALUES = np.random.default_rng(0).normal(size=(3, N, 2))
EXPECTED = VALUES[0, :, 0] + 2 * VALUES[1, :, 1] + 3 * VALUES[2, :, 0]


def make(library: str) -> Transitions:
    put = {"numpy": np.array, "torch": torch.tensor, "jax": jnp.asarray}[library]
    return Transitions(*map(put, VALUES))


LIBRARIES = ("numpy", "torch", "jax")
DATA = {library: make(library) for library in LIBRARIES}


def call(name: str, reward, data: Transitions) -> np.ndarray:
    """Return the values of all transitions, as the metrics compute them."""
    bound = bind_reward(name, reward, data)
    columns = (bound.placement.put(x) for x in (data.state, data.action, data.next_state))
    values = bound(*columns)
    assert tuple(values.shape) == (len(data),)
    assert not getattr(values, "requires_grad", False)
    return np.asarray(values, np.float64)


def linear(state, action, next_state):
    return state[:, 0] + 2 * action[:, 1] + 3 * next_state[:, 0]


def in_numpy(state, action, next_state):
    assert all(type(x) is np.ndarray for x in (state, action, next_state))
    return np.add(linear(state, action, next_state), 0)


def in_torch(state, action, next_state):
    return torch.add(linear(state, action, next_state), 0)


def in_jax(state, action, next_state):
    return jnp.add(linear(state, action, next_state), 0)


class Net(torch.nn.Module):
    """A linear reward behind layers that only do nothing in evaluation mode."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout(0.5)
        self.norm = torch.nn.BatchNorm1d(6, eps=0, affine=False)
        self.layer = torch.nn.Linear(6, 1)
        with torch.no_grad():
            self.layer.weight[:] = torch.tensor([[1, 0, 0, 2, 3, 0.0]])
            self.layer.bias.zero_()

    def forward(self, state, action, next_state):
        assert not self.norm.training
        assert not torch.is_grad_enabled()
        return self.layer(self.dropout(self.norm(torch.cat([state, action, next_state], dim=1))))

    def rewards(self, scale, state, action, next_state):
        return scale * self(state, action, next_state)[:, 0]


class Holder:
    def __call__(self, state, action, next_state):
        return linear(state, action, next_state)

    def reward(self, state, action, next_state):
        return linear(state, action, next_state)


def scaled(scale, state, action, next_state):
    return scale * linear(state, action, next_state)


REWARDS = {
    "any library": linear,
    "numpy": in_numpy,
    "torch": in_torch,
    "jax": in_jax,
    "jitted": jax.jit(in_jax),
    "vmapped": jax.vmap(lambda s, a, s2: jnp.dot(s, jnp.eye(2)[0]) + 2 * a[1] + 3 * s2[0]),
    "object": Holder(),
    "method": Holder().reward,
    "partial": functools.partial(scaled, 1.0),
    "column": lambda s, a, s2: linear(s, a, s2)[:, None],
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", REWARDS)
def test_rewards_of_any_library_take_data_of_any_library(kind, library):
    np.testing.assert_allclose(call("r", REWARDS[kind], DATA[library]), EXPECTED, atol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["module", "method", "partial"])
def test_modules_take_data_of_any_library_and_type(kind, library):
    net = Net()
    reward = {
        "module": net,
        "method": functools.partial(net.rewards, 1.0),
        "partial": functools.partial(functools.partial(net.rewards), torch.tensor(1.0)),
    }[kind]
    with evaluation_mode([reward]):
        np.testing.assert_allclose(call("r", reward, DATA[library]), EXPECTED, atol=1e-5)
        assert bind_reward("r", reward, DATA[library]).placement.dtype == torch.float32


def training_flags(net: torch.nn.Module) -> list[bool]:
    return [part.training for part in net.modules()]


@pytest.mark.parametrize("fails", [False, True])
def test_every_submodule_is_put_back_into_its_own_mode(fails):
    net = Net().train()
    net.norm.eval()
    frozen = Net().eval()
    assert training_flags(net) == [True, True, False, True]
    with (
        pytest.raises(KeyError) if fails else evaluation_mode([]),
        evaluation_mode([net.rewards, frozen, functools.partial(net), None, linear]),
    ):
        assert not any(training_flags(net) + training_flags(frozen))
        if fails:
            raise KeyError
    assert training_flags(net) == [True, True, False, True]
    assert not any(training_flags(frozen))


def test_no_gradients_are_kept():
    weight = torch.ones(2, dtype=torch.float64, requires_grad=True)
    seen = []

    def reward(state, action, next_state):
        seen.append(torch.is_grad_enabled())
        return state @ weight

    call("r", reward, DATA["torch"])
    assert not any(seen)
    assert torch.is_grad_enabled()


def test_data_with_gradients_is_taken_without_them():
    state = DATA["torch"].state.clone().requires_grad_()
    data = Transitions(state, DATA["torch"].action, DATA["torch"].next_state)
    np.testing.assert_allclose(call("r", in_torch, data), EXPECTED)


def test_inference_mode_does_not_get_in_the_way():
    with torch.inference_mode():
        np.testing.assert_allclose(call("r", in_torch, DATA["numpy"]), EXPECTED)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_declared_library_is_what_a_reward_gets(library):
    def reward(state, action, next_state):
        seen.add(type(state))
        return linear(state, action, next_state)

    seen: set[type] = set()
    setattr(reward, "library", library)  # noqa: B010 - type checkers do not know it
    for data in DATA.values():
        call("r", reward, data)
    assert seen == {type(DATA[library].state)}


def write(state, action, next_state):
    state += 1
    return state[:, 0]


def overwrite(state, action, next_state):
    next_state[:, 0] = 0  # Twice the same result, so that only the write gives it away.
    return next_state[:, 0]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("reward", [write, overwrite])
def test_rewards_that_write_into_their_inputs_are_refused(reward, library):
    with pytest.raises(RewardError, match="reward 'vandal' writes into its inputs; it must not"):
        bind_reward("vandal", reward, make(library))


def test_a_write_that_numpy_stops_is_not_tried_in_another_library(monkeypatch):
    tried = [Placement("numpy"), Placement("jax")]  # Where `state += 1` makes a new array.
    monkeypatch.setattr(callables, "candidates", lambda function, data: tried)
    with pytest.raises(RewardError, match="reward 'vandal' writes into its inputs"):
        bind_reward("vandal", write, make("numpy"))


def test_numpy_data_survives_a_reward_that_writes():
    data = make("numpy")
    with pytest.raises(RewardError):
        bind_reward("vandal", write, data)
    np.testing.assert_array_equal(data.state, VALUES[0])


def test_later_writes_into_tensors_are_refused_too():
    calls = itertools.count()

    def reward(state, action, next_state):
        return write(state, action, next_state) if next(calls) == 2 else state[:, 0]

    with pytest.raises(RewardError, match="reward 'late' writes into its inputs"):
        call("late", reward, make("torch"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_rewards_that_are_no_functions_are_refused(library):
    counter, rng = itertools.count(), np.random.default_rng(0)
    net = Net().train()
    net.norm.eval()
    impure = {
        "counter": lambda s, a, s2: s[:, 0] + next(counter),
        "random": lambda s, a, s2: s[:, 0] + float(rng.normal()),
        "dropout": lambda s, a, s2: net.dropout(torch.tensor(np.asarray(s)))[:, 0],
    }
    for name, reward in impure.items():
        with pytest.raises(RewardError, match=f"reward '{name}' is not a function: the same"):
            bind_reward(name, reward, DATA[library])


def test_the_transition_that_changed_is_shown_and_not_one_that_was_nan_twice():
    calls = itertools.count()

    def reward(state, action, next_state):
        values = np.full(len(state), np.nan)
        values[3] = next(calls)
        return values

    with pytest.raises(RewardError, match="the same transition gave 0, then 1"):
        bind_reward("r", reward, DATA["numpy"])


def test_infinite_values_do_not_hide_random_ones():
    rng = np.random.default_rng(0)

    def reward(state, action, next_state):
        values = rng.normal(size=len(state))
        values[0] = np.inf
        return values

    with pytest.raises(RewardError, match="reward 'r' is not a function"):
        bind_reward("r", reward, DATA["numpy"])


def test_sums_in_another_order_and_equal_nans_are_no_difference():
    signs = itertools.cycle([1, -1])

    def reward(state, action, next_state):
        values = 1 + 1e-7 * next(signs) * state[:, 0]
        values[state[:, 0] > 0.5] = np.nan
        return values

    bind_reward("r", reward, DATA["numpy"])


SHAPES = {
    "columns": (lambda s, a, s2: s, r"returned shape \(32, 2\) for 32 transitions; expected"),
    "number": (lambda s, a, s2: 1.0, r"returned shape \(\) for 32 transitions"),
    "numpy number": (lambda s, a, s2: s.sum(), r"returned shape \(\) for 32 transitions"),
    "one more": (lambda s, a, s2: np.zeros(33), r"returned shape \(33,\) for 32 transitions"),
    "row": (lambda s, a, s2: np.zeros((1, 32)), r"returned shape \(1, 32\)"),
    "none": (lambda s, a, s2: None, "returned values of dtype object"),
    "string": (lambda s, a, s2: "reward", "returned values of dtype <U6"),
    "tuple": (lambda s, a, s2: (s[:, 0], s[:, 1]), r"returned shape \(2, 32\)"),
    "ragged": (lambda s, a, s2: [[1.0], [1.0, 2.0]], "raised on the first transitions: ValueErr"),
    "list of strings": (lambda s, a, s2: ["x"] * len(s), "returned values of dtype <U1"),
    "objects": (lambda s, a, s2: s[:, 0].astype(object), "returned values of dtype object"),
    "complex": (lambda s, a, s2: s[:, 0] + 1j, "returned values of dtype complex128"),
    "masked": (lambda s, a, s2: np.ma.masked_less(s[:, 0], 0), "returned a masked array"),
}


@pytest.mark.parametrize("what", SHAPES)
def test_results_that_are_not_one_number_for_each_transition_are_refused(what):
    reward, why = SHAPES[what]
    with pytest.raises(RewardError, match=f"reward '{what}' {why}") as caught:
        bind_reward(what, reward, DATA["numpy"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_complex_results_of_any_library_are_refused(library):
    with pytest.raises(RewardError, match="reward 'r' returned complex numbers"):
        bind_reward("r", lambda s, a, s2: s[:, 0] + 1j, DATA[library])


@pytest.mark.parametrize("kind", [list, np.float16, np.int32, bool])
def test_other_results_with_a_clear_meaning_are_taken(kind):
    def reward(state, action, next_state):
        values = state[:, 0] > 0
        return list(values.astype(float)) if kind is list else values.astype(kind)

    np.testing.assert_array_equal(call("r", reward, DATA["numpy"]), VALUES[0, :, 0] > 0)


def test_bfloat16_results_are_taken():
    def reward(state, action, next_state):
        return state[:, 0].to(torch.bfloat16)

    assert bind_reward("r", reward, DATA["torch"]).placement.library == "torch"


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_reward_that_raises_is_named_with_its_error(library):
    def reward(state, action, next_state):
        raise KeyError("goal\nis missing")

    with pytest.raises(RewardError) as caught:
        bind_reward("mine", reward, DATA[library])
    assert str(caught.value) == (
        r"reward 'mine' raised on the first transitions: KeyError: 'goal\nis missing'"
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_reward_that_fails_otherwise_in_each_library_is_told_so():
    def reward(state, action, next_state):
        raise TypeError(type(state).__module__)

    with pytest.raises(RewardError) as caught:
        bind_reward("mine", reward, DATA["torch"])
    assert str(caught.value).startswith(
        "reward 'mine' raised on the first transitions: TypeError: torch; "
        "with NumPy arrays: TypeError: numpy; with JAX arrays: TypeError: jax"
    )


def test_errors_of_our_own_pass_unchanged():
    def reward(state, action, next_state):
        raise RewardError("reward 'net' expects 3 features")

    with pytest.raises(RewardError, match=r"^reward 'net' expects 3 features$"):
        bind_reward("mine", reward, DATA["numpy"])


def test_too_little_memory_is_no_reason_to_try_another_library():
    def reward(state, action, next_state):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

    with pytest.raises(DeviceMemoryError, match="reward 'large' ran out of memory with 32"):
        bind_reward("large", reward, DATA["numpy"])


@pytest.mark.parametrize("value", [None, 3.0, np.zeros(3), "module:reward"])
def test_what_cannot_be_called_is_refused(value):
    with pytest.raises(RewardError, match=r"reward 'r' is a .*, not a callable"):
        bind_reward("r", value, DATA["numpy"])


def test_pytorch_that_is_not_imported_is_not_needed(monkeypatch):
    monkeypatch.setattr(callables.arrays, "imported", lambda library: None)
    with evaluation_mode([linear]), callables.no_gradients():
        np.testing.assert_array_equal(call("r", linear, DATA["numpy"]), EXPECTED)


def test_a_function_around_a_float32_network_takes_float64_data():
    net = torch.nn.Linear(2, 1)
    bound = bind_reward("net", lambda s, a, s2: net(s), DATA["numpy"])
    assert bound.placement == Placement("torch", None, torch.float32)


@pytest.mark.parametrize(
    "reward",
    [
        lambda s, a, s2: s[:, 0] - s[:, 0].mean(),
        lambda s, a, s2: s[:, 0] / np.abs(s).max(),
        lambda s, a, s2: np.arange(len(s)) / len(s),
    ],
)
def test_rewards_that_depend_on_their_batch_are_refused(reward):
    with pytest.raises(RewardError, match="'r' is not a function of the transition"):
        bind_reward("r", reward, DATA["numpy"])
