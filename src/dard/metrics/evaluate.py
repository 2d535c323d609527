"""Evaluate the queries of a block with every reward, tile by tile, into canonical rewards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import BoundReward, failure
from dard.core.errors import DardError, DeviceMemoryError, RewardError
from dard.core.placement import Placement
from dard.metrics.plan import TILE_ROWS, Block, Term

SMALLEST_TILE = 256


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
        sums = _TermSums(term, count)
        for placement in dict.fromkeys(reward.placement for reward in rewards):
            here = [k for k, reward in enumerate(rewards) if reward.placement == placement]
            try:
                sums.evaluate(placement, rewards, here)
            except DardError:
                raise
            except Exception as error:
                culprit = rewards[sums.current]
                place = f"reward {culprit.name!r} raised in block {block.number}"
                raise RewardError(failure(place, error)) from error
        means = sums.total / term.per
        square += term.size**2 * sums.square / term.queries
        precision = np.maximum(precision, sums.precision)
        for k in range(count):
            for use in term.uses:
                canonical[:, :, k] += use.of(means[k], n)
        if term.queries == n and position == 0:
            raw[:] = means.T
    return Values(canonical, raw, square, precision)


class _TermSums:
    """Sums over a term's inner axis, for each reward, filled tile by tile."""

    def __init__(self, term: Term, rewards: int) -> None:
        self.term = term
        self.total = np.zeros((rewards, term.outer))
        self.square = np.zeros(rewards)
        self.precision = np.zeros(rewards)
        self.current = 0

    def evaluate(
        self, placement: Placement, rewards: Sequence[BoundReward], here: Sequence[int]
    ) -> None:
        """Fill the sums of the rewards numbered `here`, which share a placement."""
        term = self.term
        parts = [x.placed(placement) for x in (term.state, term.action, term.next_state)]
        rows = TILE_ROWS.get(arrays.device_kind(parts[0].values), TILE_ROWS["cpu"])
        while True:
            try:
                for outer, inner in term.tiles(rows):
                    tile = [part.expand(outer, inner) for part in parts]
                    self._evaluate_tile(tile, outer, rewards, here, rows)
                return
            except Exception as error:
                if not _out_of_memory(error):
                    raise
                if rows // 4 < SMALLEST_TILE:
                    raise DeviceMemoryError(
                        f"reward {rewards[self.current].name!r} ran out of memory with {rows} "
                        "transitions at a time: free memory, or move it to another device"
                    ) from error
                rows //= 4
                self.total[here], self.square[here] = 0.0, 0.0

    def _evaluate_tile(
        self,
        tile: Sequence[Any],
        outer: slice,
        rewards: Sequence[BoundReward],
        here: Sequence[int],
        rows: int,
    ) -> None:
        filled = int(tile[0].shape[0])
        if arrays.library_of(tile[0]) == "jax" and filled < rows and self.term.queries > rows:
            tile = [_padded(x, rows) for x in tile]
        for k in here:
            self.current = k
            values = rewards[k](*tile)[:filled]
            sums, square = _reduced(values, outer.stop - outer.start)
            if not np.isfinite(square):
                _refuse(values, tile, rewards[k].name)
            self.total[k, outer] += sums
            self.square[k] += square
            self.precision[k] = max(self.precision[k], arrays.precision(values))


def _reduced(values: Any, outer: int) -> tuple[np.ndarray, float]:
    """Return the sum over inner queries for each outer one, and the sum of squares.

    On the host sums run in float64; on a device in the widest type that it has, so that only one
    number for each outer position comes back.
    """
    if arrays.device_kind(values) == "cpu":
        host = arrays.to_numpy(values).astype(np.float64, copy=False)
        return host.reshape((outer, -1)).sum(axis=1), float(host @ host)
    xp = arrays.namespace(values)
    if arrays.library_of(values) == "torch" and values.device.type != "mps":
        values = xp.astype(values, xp.float64)
    sums = xp.sum(xp.reshape(values, (outer, -1)), axis=1)
    return arrays.to_numpy(sums).astype(np.float64), float(xp.sum(values * values))


def _padded(array: Any, rows: int) -> Any:
    """Repeat the first row up to `rows`, so that JAX compiles one shape."""
    xp = arrays.namespace(array)
    filler = xp.broadcast_to(array[:1], (rows - array.shape[0], *array.shape[1:]))
    return xp.concat([array, filler])


def _refuse(values: Any, tile: Sequence[Any], name: str) -> None:
    host = arrays.to_numpy(values).astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(host))
    if not len(bad):
        raise RewardError(
            f"reward {name!r} is as large as {np.abs(host).max():.3g}: its squares overflow; "
            "scale it down (distances do not depend on scale)"
        )
    row = int(bad[0])
    with np.printoptions(precision=4, threshold=12, linewidth=10_000):
        where = ", ".join(
            f"{label}={arrays.to_numpy(part[row])}"
            for label, part in zip(("state", "action", "next_state"), tile, strict=True)
        )
    raise RewardError(
        f"reward {name!r} returned {host[row]} for {len(bad)} of {len(host)} transitions; "
        f"the first: {where}"
    )


def _out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return "out of memory" in text.lower() or "RESOURCE_EXHAUSTED" in text
