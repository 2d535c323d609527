"""One view of NumPy, PyTorch and JAX arrays, without importing any but NumPy.

PyTorch and JAX are looked up among the modules that the user already imported: an array of a
library can only exist once that library was imported.
"""

import sys
from types import ModuleType
from typing import Any

import array_api_compat as compat
import numpy as np

from dard.core.errors import DataError

type_name = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}


def library_of(array: Any) -> str | None:
    """Return ``"numpy"``, ``"torch"`` or ``"jax"``; None for anything else."""
    if isinstance(array, np.ndarray | np.generic):
        return "numpy"
    if compat.is_torch_array(array):
        return "torch"
    if compat.is_jax_array(array):
        return "jax"
    return None


def namespace(*arrays: Any) -> Any:
    """Return the array API namespace that all `arrays` share."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        # NumPy is such a namespace itself; its compatibility layer would cost 0.1 s to import.
        return np
    return compat.array_namespace(*arrays)


def imported(library: str) -> ModuleType | None:
    """Return the module of `library` if the program has imported it already."""
    return sys.modules.get(library)


def as_array(value: Any, what: str) -> Any:
    """Return `value` as an array of its own library, or say why it cannot be one.

    Lists, tuples and numbers become NumPy arrays. Object, string and masked arrays are refused:
    a reward could not be evaluated on them.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise DataError(f"{what} is a masked array: drop or fill the masked rows first")
    library = library_of(value)
    if library is None:
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise DataError(f"{what} is not a rectangular array of numbers: {error}") from error
    if library in (None, "numpy"):
        value = np.asarray(value)
        if value.dtype.kind not in "biuf":
            raise DataError(f"{what} has dtype {value.dtype}; expected real numbers")
    elif not namespace(value).isdtype(value.dtype, ("bool", "real floating", "integral")):
        raise DataError(f"{what} has dtype {value.dtype}; expected real numbers")
    return value


def to_numpy(array: Any) -> np.ndarray:
    """Return `array` on the host, without a copy where its memory is already there."""
    library = library_of(array)
    if library == "torch":
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            array = array.float()
        return array.numpy()
    array = np.asarray(array)
    # JAX's bfloat16 arrives as an extension type that NumPy cannot compute with.
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def device_kind(array: Any) -> str:
    """Return ``"cpu"``, ``"cuda"``, ... for the device that holds `array`."""
    library = library_of(array)
    if library == "torch":
        return array.device.type
    if library == "jax":
        device = next(iter(array.devices()))
        return "cuda" if device.platform == "gpu" else device.platform
    return "cpu"


def precision(array: Any) -> float:
    """Return the unit round-off of the array's dtype (float64's for integers)."""
    name = str(array.dtype).rpartition(".")[2]
    return {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}.get(name, 2.0**-53)
