"""The forward pass of an MLP in NumPy, PyTorch and JAX, from one source."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dard.core import arrays
from dard.rewards.mlp import Mlp

# Rows that go through the network at once under NumPy: the activations stay in the cache.
ROWS = 2048

# (normalisation or None, layers), as arrays of the library that computes.
Parameters = tuple[tuple[Any, Any] | None, Sequence[tuple[Any, Any]]]


def forward(xp: Any, parameters: Parameters, inputs: Any, activation: str, writable: bool) -> Any:
    """Return the network's values, shape (n,), for `inputs`, shape (n, width).

    `inputs` must be the caller's own copy: where arrays are `writable`, augmented assignments
    work in place, and in JAX they make new arrays. `xp` is the library's own module.
    """
    normalisation, layers = parameters
    x = inputs
    if normalisation is not None:
        mean, std = normalisation
        x -= mean
        x /= std
    for weight, bias in layers[:-1]:
        x = x @ weight
        x += bias
        out = {"out": x} if writable else {}
        x = xp.tanh(x, **out) if activation == "tanh" else xp.clip(x, 0, None, **out)
    weight, bias = layers[-1]
    return x @ weight[:, 0] + bias


def numpy_values(network: Mlp, columns: Sequence[np.ndarray]) -> np.ndarray:
    """Evaluate `network` on NumPy columns of shape (n, width of each)."""
    parameters = network.normalisation, network.layers
    values = np.empty(len(columns[0]), network.dtype)
    for start in range(0, len(values), ROWS):
        rows = slice(start, start + ROWS)
        # One pass joins the columns and converts them to the network's dtype.
        inputs = np.concatenate([column[rows] for column in columns], axis=1, dtype=network.dtype)
        values[rows] = forward(np, parameters, inputs, network.activation, writable=True)
    return values


def torch_parameters(network: Mlp, column: Any) -> Parameters:
    """Return the weights of `network` on the device of `column`."""
    torch: Any = arrays.imported("torch")
    return _convert(network, lambda array: torch.tensor(array, device=column.device))


def torch_values(network: Mlp, parameters: Parameters, columns: Sequence[Any]) -> Any:
    """Evaluate `network` on PyTorch columns, without tracking gradients."""
    torch: Any = arrays.imported("torch")
    dtype = parameters[1][0][0].dtype
    with torch.no_grad():
        inputs = torch.cat([column.to(dtype) for column in columns], dim=1)
        return forward(torch, parameters, inputs, network.activation, writable=True)


def jax_parameters(network: Mlp, column: Any) -> Parameters:
    """Return the weights of `network` on the device of `column`."""
    jax: Any = arrays.imported("jax")
    (device,) = column.devices()
    return _convert(network, lambda array: jax.device_put(array, device))


def jax_values(network: Mlp, parameters: Parameters, columns: Sequence[Any]) -> Any:
    """Evaluate `network` on JAX columns, compiled once per shape; also while JAX traces it."""
    return _jax_program(network.activation)(parameters, tuple(columns))


@functools.cache
def _jax_program(activation: str) -> Callable[[Parameters, tuple[Any, ...]], Any]:
    jax: Any = arrays.imported("jax")

    def values(parameters: Parameters, columns: tuple[Any, ...]) -> Any:
        dtype = parameters[1][0][0].dtype
        inputs = jax.numpy.concatenate([column.astype(dtype) for column in columns], axis=1)
        # A GPU's default rounds the factors of products to about 3 digits, which is more than
        # the difference of two good rewards.
        with jax.default_matmul_precision("highest"):
            return forward(jax.numpy, parameters, inputs, activation, writable=False)

    return jax.jit(values)


def _convert(network: Mlp, convert: Callable[[np.ndarray], Any]) -> Parameters:
    pair = network.normalisation
    normalisation = None if pair is None else (convert(pair[0]), convert(pair[1]))
    return normalisation, [(convert(weight), convert(bias)) for weight, bias in network.layers]
