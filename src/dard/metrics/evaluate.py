"""Evaluate the queries of a block with every reward, tile by tile, into canonical rewards."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dard.core.callables import BoundReward, failure
from dard.core.errors import DardError, RewardError
from dard.metrics.plan import Block
from dard.metrics.tiles import TermSums


@dataclass(frozen=True)
class Values:
    """What evaluating a block gave.

    Attributes
    ----------
    canonical : array, shape (replicates, n, rewards)
    raw : array, shape (n, rewards)
        The rewards of the transitions themselves.
    square : array, shape (rewards,)
        Mean square of the terms that were summed to make a canonical value: against it rounding
        is judged.
    precision : array, shape (rewards,)
        Unit round-off of the values that each reward returned.
    """

    canonical: np.ndarray
    raw: np.ndarray
    square: np.ndarray
    precision: np.ndarray


def evaluate(block: Block, rewards: Sequence[BoundReward], replicates: int) -> Values:
    """Return the canonical rewards of a block."""
    n, count = len(block.index), len(rewards)
    canonical = np.zeros((replicates, n, count))
    raw = np.zeros((n, count))
    square, precision = np.zeros(count), np.zeros(count)
    for position, term in enumerate(block.terms):
        sums = TermSums(term, rewards)
        try:
            sums.evaluate()
        except DardError:
            raise
        except Exception as error:
            place = f"reward {rewards[sums.current].name!r} raised in block {block.number}"
            raise RewardError(failure(place, error)) from error
        means = sums.total / term.per
        square += term.size**2 * sums.square / term.queries
        precision = np.maximum(precision, sums.precision)
        for k in range(count):
            for use in term.uses:
                canonical[:, :, k] += use.of(means[k], n)
        if position == 0 and term.queries == n:
            raw[:] = means.T
    return Values(canonical, raw, square, precision)
