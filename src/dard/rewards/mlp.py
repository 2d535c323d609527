"""The weights of a multilayer perceptron, validated: what files hold and forward passes use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError

ACTIVATIONS = ("tanh", "relu")


@dataclass(frozen=True, eq=False, repr=False)
class Mlp:
    r"""A multilayer perceptron with one output, as read-only NumPy arrays.

    .. math:: x_0 = (x - \mu) / \sigma, \quad x_{k+1} = \phi(x_k W_k + b_k), \quad
              f(x) = x_K W_K + b_K

    Parameters
    ----------
    layers : sequence of (weight, bias)
        Weights of shape (in, out) and biases of shape (out,), each layer's `in` the `out` before
        it, the last `out` 1; float32 or float64, in NumPy, PyTorch or JAX.
    activation : {"tanh", "relu"}
        :math:`\phi`, between the layers.
    input_mean, input_std : array, shape (in,), optional
        :math:`\mu` and :math:`\sigma`, both or neither. A standard deviation of 0 (a constant
        column of the training data) counts as 1.
    """

    layers: Sequence[tuple[Any, Any]]
    activation: str = "tanh"
    input_mean: Any = None
    input_std: Any = None

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            expected = " or ".join(repr(name) for name in ACTIVATIONS)
            raise ConfigurationError(f"activation is {self.activation!r}; expected {expected}")
        if not len(self.layers):
            raise ConfigurationError("layers is empty; expected at least one (weight, bias)")
        named = _named_arrays(self.layers)
        dtype = np.result_type(*named.values())
        if dtype not in (np.float32, np.float64):
            raise ConfigurationError(f"the weights are {dtype}; expected float32 or float64")
        for name, array in named.items():
            named[name] = _frozen(array, dtype, name)
        layers = tuple((named[f"weight.{k}"], named[f"bias.{k}"]) for k in range(len(self.layers)))
        _check_chain(layers)
        object.__setattr__(self, "layers", layers)
        self._freeze_normalisation(dtype)

    def _freeze_normalisation(self, dtype: np.dtype[Any]) -> None:
        if (self.input_mean is None) != (self.input_std is None):
            raise ConfigurationError("give both input_mean and input_std, or neither")
        if self.input_mean is None:
            return
        mean = _frozen(_host_array(self.input_mean, "input_mean"), dtype, "input_mean")
        std = _frozen(_host_array(self.input_std, "input_std"), dtype, "input_std")
        for name, array in (("input_mean", mean), ("input_std", std)):
            if array.shape != (self.width,):
                raise ConfigurationError(
                    f"{name} has shape {array.shape}; expected ({self.width},), as weight.0 reads"
                )
        if (std < 0).any():
            raise ConfigurationError("input_std has negative entries")
        object.__setattr__(self, "input_mean", mean)
        object.__setattr__(self, "input_std", _frozen(np.where(std == 0, 1, std), dtype, "std"))

    def __repr__(self) -> str:
        widths = [self.width, *(len(bias) for _, bias in self.layers)]
        return f"{type(self).__name__}({widths}, {self.activation}, {self.dtype})"

    @property
    def width(self) -> int:
        """The number of inputs."""
        return int(self.layers[0][0].shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the weights, in which the network computes."""
        return self.layers[0][0].dtype

    @property
    def normalisation(self) -> tuple[Any, Any] | None:
        """``(input_mean, input_std)``, or None where inputs go in as they are."""
        return None if self.input_mean is None else (self.input_mean, self.input_std)


def _named_arrays(layers: Sequence[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    named = {}
    for k, layer in enumerate(layers):
        if len(layer) != 2:
            raise ConfigurationError(f"layer {k} has {len(layer)} parts; expected (weight, bias)")
        for kind, array in zip(("weight", "bias"), layer, strict=True):
            named[f"{kind}.{k}"] = _host_array(array, f"{kind}.{k}")
    return named


def _host_array(array: Any, name: str) -> np.ndarray:
    return arrays.to_numpy(arrays.as_array(array, name))


def _frozen(array: np.ndarray, dtype: np.dtype[Any], name: str) -> np.ndarray:
    frozen = np.array(array, dtype, order="C")
    if not np.isfinite(frozen).all():
        raise ConfigurationError(f"{name} has values that are not finite: was training unstable?")
    frozen.flags.writeable = False
    return frozen


def _check_chain(layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    width = None
    for k, (weight, bias) in enumerate(layers):
        if weight.ndim != 2 or 0 in weight.shape:
            raise ConfigurationError(f"weight.{k} has shape {weight.shape}; expected (in, out)")
        if width not in (None, weight.shape[0]):
            raise ConfigurationError(
                f"weight.{k} has shape {weight.shape}; expected ({width}, out), as the layer "
                f"before it gives {width} values"
            )
        width = weight.shape[1]
        if bias.shape != (width,):
            raise ConfigurationError(f"bias.{k} has shape {bias.shape}; expected ({width},)")
    if width != 1:
        raise ConfigurationError(f"the last layer gives {width} values; a reward has 1")
