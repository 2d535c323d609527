"""Second moments of many rewards, and of the scaled differences of pairs of them.

A distance near 0 cannot be had from variances and covariances: ``1 - correlation`` cancels. So for
each pair (i, j) the second moments of the difference ``d = x_i / s_i - x_j / s_j`` are kept beside
those of the rewards, with scales s near the standard deviations. They give the distance without
cancellation (`metrics.squared`), and can be moved to other scales exactly, which makes them
mergeable.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Pairs:
    """The pairs of rewards whose distance is wanted: `first` and `second` hold their numbers."""

    rewards: int
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def all(cls, rewards: int) -> "Pairs":
        """Return every pair i < j of `rewards` rewards."""
        return cls(rewards, *np.triu_indices(rewards, 1))


@dataclass(frozen=True)
class Comoments:
    """Centred sums of products, with the number of degrees of freedom that they hold.

    Attributes
    ----------
    freedom : array, shape (...)
        Degrees of freedom: divide by it to get (co)variances.
    own : array, shape (..., rewards)
        ``x_i * x_i`` of scaled rewards.
    difference, cross : array, shape (..., pairs)
        ``d * d``, and ``d * x_j`` where j is the second reward of the pair.

    With two replicates every product is of one replicate with the other, symmetrised.
    """

    freedom: Any
    own: np.ndarray
    difference: np.ndarray
    cross: np.ndarray

    def __add__(self, other: "Comoments") -> "Comoments":
        return Comoments(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: "Comoments") -> "Comoments":
        return Comoments(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """The four arrays, in the order of the constructor."""
        return self.freedom, self.own, self.difference, self.cross

    def total(self) -> "Comoments":
        """Return the sums over the leading axis."""
        return Comoments(*(part.sum(axis=0) for part in self.parts))

    def rescaled(self, change: "Rescaling") -> "Comoments":
        """Return the same moments of rewards that are divided by other scales."""
        a, c, j = change.first, change.excess, change.second_number
        own_j = self.own[..., j]
        difference = a * a * self.difference + 2 * a * c * self.cross + c * c * own_j
        cross = change.second * (a * self.cross + c * own_j)
        return Comoments(self.freedom, change.own**2 * self.own, difference, cross)


@dataclass(frozen=True)
class Rescaling:
    """The step from scales `old` to scales `new`: x / new = (old / new) * (x / old).

    The new difference of a pair is ``first * d + excess * x_j`` where `excess` is the difference
    of the two factors: exactly 0 for pairs whose scales keep their ratio.
    """

    old: np.ndarray
    new: np.ndarray
    pairs: Pairs

    @cached_property
    def own(self) -> np.ndarray:
        """Factor of each reward."""
        return self.old / self.new

    @property
    def first(self) -> np.ndarray:
        """Factor of each pair's first reward."""
        return self.own[self.pairs.first]

    @property
    def second(self) -> np.ndarray:
        """Factor of each pair's second reward."""
        return self.own[self.second_number]

    @property
    def excess(self) -> np.ndarray:
        """First factor less second factor."""
        return self.first - self.second

    @property
    def second_number(self) -> np.ndarray:
        """Number of each pair's second reward."""
        return self.pairs.second

    def means(self, mean: np.ndarray) -> np.ndarray:
        """Move means of the columns ``[rewards, pair differences]`` to the new scales."""
        own, difference = np.split(mean, [self.pairs.rewards], axis=-1)
        moved = self.first * difference + self.excess * own[..., self.second_number]
        return np.concatenate([self.own * own, moved], axis=-1)


def columns(canonical: np.ndarray, scale: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return the scaled rewards and their differences, shape (replicates, n, rewards + pairs).

    Where x_i is a multiple of x_j the difference is rounding noise: the same division by scales
    with the same ratio.
    """
    scaled = canonical / scale
    return np.concatenate([scaled, scaled[..., pairs.first] - scaled[..., pairs.second]], axis=-1)


def products(left: np.ndarray, right: np.ndarray, pairs: Pairs, freedom: Any) -> Comoments:
    """Return the products of two replicates' centred columns, symmetrised, row by row."""
    x, d = np.split(left, [pairs.rewards], axis=-1)
    y, e = np.split(right, [pairs.rewards], axis=-1)
    j = pairs.second
    return Comoments(freedom, x * y, d * e, 0.5 * (d * y[..., j] + e * x[..., j]))
