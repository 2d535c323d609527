"""Notices data that was recorded across an automatic reset of the environment."""

import math
import warnings
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import DataWarning
from dard.core.groups import run_starts
from dard.core.transitions import Transitions

_BOUNDARIES = 1_000
_STEPS = 4_000
_UNUSUAL = 0.95
_FAR = 1.5


def warn_about_autoreset(data: Transitions) -> None:
    """Warn when next states at episode ends are the first states of the next episodes.

    A vector environment that resets by itself returns the new episode's first observation where
    the old one's last is expected. Recorded naively, such transitions jump from the end of one
    episode to the start of another, which no action did. Two signs are needed, so that one
    continuing trajectory cut into pieces does not raise the alarm:

    - at half or more of the boundaries between consecutive episodes, the recorded next state
      equals the first state of the next episode;
    - there, or one row later (where Gymnasium's default puts the reset), the median step is 1.5
      times as large as 95 % of those inside episodes. A step is as large as its largest feature,
      each in units of its own 95 % quantile: large velocities hide no jump of an angle.

    Parameters
    ----------
    data : Transitions
        Rows of one episode next to each other. Without episode ids nothing can be said.

    Warns
    -----
    DataWarning
        What was seen, how often, and how to record it right.

    Notes
    -----
    At most 1,000 boundaries and 4,000 other rows are looked at, so 10 million memory-mapped
    transitions cost little more than a pass over the ids. Vector environments whose rows
    are interleaved are not noticed.
    """
    if data.episode is None or len(data) < 2:
        return
    ends = run_starts(data.episode)[1:] - 1
    ends = ends[np.linspace(0, ends.size - 1, min(ends.size, _BOUNDARIES)).astype(np.int64)]
    inside = _rows_inside_episodes(data.episode)
    if not ends.size or not inside.size:
        return
    continued = ends[_rows_equal(data[ends].next_state, data[ends + 1].state)]
    if 2 * continued.size < ends.size:
        return
    usual, *at_ends = (_steps(data, rows) for rows in (inside, continued, continued + 1))
    scale = _usual_step_of_each_feature(usual)
    limit = float(np.quantile(_sizes(usual, scale), _UNUSUAL))
    jump = max(float(np.median(_sizes(steps, scale))) for steps in at_ends)
    if jump > _FAR * limit:
        warnings.warn(_message(continued.size, ends.size, jump, limit), stacklevel=2)


def _rows_inside_episodes(episode: np.ndarray) -> np.ndarray:
    """Return random rows that are neither the first nor the last of their episode.

    Random, since a regular stride meets episodes of one length always at the same place.
    """
    rows = np.random.default_rng(0).integers(0, len(episode), _STEPS)
    rows = rows[(rows > 0) & (rows < len(episode) - 1)]
    here = episode[rows]
    return rows[(episode[rows - 1] == here) & (episode[rows + 1] == here)]


def _steps(data: Transitions, rows: np.ndarray) -> np.ndarray:
    part = data[rows]
    with np.errstate(invalid="ignore", over="ignore"):  # infinite states are others' to report
        return np.abs(_flat(part.next_state) - _flat(part.state))


def _usual_step_of_each_feature(steps: np.ndarray) -> np.ndarray:
    """Return the 95 % quantiles; of features that move more rarely than that, the maximum."""
    quantile = np.quantile(steps, _UNUSUAL, axis=0)
    return np.where(quantile > 0, quantile, steps.max(axis=0))


def _sizes(steps: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return each step's largest feature, infinite where one moved that otherwise never does."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where(steps == 0, 0.0, steps / scale)
    return ratios.max(axis=1, initial=0.0)


def _rows_equal(left: Any, right: Any) -> np.ndarray:
    return np.all(_flat(left) == _flat(right), axis=1)


def _flat(column: Any) -> np.ndarray:
    # float64 before subtracting: differences of unsigned integers wrap around.
    rows = arrays.to_numpy(column)
    return rows.reshape(len(rows), math.prod(rows.shape[1:])).astype(np.float64)


def _message(count: int, looked_at: int, jump: float, limit: float) -> DataWarning:
    far = f"a jump {jump / limit:.1f} times" if limit > 0 and jump < math.inf else "a jump unlike"
    return DataWarning(
        f"at {count} of {looked_at} episode ends looked at, next_state equals the first state of "
        f"the next episode, with {far} the large steps inside episodes: the data was recorded "
        "across automatic resets. Record the true last observation as next_state: with "
        "Gymnasium's AutoresetMode.SAME_STEP take it from info['final_obs'] "
        "(info['final_observation'] before 1.0); with NEXT_STEP, its default, drop the row after "
        "each end of an episode, in which the action was ignored"
    )
