"""Run a plan: evaluate its blocks, in any number of threads, and merge their moments in order."""

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dard.core.callables import BoundReward
from dard.core.comoments import Pairs
from dard.core.moments import BlockMoments, GroupMoments, Moments, runs
from dard.metrics.evaluate import Values, evaluate
from dard.metrics.plan import Block, Plan

MOST_ENTRIES = 2**22
"""Numbers held at once for the scaled rewards and differences of a block."""
SMALLEST_SCALE = 1e-300
WORTH_OF_ROUNDING = 2.0**-26
"""Below this, relative to the terms that were summed, a deviation may be mostly rounding."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Reduced:
    """What a plan's blocks add up to.

    Attributes
    ----------
    moments : GroupMoments or BlockMoments
        Of the canonical rewards.
    raw : GroupMoments
        Of the raw rewards, in one group: their variance is compared with the canonical one.
    square : array, shape (rewards,)
        Sum over transitions of the mean square of the summed terms.
    precision : array, shape (rewards,)
    queries : int
        Evaluations of each reward.
    """

    moments: Moments
    raw: GroupMoments
    square: np.ndarray
    precision: np.ndarray
    queries: int

    def merged(self, other: "Reduced") -> "Reduced":
        """Return the sums of both."""
        return Reduced(
            self.moments.merged(other.moments),
            self.raw.merged(other.raw),
            self.square + other.square,
            np.maximum(self.precision, other.precision),
            self.queries + other.queries,
        )


def reduce_plan(
    plan: Plan,
    rewards: Sequence[BoundReward],
    pairs: Pairs,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> Reduced:
    """Return the merged moments of all blocks.

    Blocks are independent and merged in the order of their numbers, so that the result has the
    same bits for any number of workers.
    """
    total: Reduced | None = None

    def one(number: int) -> Reduced:
        return _reduce_block(plan, number, rewards, pairs)

    for done, part in enumerate(in_order(one, range(plan.blocks), workers), start=1):
        total = part if total is None else total.merged(part)
        if progress is not None:
            progress(done, plan.blocks)
    assert total is not None
    return total


def in_order(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item in order, a few items ahead in threads."""
    if workers == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        queue, remaining = deque[Future[Result]](), iter(items)
        try:
            for item in itertools.islice(remaining, 2 * workers):
                queue.append(pool.submit(function, item))
            while queue:
                result = queue.popleft().result()
                for item in itertools.islice(remaining, 1):
                    queue.append(pool.submit(function, item))
                yield result
        finally:
            for future in queue:
                future.cancel()


def _reduce_block(plan: Plan, number: int, rewards: Sequence[BoundReward], pairs: Pairs) -> Reduced:
    block = plan.block(number)
    values = evaluate(block, rewards, plan.replicates)
    n = len(block.index)
    nothing = Pairs(len(rewards), *np.zeros((2, 0), np.int64))
    one_group = np.zeros(n, np.int64)
    raw = GroupMoments.of(values.raw[None], one_group, 1, np.ones(len(rewards)), nothing)
    moments = _moments(plan, block, values, pairs)
    return Reduced(moments, raw, n * values.square, values.precision, block.queries)


def _moments(plan: Plan, block: Block, values: Values, pairs: Pairs) -> Moments:
    """Return the moments of a block, taken over few enough rows at a time for many pairs."""
    scale = _scale(values, block.centres)
    groups, count = plan.groups.labels(block.index), plan.groups.count
    margins = plan.centre_groups(block.number)

    def part(rows: slice) -> Moments:
        canonical = values.canonical[:, rows]
        if margins is None or block.centres is None:
            return GroupMoments.of(canonical, groups[rows], count, scale, pairs)
        centres = block.centres[rows]
        first, last = int(centres[0]), int(centres[-1])
        margin = (margins[0][first : last + 1], margins[1], count)
        return BlockMoments.of(canonical, centres - first, groups[rows], margin, scale, pairs)

    columns = pairs.rewards + len(pairs.first)
    parts = map(part, _slices(len(block.index), MOST_ENTRIES // columns, block.centres))
    return functools.reduce(lambda left, right: left.merged(right), parts)


def _slices(n: int, rows: int, centres: np.ndarray | None) -> list[slice]:
    """Cut `n` rows into slices of about `rows`, between sub-blocks."""
    starts = np.arange(n) if centres is None else runs(centres)[1]
    cuts = np.unique(starts[np.searchsorted(starts, np.arange(0, n, max(rows, 1)), "right") - 1])
    return [slice(int(a), int(b)) for a, b in itertools.pairwise([*cuts, n])]


def _scale(values: Values, centres: np.ndarray | None) -> np.ndarray:
    """Return each reward's standard deviation in the block, or the rounding where that is all.

    Deviations are from the means that moments are centred on: only then have rewards that are
    equal up to shaping scales of exactly the ratio of the rewards. A block in which a reward is
    constant (a sparse one, say) knows no such ratio: its scale is so small that merging drops it.
    """
    canonical = values.canonical
    starts = np.zeros(1, np.int64) if centres is None else runs(centres)[1]
    sizes = np.diff(starts, append=canonical.shape[1])
    means = np.add.reduceat(canonical, starts, axis=1) / sizes[:, None]
    centred = canonical - np.repeat(means, sizes, axis=1)
    deviation = np.sqrt((centred**2).mean(axis=(0, 1)))
    least = np.maximum(WORTH_OF_ROUNDING * np.sqrt(values.square), SMALLEST_SCALE)
    return np.maximum(deviation, least)
