"""Checked float64 tables: rewards, transition probabilities, distributions and weights."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dard.core import arrays
from dard.core.errors import ConfigurationError, DataError, TransitionModelError

Table = NDArray[np.float64]

SUM_TOLERANCE = 1e-9


def finite_table(value: ArrayLike, name: str) -> Table:
    """Return `value` as float64, or say where it is NaN or infinite."""
    table = arrays.to_numpy(arrays.as_array(value, name)).astype(np.float64)
    if not np.isfinite(table).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(table))[0])
        count = int((~np.isfinite(table)).sum())
        raise DataError(f"{name} has {count} values that are NaN or infinite, the first at {where}")
    return table


def weight_table(value: ArrayLike | None, name: str, shape: tuple[int, ...]) -> Table:
    """Return non-negative weights, scaled so that the largest is 1; ones if not given."""
    if value is None:
        return np.ones(shape)
    mass = finite_table(value, name)
    if mass.shape != shape:
        raise DataError(f"{name} has shape {mass.shape}; expected {shape}")
    if float(mass.min()) < 0:
        raise DataError(f"{name} has a negative value ({float(mass.min()):g}); expected none")
    largest = float(mass.max())
    if largest == 0:
        raise DataError(f"{name} is zero everywhere; at least one value must be positive")
    return mass / largest


def reward_table(value: ArrayLike, name: str) -> Table:
    """Return a reward ``R[s, a, s']`` of shape (S, A, S)."""
    table = finite_table(value, name)
    if table.ndim != 3 or table.shape[0] != table.shape[2] or table.size == 0:
        raise DataError(f"{name} has shape {table.shape}; expected (S, A, S), R[s, a, s']")
    return table


def reward_pair(first: ArrayLike, second: ArrayLike) -> list[Table]:
    """Return two rewards of one shape."""
    pair = [reward_table(first, "R_a"), reward_table(second, "R_b")]
    if pair[0].shape != pair[1].shape:
        raise DataError(f"R_a has shape {pair[0].shape} but R_b has {pair[1].shape}")
    return pair


def transition_table(value: ArrayLike, shape: tuple[int, ...]) -> Table:
    """Return transition probabilities of `shape`, each ``T[s, a]`` a distribution."""
    table = finite_table(value, "T")
    if table.shape != shape:
        raise TransitionModelError(f"T has shape {table.shape}; expected that of R, {shape}")
    sums = table.sum(axis=2)
    wrong = (table.min(axis=2) < 0) | (np.abs(sums - 1) > SUM_TOLERANCE)
    if wrong.any():
        state, action = (int(i) for i in np.argwhere(wrong)[0])
        raise TransitionModelError(
            f"T[{state}, {action}] is not a distribution over next states (sum "
            f"{sums[state, action]:.12g}, least {table[state, action].min():g}): "
            "expected non-negative values that sum to 1"
        )
    return table


def distribution(value: ArrayLike | None, name: str, size: int) -> Table:
    """Return a probability vector of length `size`; uniform if not given."""
    if value is None:
        return np.full(size, 1 / size)
    probability = finite_table(value, name)
    if probability.shape != (size,):
        raise ConfigurationError(f"{name} has shape {probability.shape}; expected ({size},)")
    if float(probability.min()) < 0:
        raise ConfigurationError(f"{name} has a negative probability ({probability.min():g})")
    if abs(float(probability.sum()) - 1) > SUM_TOLERANCE:
        raise ConfigurationError(f"{name} sums to {probability.sum():.12g}; expected 1")
    return probability


def checked_discount(value: Any) -> float:
    """Return the discount as a float in [0, 1]."""
    try:
        discount = float(value)
    except (TypeError, ValueError):
        raise ConfigurationError(f"discount is {value!r}; expected a number in [0, 1]") from None
    if not 0 <= discount <= 1:
        raise ConfigurationError(f"discount is {value!r}; expected a number in [0, 1]")
    return discount
