"""Networks and transitions that the tests of this room share."""

from itertools import pairwise
from typing import Any

import numpy as np

from dard.rewards import MlpReward


def network(
    widths: tuple[int, ...] = (7, 16, 16, 1),
    activation="tanh",
    dtype: Any = np.float32,
    normalised=True,
    seed=0,
):
    rng = np.random.default_rng(seed)
    layers = [
        (
            rng.normal(size=(a, b)).astype(dtype) / np.sqrt(a).astype(dtype),
            rng.normal(size=b).astype(dtype),
        )
        for a, b in pairwise(widths)
    ]
    if not normalised:
        return MlpReward(layers, activation)
    mean, std = rng.normal(size=widths[0]), rng.uniform(0.5, 2, widths[0])
    return MlpReward(layers, activation, mean.astype(dtype), std.astype(dtype))


def transitions(n=50, dtype: Any = np.float32, seed=1):
    """States of width 3, actions of width 1."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=(n, width)).astype(dtype) for width in (3, 1, 3))


def by_hand(net, columns):
    """The definition, written once more in float64."""
    x = np.concatenate(columns, axis=1).astype(float)
    if net.input_mean is not None:
        x = (x - net.input_mean.astype(float)) / net.input_std.astype(float)
    for k, (weight, bias) in enumerate(net.layers):
        x = x @ weight.astype(float) + bias.astype(float)
        if k < len(net.layers) - 1:
            x = np.tanh(x) if net.activation == "tanh" else np.where(x > 0, x, 0)
    return x[:, 0]
