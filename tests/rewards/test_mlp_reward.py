import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dard.core.errors import ConfigurationError, RewardError
from dard.rewards import MlpReward
from dard.rewards.forward import ROWS

from .nets import by_hand, network, transitions

TO = {"numpy": np.asarray, "torch": torch.tensor, "jax": jnp.asarray}


def test_a_linear_network_is_the_linear_reward():
    reward = MlpReward([(np.array([[1.0], [2.0], [3.0]]), np.array([0.5]))])
    values = reward(np.array([[1.0]]), np.array([[10.0]]), np.array([[100.0]]))
    assert values.tolist() == [1 + 20 + 300 + 0.5]
    assert values.dtype == np.float64


def test_the_columns_go_in_as_state_action_next_state():
    reward = MlpReward([(np.arange(1.0, 6).reshape(5, 1), np.zeros(1))])
    state, action, next_state = np.eye(2), np.zeros((2, 1)), np.zeros((2, 2))
    assert reward(state, action, next_state).tolist() == [1, 2]
    assert reward(next_state, np.ones((2, 1)), next_state).tolist() == [3, 3]
    assert reward(next_state, action, state).tolist() == [4, 5]


@pytest.mark.parametrize("library", TO)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("normalised", [True, False])
def test_every_library_gives_the_definition(library, activation, normalised):
    net, columns = network(activation=activation, normalised=normalised), transitions()
    values = net(*(TO[library](column) for column in columns))
    assert type(values) is type(TO[library](columns[0]))
    assert values.shape == (50,)
    np.testing.assert_allclose(np.asarray(values), by_hand(net, columns), rtol=0, atol=2e-6)


def test_the_other_activation_gives_other_values():
    """Negative control of the test above."""
    columns = transitions()
    values = network(activation="relu")(*columns)
    assert np.abs(values - by_hand(network(activation="tanh"), columns)).max() > 0.1


@given(
    n=st.sampled_from([0, 1, 2, ROWS - 1, ROWS, ROWS + 1]),
    hidden=st.lists(st.integers(1, 5), max_size=3),
    activation=st.sampled_from(["tanh", "relu"]),
    seed=st.integers(0, 99),
)
def test_any_size_and_depth_in_float64(n, hidden, activation, seed):
    net = network((7, *hidden, 1), activation, np.float64, seed=seed)
    columns = transitions(n, np.float64, seed)
    np.testing.assert_allclose(net(*columns), by_hand(net, columns), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("library", TO)
def test_data_of_another_dtype_is_converted_to_the_weights(library):
    net, columns = network(), transitions(dtype=np.float64)
    values = net(*(TO[library](column) for column in columns))
    assert str(values.dtype).endswith("float32")
    discrete = net(columns[0], np.arange(50), columns[2])
    expected = by_hand(net, (columns[0], np.arange(50.0)[:, None], columns[2]))
    np.testing.assert_allclose(discrete, expected, atol=1e-5)


@pytest.mark.parametrize("library", TO)
def test_inputs_are_not_written_to(library):
    columns = [TO[library](column) for column in transitions()]
    network()(*columns)
    for column, original in zip(columns, transitions(), strict=True):
        assert np.array_equal(np.asarray(column), original)


def test_read_only_memory_and_more_axes():
    net = network((8, 4, 1))
    state, action = np.ones((5, 1, 3), np.float32), np.ones((5, 2), np.float32)
    for column in (state, action):
        column.flags.writeable = False
    assert net(state, action, state).shape == (5,)


def test_torch_tracks_no_gradient():
    columns = [torch.tensor(column, requires_grad=True) for column in transitions()]
    values = network()(*columns)
    assert not values.requires_grad
    assert torch.is_grad_enabled()
    assert (columns[0] ** 2).sum().requires_grad  # control: the inputs do ask for it


def test_jax_can_trace_and_differentiate_it():
    net, columns = network(), [jnp.asarray(column) for column in transitions()]
    np.testing.assert_allclose(jax.jit(net)(*columns), net(*columns), atol=1e-6)
    gradient = jax.grad(lambda s: net(s, *columns[1:]).sum())(columns[0])
    step = 1e-2 * jnp.eye(3)[0]
    difference = (
        net(columns[0] + step, *columns[1:]) - net(columns[0] - step, *columns[1:])
    ) / 2e-2
    np.testing.assert_allclose(gradient[:, 0], difference, atol=1e-2)


def test_weights_go_to_a_device_once():
    net, columns = network(), [torch.tensor(column) for column in transitions()]
    net(*columns)
    (placed,) = net._placed.values()
    net(*columns)
    assert list(net._placed.values()) == [placed]


def test_pickling_keeps_the_weights_and_no_device_copies():
    net = network()
    net(*(torch.tensor(column) for column in transitions()))
    copy = pickle.loads(pickle.dumps(net))
    assert not copy._placed
    assert np.array_equal(copy(*transitions()), net(*transitions()))


def test_weights_cannot_be_changed_from_outside():
    weight, bias = np.ones((3, 1)), np.zeros(1)
    reward = MlpReward([(weight, bias)])
    weight[:] = 7
    assert reward(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1))) == 3
    with pytest.raises(ValueError, match="read-only"):
        reward.layers[0][0][:] = 0


