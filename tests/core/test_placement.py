import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core import arrays
from dard.core.placement import Placement, candidates, of_array, read_only, torch_module

DATA = {"numpy": np.zeros((2, 1)), "torch": torch.zeros(2, 1), "jax": jnp.zeros((2, 1))}
CPU = torch.device("cpu")


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, state, action, next_state):
        return self.layer(state)

    def other(self, state, action, next_state):
        return self.layer(next_state)


def plain(state, action, next_state):
    return state[:, 0]


@pytest.mark.parametrize("source", DATA)
@pytest.mark.parametrize("target", DATA)
def test_arrays_move_between_all_libraries(source, target):
    values = DATA[source] + 3
    put = Placement(target).put(values)
    assert arrays.library_of(put) == target
    np.testing.assert_array_equal(np.asarray(put), np.asarray(values))


@pytest.mark.parametrize("library", DATA)
def test_arrays_that_are_there_stay_as_they_are(library):
    put = Placement(library).put(DATA[library])
    assert put is DATA[library] or put.data_ptr() == DATA[library].data_ptr()


def test_pytorch_never_shares_memory_that_numpy_holds_read_only():
    array = np.zeros(3)
    shared = Placement("torch").put(array)
    copied = Placement("torch").put(read_only(array))
    array[0] = 7
    assert (shared[0], copied[0]) == (7, 0)


def test_pytorch_does_not_write_into_jax():
    array = jnp.zeros(3)
    Placement("torch").put(array)[0] = 7
    assert array[0] == 0


def test_only_floats_take_the_dtype_of_a_placement():
    placement = Placement("torch", CPU, torch.float32)
    assert placement.put(np.zeros(2)).dtype == torch.float32
    assert placement.put(np.zeros(2, np.int64)).dtype == torch.int64
    assert placement.put(torch.zeros(2, dtype=torch.bool)).dtype == torch.bool


def test_tensors_arrive_without_gradients():
    tensor = torch.ones(2, requires_grad=True)
    assert not Placement("torch").put(tensor).requires_grad
    assert tensor.requires_grad


def test_read_only_views_leave_the_original_writeable():
    array = np.zeros(2)
    view = read_only(array)
    assert np.shares_memory(view, array)
    assert (view.flags.writeable, array.flags.writeable) == (False, True)
    assert read_only(DATA["jax"]) is DATA["jax"]


@pytest.mark.parametrize("library", DATA)
def test_data_is_placed_where_it_is(library):
    expected = Placement("torch", CPU) if library == "torch" else Placement(library)
    assert of_array(DATA[library]) == expected


@pytest.mark.parametrize(
    ("home", "order"),
    [
        ("numpy", ["numpy", "torch", "jax", "torch"]),  # in float32 at last: the data is in float64
        ("torch", ["torch", "numpy", "jax"]),
        ("jax", ["jax", "numpy", "torch"]),
    ],
)
def test_unknown_functions_are_tried_at_home_first(home, order):
    assert [placement.library for placement in candidates(plain, DATA[home])] == order


def test_libraries_that_are_not_imported_are_not_tried(monkeypatch):
    monkeypatch.setattr(arrays, "imported", lambda library: None)
    assert candidates(plain, DATA["numpy"]) == [Placement("numpy")]


@pytest.mark.parametrize("home", DATA)
@pytest.mark.parametrize("library", DATA)
def test_a_declared_library_decides(home, library):
    def reward(state, action, next_state):
        return state[:, 0]

    setattr(reward, "library", library)  # noqa: B010 - type checkers do not know it
    (placement,) = candidates(reward, DATA[home])
    assert placement.library == library
    assert placement == (of_array(DATA[home]) if home == library else Placement(library))


@pytest.mark.parametrize("home", DATA)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda net: net,
        lambda net: net.other,
        lambda net: functools.partial(net, action=None),
        lambda net: functools.partial(functools.partial(net.other, None), None),
    ],
)
def test_modules_get_the_type_and_device_of_their_parameters(home, wrap):
    expected = Placement("torch", CPU, torch.float64)
    assert candidates(wrap(Net().double()), DATA[home]) == [expected]


def test_modules_without_floats_leave_the_type_open():
    class Sum(torch.nn.Module):
        def forward(self, state, action, next_state):
            return state.sum(1)

    assert candidates(Sum(), DATA["numpy"]) == [Placement("torch")]


@pytest.mark.parametrize(("library", "dtype"), [("torch", torch.float32), ("numpy", None)])
def test_a_module_may_declare_its_library_too(library, dtype):
    net = Net()
    net.library = library
    (placement,) = candidates(net, DATA["numpy"])
    assert (placement.library, placement.dtype) == (library, dtype)


@pytest.mark.parametrize("home", DATA)
def test_compiled_jax_functions_get_jax_arrays(home):
    assert candidates(jax.jit(plain), DATA[home]) == [Placement("jax")]


def test_modules_are_found_behind_methods_and_partials_only():
    net = Net()
    assert torch_module(net) is net
    assert torch_module(functools.partial(net.other)) is net
    assert torch_module(lambda *transition: -net(*transition)) is None
    assert torch_module(None) is None
