"""What a policy sees."""

from typing import Any

from dard.core import arrays
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.state import (
    GOAL,
    POSITIONS,
    STATE_SIZE,
    VELOCITIES,
    goal_offset,
)

OBSERVATION_SIZE = STATE_SIZE + 2


def observation(state: Any) -> Any:
    """Return the state with positions and goal within ±1, and the scaled way to the goal.

    Velocities are in units of the initial speed, so that most lie within ±1 as well.

    Returns
    -------
    array, shape (n, 28)
    """
    wall = CONSTANTS.arena / 2
    parts = [
        state[..., POSITIONS] / wall,
        state[..., VELOCITIES] / CONSTANTS.initial_speed,
        state[..., GOAL] / wall,
        goal_offset(state) / wall,
    ]
    return arrays.namespace(state).concat(parts, axis=-1)
