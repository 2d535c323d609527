"""What the engines of collection share: tasks, single steps, and what becomes of episodes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dard.core.errors import DataError, TransitionModelError
from dard.core.models import BoundModel
from dard.core.transitions import Transitions
from dard.data.simulated import Simulated

SHARD_TRANSITIONS = 1 << 17
"""What a shard has where no episode ends early; compiled code and its memory have this size."""


@dataclass(frozen=True)
class Task:
    """Which episodes to make: an environment, a policy (None draws uniformly) and a seed."""

    environment: Simulated
    policy: BoundModel | None
    seed: int

    @property
    def episodes(self) -> int:
        """Number of episodes in a shard."""
        return max(1, SHARD_TRANSITIONS // self.environment.horizon)

    @property
    def action_size(self) -> int:
        """Number of action dimensions."""
        return len(self.environment.action_low)

    @property
    def action_draws(self) -> int:
        """Uniform numbers that acting takes in a step."""
        return self.action_size if self.policy is None else 0


class Draws(NamedTuple):
    """Random numbers of episodes; those of steps have the time on the first or second axis."""

    reset_uniform: Any
    reset_normal: Any
    uniform: Any
    normal: Any
    action: Any


class Episodes(NamedTuple):
    """What happened in a batch of episodes.

    Attributes
    ----------
    states : float32, shape (n, horizon + 1, state size)
    actions : float32, shape (n, horizon, action size)
    kept : bool, shape (n, horizon)
        False after the step that ended an episode early.
    """

    states: np.ndarray
    actions: np.ndarray
    kept: np.ndarray


Rollout = Callable[[int], Episodes]
"""Makes the shard whose first episode has this number."""

Prepared = Callable[[], Rollout]
"""Does what takes long before the first shard, such as compiling."""


def step(
    xp: Any, environment: Simulated, state: Any, ended: Any, action: Any, draws: tuple[Any, Any]
) -> tuple[Any, Any, Any]:
    """Return next states, the actions as they were executed, and which episodes have ended."""
    low, high = (
        xp.asarray(bound, dtype=xp.float32)
        for bound in (environment.action_low, environment.action_high)
    )
    action = xp.clip(xp.astype(action, xp.float32), low, high)
    following = xp.astype(environment.transition(state, action, *draws), xp.float32)
    # An episode that is over stands still: what is dropped later cannot overflow.
    following = xp.where(ended[:, None], state, following)
    return following, action, ended | environment.terminated(following)


def uniform_action(xp: Any, environment: Simulated, uniform: Any) -> Any:
    """Return actions between the bounds from numbers in [0, 1)."""
    low = xp.asarray(environment.action_low, dtype=xp.float32)
    high = xp.asarray(environment.action_high, dtype=xp.float32)
    return low + (high - low) * uniform


def check_shape(action: Any, rows: int, size: int) -> Any:
    """Return the actions of a policy if there is one row for each state."""
    if tuple(action.shape) != (rows, size):
        raise TransitionModelError(
            f"policy returned shape {tuple(action.shape)} for {rows} states; expected "
            f"({rows}, {size}): policies are called on whole batches"
        )
    return action


def transitions_of(made: Episodes, first: int) -> Transitions:
    """Return the transitions of episodes that are numbered from `first`."""
    _check_finite(made, first)
    numbers = np.arange(first, first + len(made.kept))
    return Transitions(
        _rows(made.states[:, :-1], made.kept),
        _rows(made.actions, made.kept),
        _rows(made.states[:, 1:], made.kept),
        episode=np.repeat(numbers, made.kept.sum(axis=1)),
    )


def _rows(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    # Most environments end no episode early, and a copy is faster than a selection.
    return values.reshape(-1, values.shape[-1]) if kept.all() else values[kept]


def _check_finite(made: Episodes, first: int) -> None:
    """Refuse NaN at the earliest step that has one, where its cause is."""
    actions, states = (
        np.where(made.kept & ~np.isfinite(values).all(axis=-1), 1, 0)
        for values in (made.actions, made.states[:, 1:])
    )
    wrong = np.argwhere((actions | states).T)
    if not len(wrong):
        return
    t, row = map(int, wrong[0])
    where = f"in step {t} of episode {first + row}"
    if actions[row, t]:
        raise TransitionModelError(f"policy returned NaN {where}: expected finite actions")
    raise DataError(f"the environment's transition is not finite {where}: check its constants")
