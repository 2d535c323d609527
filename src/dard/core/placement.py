"""Where a callable wants its arrays: library, device and dtype; and moving arrays there."""

import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays

LIBRARIES = ("numpy", "torch", "jax")


@dataclass(frozen=True)
class Placement:
    """A library, and for PyTorch a device and floating dtype; None means "as it comes"."""

    library: str
    device: Any = None
    dtype: Any = None

    @property
    def on_host(self) -> bool:
        """Whether arrays here are in the processor's own memory."""
        if self.library == "jax":
            jax: Any = arrays.imported("jax")
            return jax.default_backend() == "cpu"
        return self.device is None or self.device.type == "cpu"

    def put(self, array: Any) -> Any:
        """Return `array` here; without a copy where memory can be shared safely."""
        source = arrays.library_of(array)
        if self.library == "torch":
            return self._to_torch(array, source)
        if source == self.library:
            return array
        return arrays.to_numpy(array) if self.library == "numpy" else _to_jax(array, source)

    def _to_torch(self, array: Any, source: str | None) -> Any:
        torch: Any = arrays.imported("torch")
        if source == "jax" and arrays.device_kind(array) == "cuda":
            array = torch.from_dlpack(array).clone()
        elif source != "torch":
            host = arrays.to_numpy(array)
            # PyTorch cannot mark memory read-only, so it never sees the user's own.
            array = torch.from_numpy(host if host.flags.writeable else host.copy())
        dtype = self.dtype if array.dtype.is_floating_point else None
        return array.detach().to(device=self.device, dtype=dtype)


def _to_jax(array: Any, source: str | None) -> Any:
    jax: Any = arrays.imported("jax")
    if source == "torch" and array.device.type == "cuda":
        return jax.numpy.from_dlpack(array.detach().contiguous())
    return jax.numpy.asarray(arrays.to_numpy(array))


def of_array(array: Any) -> Placement:
    """Return the placement of data that is there already."""
    library = str(arrays.library_of(array))
    return Placement(library, array.device if library == "torch" else None)


def candidates(function: Any, data: Any) -> list[Placement]:
    """Return the placements to try for `function`, best first.

    A declared ``library`` attribute decides; so does being a PyTorch module (or its method) or a
    compiled JAX function. Any other function is tried with the data's own library, then with the
    other libraries that the program has imported.
    """
    declared, module = getattr(function, "library", None), torch_module(function)
    if module is not None and declared in (None, "torch"):
        return [_of_module(module)]
    if declared in LIBRARIES and (declared == "numpy" or arrays.imported(declared)):
        return [of_array(data) if arrays.library_of(data) == declared else Placement(declared)]
    if is_compiled(function):
        return [Placement("jax")]
    home = of_array(data)
    others = [name for name in LIBRARIES if name != home.library and _is_ready(name)]
    return [home, *map(Placement, others), *_narrowed(home, data)]


def _narrowed(home: Placement, data: Any) -> list[Placement]:
    """Return PyTorch in float32, for functions around networks, when data is in float64."""
    if not str(data.dtype).endswith("float64") or not _is_ready("torch"):
        return []
    torch: Any = arrays.imported("torch")
    device = home.device if home.library == "torch" else None
    return [Placement("torch", device, torch.float32)]


def is_compiled(function: Any) -> bool:
    """Return whether `function` is one that JAX compiles: then it takes NumPy arrays as well."""
    return type(function).__module__.partition(".")[0] in ("jax", "jaxlib")


def torch_module(function: Any) -> Any:
    """Return the PyTorch module that `function` is, wraps, or is a method of, or None."""
    while (inner := _wrapped(function)) is not None:
        function = inner
    owner = function.__self__ if isinstance(function, types.MethodType) else function
    torch: Any = arrays.imported("torch")
    return owner if torch is not None and isinstance(owner, torch.nn.Module) else None


def _wrapped(function: Any) -> Any:
    """Return what a partial or a wrapper (by the convention of functools) calls, or None."""
    if isinstance(function, functools.partial):
        return function.func
    return getattr(function, "__wrapped__", None)


def _of_module(module: Any) -> Placement:
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.dtype.is_floating_point:
            return Placement("torch", tensor.device, tensor.dtype)
    return Placement("torch")


def _is_ready(library: str) -> bool:
    # A module in the middle of its own import has no arrays yet.
    module = arrays.imported(library)
    return library == "numpy" or hasattr(module, "Tensor") or hasattr(module, "numpy")


def read_only(array: Any) -> Any:
    """Return a NumPy array that cannot be written to; other arrays as they are."""
    if isinstance(array, np.ndarray):
        array = array.view()
        array.flags.writeable = False
    return array
