"""Finite sets of actions."""

from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError


def action_grid(low: Any, high: Any, per_dimension: int | Any) -> np.ndarray:
    """Return the cross product of equally spaced actions: the paper's action distribution.

    Parameters
    ----------
    low, high : float or sequence of float
        Bounds of each dimension, included.
    per_dimension : int or sequence of int
        Points along each dimension; a dimension with a single point takes the middle.

    Returns
    -------
    array, shape (N_A, dimensions)

    Examples
    --------
    >>> import dard
    >>> dard.action_grid([-1, -1], [1, 1], 8).shape
    (64, 2)
    """
    low, high, counts = np.broadcast_arrays(
        np.atleast_1d(low).astype(float), np.atleast_1d(high).astype(float), per_dimension
    )
    if low.ndim != 1 or not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ConfigurationError("low and high: expected finite numbers, one for each dimension")
    if (low > high).any():
        raise ConfigurationError(f"low is {low} but high is {high}: low must not exceed high")
    if counts.dtype.kind not in "iu" or (counts < 1).any():
        raise ConfigurationError(f"per_dimension is {per_dimension}; expected integers above 0")
    axes = [
        np.linspace(a, b, k) if k > 1 else np.array([(a + b) / 2])
        for a, b, k in zip(low, high, counts, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
