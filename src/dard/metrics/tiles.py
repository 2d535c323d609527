"""Evaluate a term's grid of queries tile by tile, and sum over its inner axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import BoundReward, out_of_memory, too_little_memory
from dard.core.errors import DeviceMemoryError, RewardError
from dard.core.placement import Placement, is_compiled, read_only
from dard.metrics.plan import TILE_ROWS, Term

HOST = Placement("numpy")
SMALLEST_TILE = 256


class TermSums:
    """Sums of a term's values over its inner axis, for each reward.

    Attributes
    ----------
    total : array, shape (rewards, outer)
    square : array, shape (rewards,)
        Sum of squared values.
    precision : array, shape (rewards,)
        Unit round-off of the values' dtype.
    current : int
        The reward that was being evaluated, for messages.
    """

    def __init__(self, term: Term, rewards: Sequence[BoundReward]) -> None:
        self.term, self.rewards = term, rewards
        self.total = np.zeros((len(rewards), term.outer))
        self.square = np.zeros(len(rewards))
        self.precision = np.zeros(len(rewards))
        self.current = 0

    def evaluate(self) -> None:
        """Fill the sums.

        Queries are expanded once for all rewards that take them from the same place.
        """
        places = [self._workplace(reward.placement) for reward in self.rewards]
        for place, most in dict.fromkeys(places):
            here = [k for k, other in enumerate(places) if other == (place, most)]
            rows = most
            while not self._fits(place, here, rows):
                rows //= 4
                self.total[here], self.square[here] = 0.0, 0.0

    def _workplace(self, placement: Placement) -> tuple[Placement, int]:
        """Return where queries for a placement are expanded, and how many at once.

        On the host in NumPy, whatever library the reward is in; on a device there, so that only
        the small arrays behind the queries travel. JAX would compile every operation for every
        shape, and is sent expanded queries when the data is on the host.
        """
        if placement.on_host:
            return HOST, TILE_ROWS["host"]
        far = placement.library == "jax" and arrays.library_of(self.term.state.values) == "numpy"
        return HOST if far else placement, TILE_ROWS["device"]

    def _fits(self, place: Placement, here: Sequence[int], rows: int) -> bool:
        """Evaluate in tiles of `rows`, unless the device's memory runs out."""
        term = self.term
        try:
            parts = [x.placed(place) for x in (term.state, term.action, term.next_state)]
            running: list[_Called] = []
            for outer, inner in term.tiles(rows):
                tile = [part.expand(outer, inner) for part in parts]
                started = self._call(tile, outer, here)
                # JAX and GPUs compute in the background: while they are at this tile, the one
                # before is summed and the next is laid out.
                self._add(running)
                running = started
            self._add(running)
        except Exception as error:
            if not out_of_memory(error):
                raise
            if rows // 4 >= SMALLEST_TILE:
                return False
            name = self.rewards[self.current].name
            raise DeviceMemoryError(too_little_memory(name, rows)) from error
        return True

    def _call(self, tile: Sequence[Any], outer: slice, here: Sequence[int]) -> "list[_Called]":
        """Call the rewards numbered `here` on a tile."""
        filled = int(tile[0].shape[0])
        on_host = arrays.library_of(tile[0]) == "numpy"
        placed: dict[tuple[Placement, bool], list[Any]] = {}
        called = []
        for k in here:
            self.current = k
            reward = self.rewards[k]
            # Compiled functions convert NumPy arrays themselves, twice as fast as JAX does outside.
            place = HOST if on_host and is_compiled(reward.function) else reward.placement
            pads = reward.placement.library == "jax"
            inputs = placed.get((place, pads))
            if inputs is None:
                moved = (place.put(x) for x in tile)
                inputs = [read_only(_padded(x) if pads else x) for x in moved]
                placed[place, pads] = inputs
            called.append(_Called(k, reward(*inputs), filled, outer, tile))
        return called

    def _add(self, called: "Sequence[_Called]") -> None:
        """Add the values of a tile, which may still have to be waited for."""
        for call in called:
            k = self.current = call.reward
            values = call.values
            if values.shape[0] != call.filled:
                values = values[: call.filled]
            sums, square = _reduced(values, call.outer.stop - call.outer.start)
            if not np.isfinite(square):
                _refuse(values, call.tile, self.rewards[k].name)
            self.total[k, call.outer] += sums
            self.square[k] += square
            self.precision[k] = max(self.precision[k], arrays.precision(values))


@dataclass(frozen=True)
class _Called:
    """Values of one reward on one tile; padding stands behind the first `filled`."""

    reward: int
    values: Any
    filled: int
    outer: slice
    tile: Sequence[Any]


def _reduced(values: Any, outer: int) -> tuple[np.ndarray, float]:
    """Return the sum over inner queries for each outer one, and the sum of squares.

    On the host sums run in float64; on a device in the widest type that it has, so that only one
    number for each outer position comes back.
    """
    if arrays.device_kind(values) == "cpu":
        host = arrays.to_numpy(values).astype(np.float64, copy=False)
        inner = len(host) // outer
        with np.errstate(over="ignore", invalid="ignore"):  # Refused by name where it happens.
            # As a matrix product, since NumPy's sum is slow along a short axis.
            return host.reshape((outer, inner)) @ np.ones(inner), float(host @ host)
    xp = arrays.namespace(values)
    if arrays.library_of(values) == "torch" and values.device.type != "mps":
        values = xp.astype(values, xp.float64)
    sums = xp.sum(xp.reshape(values, (outer, -1)), axis=1)
    return arrays.to_numpy(sums).astype(np.float64), float(xp.sum(values * values))


def _padded(array: Any) -> Any:
    """Repeat the first row up to a power of two rows: JAX compiles a reward for every shape."""
    rows = int(array.shape[0])
    missing = 2 ** (rows - 1).bit_length() - rows
    if not missing:
        return array
    xp = arrays.namespace(array)
    return xp.concat([array, xp.broadcast_to(array[:1], (missing, *array.shape[1:]))])


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
