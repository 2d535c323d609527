"""Random numbers for copies of an environment that step together."""

import numpy as np

from dard.core.random import stream
from dard.envs.environment import Draws

_MOST_STEPS = 64
_MOST_ROWS = 1 << 16


class Streams:
    """The random numbers of one function of an environment, for `count` copies of it.

    Copy i draws from streams of its own, keyed by (seed, i): what it draws does not depend on how
    many copies there are, nor on what happens in the others.

    Parameters
    ----------
    draws : Draws
        What the function consumes each time.
    seed : int
    count : int
    purpose : str
        Names the function, so that no two draw the same.
    """

    def __init__(self, draws: Draws, seed: int, count: int, purpose: str) -> None:
        uniform = [
            stream(seed, f"{purpose}, uniform", i) for i in range(count * (draws.uniform > 0))
        ]
        normal = [stream(seed, f"{purpose}, normal", i) for i in range(count * (draws.normal > 0))]
        self._uniform, self._normal = uniform, normal
        self._draws, self._count = draws, count
        # Drawn ahead, since drawing few numbers at a time costs more than stepping does. How far
        # ahead changes no number: each stream serves a single kind of numbers.
        self._ahead = max(1, min(_MOST_STEPS, _MOST_ROWS // count))
        self._blocks = np.empty((0, count, draws.uniform)), np.empty((0, count, draws.normal))
        self._next = 0

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the next (uniform, normal) numbers of all copies: a row for each."""
        if self._next == len(self._blocks[0]):
            self._blocks, self._next = self._block(), 0
        uniform, normal = (block[self._next] for block in self._blocks)
        self._next += 1
        return uniform, normal

    def only(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the next numbers of some copies; never mixed with `everywhere`."""
        uniform = np.empty((len(rows), self._draws.uniform))
        normal = np.empty((len(rows), self._draws.normal))
        for k, row in enumerate(rows):
            if self._uniform:
                self._uniform[row].random(out=uniform[k])
            if self._normal:
                self._normal[row].standard_normal(out=normal[k])
        return uniform, normal

    def _block(self) -> tuple[np.ndarray, np.ndarray]:
        ahead, count = self._ahead, self._count
        uniform = np.empty((ahead, count, self._draws.uniform))
        normal = np.empty((ahead, count, self._draws.normal))
        for i, generator in enumerate(self._uniform):
            uniform[:, i] = generator.random(uniform.shape[::2])
        for i, generator in enumerate(self._normal):
            normal[:, i] = generator.standard_normal(normal.shape[::2])
        return uniform, normal
