"""Which transitions stand or fall together in the jackknife."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dard.core.transitions import Transitions

MOST_EPISODE_GROUPS = 128
MOST_BLOCK_GROUPS = 64
FEWEST_EPISODES = 10
STRETCH = 2**18


@dataclass(frozen=True)
class Groups:
    """A partition of the transitions into groups that are taken as independent.

    Attributes
    ----------
    count : int
        Number of groups, numbered from 0.
    kind : {"episodes", "blocks"}
        Whether the groups are whole episodes or stretches of consecutive transitions.
    episodes : int or None
        Number of episodes, where ids were given.
    """

    count: int
    kind: Literal["episodes", "blocks"]
    episodes: int | None
    _starts: np.ndarray | None = None
    _labels: np.ndarray | None = None

    def labels(self, index: np.ndarray) -> np.ndarray:
        """Return the group number of each transition in `index`."""
        if self._labels is not None:
            return self._labels[index]
        assert self._starts is not None
        return np.searchsorted(self._starts, index, side="right") - 1


def jackknife_groups(data: Transitions) -> Groups:
    """Group transitions by whole episodes, or by blocks where fewer than 10 are known.

    Episodes are joined into at most 128 groups of about equal size; without episodes there are at
    most 64 blocks of consecutive transitions, which is right as long as dependence dies out
    within a block.
    """
    n = len(data)
    if data.episode is None:
        return _blocks(n, None)
    starts = run_starts(data.episode)
    episodes = len(np.unique(data.episode[starts]))
    if episodes < FEWEST_EPISODES:
        return _blocks(n, episodes)
    if episodes == len(starts):
        group = _balanced(starts, n, episodes)
        first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
        return Groups(len(first), "episodes", episodes, _starts=starts[first])
    _, inverse, counts = np.unique(data.episode, return_inverse=True, return_counts=True)
    group = _balanced(np.cumsum(counts) - counts, n, episodes)
    number = np.unique(group, return_inverse=True)[1]
    labels = number[inverse].astype(np.int32)
    return Groups(int(number.max()) + 1, "episodes", episodes, _labels=labels)


def run_starts(ids: np.ndarray) -> np.ndarray:
    """Return where each run of equal ids starts, a stretch at a time to keep memory constant."""
    starts = [np.zeros(1, np.int64)]
    for begin in range(0, len(ids) - 1, STRETCH):
        stretch = ids[begin : begin + STRETCH + 1]
        starts.append(begin + 1 + np.flatnonzero(stretch[1:] != stretch[:-1]))
    return np.concatenate(starts)


def _blocks(n: int, episodes: int | None) -> Groups:
    count = min(MOST_BLOCK_GROUPS, n)
    return Groups(count, "blocks", episodes, _starts=np.arange(count) * n // count)


def _balanced(first_transition: np.ndarray, n: int, episodes: int) -> np.ndarray:
    """Number the group of each episode so that groups hold about equally many transitions."""
    if episodes <= MOST_EPISODE_GROUPS:
        return np.arange(episodes)
    return first_transition * MOST_EPISODE_GROUPS // n
