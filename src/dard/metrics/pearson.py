"""The Pearson distance of the rewards themselves: the baseline without canonicalisation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core.groups import Groups, jackknife_groups
from dard.core.transitions import Transitions
from dard.metrics.canonical import Floats, canonical_rewards
from dard.metrics.plan import Block, Properties, own_rewards, rows_of

BLOCK = 8192


@dataclass(frozen=True)
class Pearson:
    r"""Pearson distance of raw rewards on the coverage transitions.

    .. math:: D_\rho(X, Y) = \sqrt{(1 - \rho(X, Y)) / 2}

    (Definition 4.4 of Gleave et al. 2020, quoted in section 3.3 of the DARD paper.) Blind to scale
    and shift, but not to potential shaping.

    Examples
    --------
    >>> import dard
    >>> dard.Pearson()
    Pearson()
    """

    properties = Properties(shaping_invariant=False)

    def canonicalize(self, reward: Callable[..., Any], data: Transitions, seed: int = 0) -> Floats:
        """Return the reward itself on each transition, float64, shape (n,)."""
        return canonical_rewards(self, reward, data, seed)

    def plan(self, data: Transitions, seed: int) -> "PearsonPlan":
        """Return the plan: every transition once."""
        return PearsonPlan(data, seed, jackknife_groups(data))


@dataclass(frozen=True)
class PearsonPlan:
    """One evaluation for each transition."""

    data: Transitions
    seed: int
    groups: Groups
    replicates: int = 1

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-len(self.data) // BLOCK)

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward."""
        return len(self.data)

    def block(self, number: int, *, whole: bool = False) -> Block:
        """Return the transitions of one block."""
        index = np.arange(number * BLOCK, min((number + 1) * BLOCK, len(self.data)))
        return Block(number, index, (own_rewards(rows_of(self.data, index)),))

    def offset(self) -> None:
        """Return None: no constant is left out of raw rewards."""
        return

    def centre_groups(self, number: int) -> None:
        """Return None: raw rewards are centred on the mean of everything."""
        return
