"""A random permutation of 0..n-1 that needs no memory and can be read at any position."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dard.core.random import stream

_ROUNDS = 6


@dataclass(frozen=True)
class KeyedPermutation:
    """A permutation of ``range(size)`` determined by `seed`.

    Notes
    -----
    A Feistel network permutes the smallest even-bit power of two above `size`; positions that
    land outside are sent through again until they are inside (cycle walking, fewer than four
    passes on average). A worker that needs one block of the permutation computes that block alone.
    """

    size: int
    seed: int

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Return the items at `position` (integers below `size`)."""
        item = np.asarray(position, np.uint64)
        item = self._network(item)
        while (outside := np.flatnonzero(item >= np.uint64(self.size))).size:
            item[outside] = self._network(item[outside])
        return item.astype(np.int64)

    @cached_property
    def _keys(self) -> np.ndarray:
        return stream(self.seed, "permutation").integers(0, 2**64, _ROUNDS, np.uint64)

    def _network(self, item: np.ndarray) -> np.ndarray:
        half = max(1, ((self.size - 1).bit_length() + 1) // 2)
        shift, mask = np.uint64(half), np.uint64(2**half - 1)
        left, right = item >> shift, item & mask
        for key in self._keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        return (left << shift) | right


def _mixed(word: np.ndarray) -> np.ndarray:
    """Return the SplitMix64 finaliser of `word`: every input bit moves every output bit."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
