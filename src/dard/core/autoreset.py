"""Notices data that was recorded across an automatic reset of the environment."""

import math
import warnings
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import DataWarning
from dard.core.transitions import Transitions

_BOUNDARIES = 1_000
_STEPS = 4_000
_FAR = 5.0


def warn_about_autoreset(data: Transitions) -> None:
    """Warn when next states at episode ends are the first states of the next episodes.

    A vector environment that resets by itself returns the new episode's first observation where
    the old one's last is expected. Recorded naively, such transitions jump from the end of one
    episode to the start of another, which no action did. Two signs are needed, so that one
    continuing trajectory cut into pieces does not raise the alarm: at half or more of the
    boundaries between consecutive episodes, the recorded next state equals the first state of
    the next episode; and there, or one row later (where Gymnasium's default puts the reset), the
    median jump ``|next_state - state|`` exceeds 5 times the 95 % quantile of those inside
    episodes.

    Parameters
    ----------
    data : Transitions
        Rows of one episode next to each other. Without episode ids nothing can be said.

    Notes
    -----
    At most 1,000 boundaries and 4,000 other rows are looked at, so 10 million memory-mapped
    transitions cost little more than a pass over the ids. Vector environments whose rows
    are interleaved are not noticed.

    Warns
    -----
    DataWarning
        What was seen, how often, and how to record it right.
    """
    if data.episode is None or len(data) < 2:
        return
    ends = np.flatnonzero(data.episode[1:] != data.episode[:-1])
    sampled = ends[np.linspace(0, ends.size - 1, min(ends.size, _BOUNDARIES)).astype(np.int64)]
    usual = _jumps(data, _rows_inside_episodes(data.episode))
    if not sampled.size or not usual.size:
        return
    continued = sampled[_rows_equal(data[sampled].next_state, data[sampled + 1].state)]
    if 2 * continued.size < sampled.size:
        return
    jump = max(float(np.median(_jumps(data, continued + later))) for later in (0, 1))
    threshold = _FAR * float(np.quantile(usual, 0.95))
    if jump > threshold:
        warnings.warn(_message(continued.size, sampled.size, jump, threshold), stacklevel=2)


def _rows_inside_episodes(episode: np.ndarray) -> np.ndarray:
    """Return random rows that are neither the first nor the last of their episode.

    Random, since a regular stride meets episodes of one length always at the same place.
    """
    rows = np.random.default_rng(0).integers(0, len(episode), _STEPS)
    rows = rows[(rows > 0) & (rows < len(episode) - 1)]
    here = episode[rows]
    return rows[(episode[rows - 1] == here) & (episode[rows + 1] == here)]


def _jumps(data: Transitions, rows: np.ndarray) -> np.ndarray:
    part = data[rows]
    step = _flat(part.next_state) - _flat(part.state)
    return np.sqrt(np.sum(step * step, axis=1))


def _rows_equal(left: Any, right: Any) -> np.ndarray:
    return np.all(_flat(left) == _flat(right), axis=1)


def _flat(column: Any) -> np.ndarray:
    # float64 before subtracting: differences of unsigned integers wrap around.
    rows = arrays.to_numpy(column)
    return rows.reshape(len(rows), math.prod(rows.shape[1:])).astype(np.float64)


def _message(count: int, sampled: int, jump: float, threshold: float) -> DataWarning:
    times = f"{_FAR * jump / threshold:.0f} times" if threshold > 0 else "unlike"
    return DataWarning(
        f"at {count} of {sampled} episode ends looked at, next_state equals the first state of "
        f"the next episode, a jump {times} the usual steps: the data was recorded across "
        "automatic resets. Record the true last observation as next_state: with Gymnasium's "
        "AutoresetMode.SAME_STEP take it from info['final_obs'] (info['final_observation'] "
        "before 1.0); with NEXT_STEP, its default, drop the row after each end of an episode, "
        "in which the action was ignored"
    )
