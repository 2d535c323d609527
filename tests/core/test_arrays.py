import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core import arrays
from dard.core.errors import DataError


@pytest.mark.parametrize(
    ("array", "library"),
    [
        (np.zeros(2), "numpy"),
        (np.float32(1), "numpy"),
        (torch.zeros(2), "torch"),
        (jnp.zeros(2), "jax"),
        ([1.0], None),
        (1.0, None),
        (None, None),
        ("numpy", None),
    ],
)
def test_library_is_recognised(array, library):
    assert arrays.library_of(array) == library


def test_namespace_computes_in_the_arrays_own_library():
    for array in (np.ones(2), torch.ones(2), jnp.ones(2)):
        joined = arrays.namespace(array, array).concat([array, array])
        assert type(joined) is type(array)
        assert joined.shape == (4,)


@pytest.mark.parametrize("value", [[1, 2], (1.0, 2.5), 3, np.float32(2), np.array([True, False])])
def test_numbers_become_numpy_arrays(value):
    array = arrays.as_array(value, "x")
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, np.array(value))


@pytest.mark.parametrize("make", [torch.ones, jnp.ones])
def test_arrays_of_other_libraries_stay_what_they_are(make):
    array = make(3)
    assert arrays.as_array(array, "x") is array


def test_subclasses_of_numpy_arrays_become_plain_arrays_on_the_same_memory(tmp_path):
    saved = np.memmap(tmp_path / "x", np.float32, "w+", shape=(4, 2))
    array = arrays.as_array(saved, "x")
    assert type(array) is np.ndarray
    assert np.shares_memory(array, saved)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.array(["a"]), "x has dtype <U1; expected real numbers"),
        (np.array([None]), "x has dtype object; expected real numbers"),
        (np.array([1j]), "x has dtype complex128; expected real numbers"),
        (np.array(["2020-01-01"], "M8[D]"), r"x has dtype datetime64\[D\]"),
        (torch.zeros(1, dtype=torch.complex64), "x has dtype torch.complex64; expected real"),
        (jnp.zeros(1, dtype=jnp.complex64), "x has dtype complex64; expected real numbers"),
        (np.ma.masked_equal([1, 2], 2), "x is a masked array: drop or fill"),
        ([[1], [1, 2]], "x is not a rectangular array of numbers"),
        (None, "x has dtype object"),
        ({"a": 1}, "x has dtype object"),
    ],
)
def test_what_is_not_real_numbers_is_refused(value, why):
    with pytest.raises(DataError, match=why):
        arrays.as_array(value, "x")


def test_arrays_come_to_the_host_without_a_copy():
    array, tensor = np.arange(3.0), torch.arange(3.0)
    assert arrays.to_numpy(array) is array
    assert np.shares_memory(arrays.to_numpy(tensor), tensor.numpy())


@pytest.mark.parametrize(
    "array", [torch.ones(2, dtype=torch.bfloat16), jnp.ones(2, dtype=jnp.bfloat16)]
)
def test_bfloat16_comes_to_the_host_as_float32(array):
    host = arrays.to_numpy(array)
    assert host.dtype == np.float32
    assert host.tolist() == [1.0, 1.0]


def test_tensors_with_gradients_come_to_the_host():
    assert arrays.to_numpy(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("array", [np.ones(1), torch.ones(1), jnp.ones(1)])
def test_device_of_host_arrays(array):
    assert arrays.device_kind(array) == "cpu"


def test_device_of_a_tensor_elsewhere():
    assert arrays.device_kind(torch.empty(1, device="meta")) == "meta"


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_precision_is_half_the_spacing_at_one(name):
    expected = np.finfo(name).eps / 2
    assert arrays.precision(np.ones(1, name)) == expected
    assert arrays.precision(torch.ones(1, dtype=getattr(torch, name))) == expected


def test_precision_of_other_types():
    assert arrays.precision(jnp.ones(1)) == 2.0**-24
    assert (
        arrays.precision(torch.ones(1, dtype=torch.bfloat16)) == torch.finfo(torch.bfloat16).eps / 2
    )
    assert arrays.precision(jnp.ones(1, dtype=jnp.bfloat16)) == 2.0**-8
    assert arrays.precision(np.ones(1, int)) == 2.0**-53
    assert arrays.precision(np.ones(1, bool)) == 2.0**-53
