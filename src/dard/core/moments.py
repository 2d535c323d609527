"""Mergeable moments of canonical rewards, kept so that groups can be left out for the jackknife.

Two ways to centre, one interface: :class:`GroupMoments` centres on the mean of everything,
:class:`BlockMoments` on the mean of each randomly drawn block. Both merge exactly, so blocks can
be evaluated anywhere; both return the total and the leave-one-out :class:`Comoments`.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from dard.core.comoments import Comoments, Pairs, Rescaling, columns, products


class Moments(Protocol):
    """What an estimate needs of accumulated moments."""

    @property
    def scale(self) -> np.ndarray:
        """What each reward was divided by."""
        ...

    def merged(self, other: Self) -> Self:
        """Return the moments of both samples together."""
        ...

    def total(self) -> Comoments:
        """Return the comoments of the whole sample."""
        ...

    def leave_one_out(self) -> list[Comoments]:
        """Return, for each margin, the comoments of the sample without each of its groups."""
        ...


@dataclass(frozen=True)
class GroupMoments:
    """Counts, means and centred sums of products of each group of transitions."""

    pairs: Pairs
    scale: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    centred: Comoments

    @classmethod
    def of(
        cls, canonical: np.ndarray, groups: np.ndarray, count: int, scale: np.ndarray, pairs: Pairs
    ) -> "GroupMoments":
        """Return the moments of one block of canonical values (replicates, n, rewards)."""
        order, starts, present = runs(groups)
        values = columns(canonical[:, order], scale, pairs)
        sizes = np.diff(starts, append=values.shape[1])
        mean = np.add.reduceat(values, starts, axis=1) / sizes[:, None]
        values -= np.repeat(mean, sizes, axis=1)
        rows = products(values[0], values[-1], pairs, np.ones(values.shape[1]))
        sums = (np.add.reduceat(part, starts, axis=0) for part in rows.parts)
        spread = [_spread(part, present, count) for part in (sizes, mean.swapaxes(0, 1), *sums)]
        return cls(pairs, scale, spread[0], spread[1], Comoments(*spread[2:]))

    def rescaled(self, scale: np.ndarray) -> "GroupMoments":
        """Return the same moments of rewards divided by `scale`."""
        change = Rescaling(self.scale, scale, self.pairs)
        moved = change.means(self.mean), self.centred.rescaled(change)
        return replace(self, scale=scale, mean=moved[0], centred=moved[1])

    def merged(self, other: "GroupMoments") -> "GroupMoments":
        """Merge group by group (Chan's formula), on the larger scales.

        On the smaller ones a block that hardly varies would decide how exact all others are.
        """
        scale = np.maximum(self.scale, other.scale)
        a, b = self.rescaled(scale), other.rescaled(scale)
        count = a.count + b.count
        share = b.count / np.maximum(count, 1)
        step = b.mean - a.mean
        mean = a.mean + share[:, None, None] * step
        weight = (a.count * share)[:, None]
        between = products(weight * step[:, 0], step[:, -1], self.pairs, np.zeros(len(count)))
        return replace(a, count=count, mean=mean, centred=a.centred + b.centred + between)

    def _about_the_mean(self) -> tuple[np.ndarray, Comoments]:
        """Return each group's sum and sums of products about the mean of everything."""
        grand = (self.count[:, None, None] * self.mean).sum(axis=0) / self.count.sum()
        offset = self.mean - grand
        first = self.count[:, None, None] * offset
        between = products(first[:, 0], offset[:, -1], self.pairs, np.zeros(len(self.count)))
        return first, self.centred + between

    def total(self) -> Comoments:
        """Return the comoments of the whole sample, with n - 1 degrees of freedom."""
        return replace(self._about_the_mean()[1].total(), freedom=self.count.sum() - 1.0)

    def leave_one_out(self) -> list[Comoments]:
        """Return the comoments without each non-empty group: one margin."""
        first, about = self._about_the_mean()
        present = np.flatnonzero(self.count)
        rest = np.maximum(self.count.sum() - self.count, 1)
        shift = products(first[:, 0] / rest[:, None], first[:, -1], self.pairs, 0.0)
        without = about.total() - about - shift
        return [Comoments(rest[present] - 1.0, *(p[present] for p in without.parts[1:]))]


@dataclass(frozen=True)
class BlockMoments:
    """Sums of products centred within random blocks, and what each group contributes to them.

    Blocks are random subsets that share inner draws (paired EPIC): centring within a block
    removes what its draws add to all of its transitions, and with it the only place where shaping
    would not cancel.
    """

    pairs: Pairs
    scale: np.ndarray
    of_blocks: Comoments
    of_episodes: Comoments

    @classmethod
    def of(
        cls,
        canonical: np.ndarray,
        blocks: np.ndarray,
        groups: np.ndarray,
        margins: tuple[np.ndarray, int, int],
        scale: np.ndarray,
        pairs: Pairs,
    ) -> "BlockMoments":
        """Return the moments of a run of blocks.

        Parameters
        ----------
        canonical : array, shape (replicates, n, rewards)
        blocks : array, shape (n,)
            Block number of each transition, counted from 0 within this run, in order.
        groups : array, shape (n,)
            Episode group of each transition.
        margins
            Group number of each block of the run, how many there are, and how many groups of
            episodes there are.
        """
        block_group, block_groups, episode_groups = margins
        order = np.lexsort((groups, blocks))
        blocks, groups = blocks[order], groups[order]
        values = columns(canonical[:, order], scale, pairs)
        _, starts, _ = runs(blocks)
        sizes = np.diff(starts, append=len(blocks))
        values -= np.repeat(np.add.reduceat(values, starts, axis=1) / sizes[:, None], sizes, axis=1)
        rows = products(values[0], values[-1], pairs, np.ones(len(blocks)))

        whole = Comoments(*(np.add.reduceat(part, starts, axis=0) for part in rows.parts))
        whole = replace(whole, freedom=sizes - 1.0)

        _, cells, _ = runs(blocks * episode_groups + groups)
        cell_block = blocks[cells]
        cell = Comoments(*(np.add.reduceat(part, cells, axis=0) for part in rows.parts))
        sums = np.add.reduceat(values, cells, axis=1)
        rest = sizes[cell_block] - cell.freedom
        shift = products(sums[0] / np.maximum(rest, 1)[:, None], sums[-1], pairs, 0.0)
        # A block that loses all of its transitions loses size - 1 degrees of freedom, not size.
        lost = replace(cell + shift, freedom=np.where(rest == 0, cell.freedom - 1, cell.freedom))
        return cls(
            pairs,
            scale,
            _summed(whole, block_group, block_groups),
            _summed(lost, groups[cells], episode_groups),
        )

    def merged(self, other: "BlockMoments") -> "BlockMoments":
        """Add the sums of other blocks, on the larger scales."""
        scale = np.maximum(self.scale, other.scale)
        here, there = (Rescaling(side.scale, scale, self.pairs) for side in (self, other))
        return replace(
            self,
            scale=scale,
            of_blocks=self.of_blocks.rescaled(here) + other.of_blocks.rescaled(there),
            of_episodes=self.of_episodes.rescaled(here) + other.of_episodes.rescaled(there),
        )

    def total(self) -> Comoments:
        """Return the comoments of all blocks."""
        return self.of_blocks.total()

    def leave_one_out(self) -> list[Comoments]:
        """Return the comoments without each group of blocks, and without each of episodes."""
        total = self.total()
        margins = (self.of_blocks, self.of_episodes)
        present = [np.flatnonzero(margin.freedom > 0) for margin in margins]
        return [
            total - Comoments(*(part[keep] for part in margin.parts))
            for margin, keep in zip(margins, present, strict=True)
        ]


def runs(labels: np.ndarray) -> tuple[np.ndarray | slice, np.ndarray, np.ndarray]:
    """Return an order that sorts `labels`, where each run of equal ones starts, and its label."""
    order: np.ndarray | slice = slice(None)
    if (labels[1:] < labels[:-1]).any():
        order = np.argsort(labels, kind="stable")
    labels = labels[order]
    starts = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    return order, starts, labels[starts]


def _spread(values: np.ndarray, place: np.ndarray, count: int) -> np.ndarray:
    full = np.zeros((count, *values.shape[1:]))
    full[place] = values
    return full


def _summed(values: Comoments, group: np.ndarray, count: int) -> Comoments:
    """Add rows that belong to the same group."""
    order, starts, present = runs(group)
    sums = (np.add.reduceat(part[order], starts, axis=0) for part in values.parts)
    return Comoments(*(_spread(part, present, count) for part in sums))