@pytest.mark.parametrize("library", TO)
def test_weights_may_come_in_any_library(library):
    net = network()
    layers = [(TO[library](weight), TO[library](bias)) for weight, bias in net.layers]
    other = MlpReward(layers, "tanh", TO[library](net.input_mean), TO[library](net.input_std))
    assert np.array_equal(other(*transitions()), net(*transitions()))


def test_a_constant_column_counts_as_standard_deviation_one():
    layers = [(np.ones((3, 1)), np.zeros(1))]
    reward = MlpReward(layers, input_mean=np.array([5.0, 0, 0]), input_std=np.array([0.0, 1, 2]))
    assert reward(np.array([[6.0]]), np.array([[1.0]]), np.array([[4.0]])) == 1 + 1 + 2


def test_repr_says_what_it_is():
    assert repr(network()) == "MlpReward([7, 16, 16, 1], tanh, float32)"


ONE = np.ones((3, 1))
BIAS = np.zeros(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layers": []}, "layers is empty"),
        ({"layers": [(ONE,)]}, "layer 0 has 1 parts"),
        ({"layers": [(ONE, BIAS)], "activation": "gelu"}, "activation is 'gelu'"),
        ({"layers": [(ONE[:, 0], BIAS)]}, r"weight.0 has shape \(3,\)"),
        ({"layers": [(ONE[:0], BIAS)]}, r"weight.0 has shape \(0, 1\)"),
        ({"layers": [(ONE, np.zeros(2))]}, r"bias.0 has shape \(2,\); expected \(1,\)"),
        ({"layers": [(np.ones((3, 2)), np.zeros(2))]}, "gives 2 values; a reward has 1"),
        ({"layers": [(np.ones((3, 4)), np.zeros(4)), (ONE, BIAS)]}, r"expected \(4, out\)"),
        ({"layers": [(ONE * np.nan, BIAS)]}, "weight.0 has values that are not finite"),
        ({"layers": [(ONE, BIAS + np.inf)]}, "bias.0 has values that are not finite"),
        ({"layers": [(ONE.astype(int), BIAS.astype(int))]}, "weights are int64"),
        (
            {"layers": [(ONE, BIAS)], "input_mean": np.zeros(3)},
            "give both input_mean and input_std",
        ),
        (
            {"layers": [(ONE, BIAS)], "input_mean": np.zeros(2), "input_std": np.ones(3)},
            "input_mean has",
        ),
        (
            {"layers": [(ONE, BIAS)], "input_mean": np.zeros(3), "input_std": -np.ones(3)},
            "negative",
        ),
    ],
)
def test_weights_that_make_no_network(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        MlpReward(**arguments)


def test_calls_that_make_no_sense():
    net, (state, action, next_state) = network(), transitions()
    with pytest.raises(RewardError, match=r"reads 7 columns; came state 3 \+ action 2"):
        net(state, np.ones((50, 2)), next_state)
    with pytest.raises(RewardError, match="batches of one length"):
        net(state, action[:-1], next_state)
    with pytest.raises(RewardError, match="batches of one length"):
        net(state, 1.0, next_state)
    with pytest.raises(RewardError, match="mix NumPy and PyTorch"):
        net(state, torch.tensor(action), next_state)
