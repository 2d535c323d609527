"""What a reward model sees."""

from typing import Any

from dard.core import arrays
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.state import (
    AGENT_VELOCITY,
    at_goal,
    goal_distance,
    goal_offset,
    positions,
)

FEATURE_SIZE = 15 + CONSTANTS.other_balls


def features(state: Any, action: Any, next_state: Any) -> Any:
    """Return the inputs of reward models, not yet normalised.

    In this order: the distance of the agent to the goal in ``s``, in ``s'``, and the first less
    the second; whether the goal is reached in ``s``, and in ``s'``; the squared distance between
    the two positions of each other ball (5); the way to the goal in ``s`` (2) and in ``s'`` (2);
    the agent's velocity in ``s`` (2) and in ``s'`` (2); the action (2).

    The squared distances are the paper's own: they say nothing about the reward, and mislead a
    model about transitions that cannot happen, where they are far larger than any it was fitted
    on.

    Returns
    -------
    array, shape (n, 20)
    """
    xp = arrays.namespace(state)
    before, after = goal_distance(state), goal_distance(next_state)
    reached = [xp.astype(at_goal(s), state.dtype) for s in (state, next_state)]
    scalars = xp.stack([before, after, before - after, *reached], axis=-1)
    squares = (positions(next_state) - positions(state))[..., 1:, :] ** 2
    parts = [
        scalars,
        squares[..., 0] + squares[..., 1],
        goal_offset(state),
        goal_offset(next_state),
        state[..., AGENT_VELOCITY],
        next_state[..., AGENT_VELOCITY],
        action,
    ]
    return xp.concat(parts, axis=-1)
