"""What a state holds, and where.

A state is a row of 26 numbers: the positions of the six balls, their velocities in the same order,
and the place of the goal. The agent is ball 0. Coordinates run from -30 to 30.

============  =======================================
columns       what
============  =======================================
0, 1          position of the agent
2 to 11       positions of the other balls
12, 13        velocity of the agent
14 to 23      velocities of the other balls
24, 25        the goal
============  =======================================
"""

from typing import Any

from dard.core import arrays
from dard.envs.bouncing_balls.constants import CONSTANTS

BALLS = CONSTANTS.other_balls + 1
POSITIONS = slice(0, 2 * BALLS)
VELOCITIES = slice(2 * BALLS, 4 * BALLS)
GOAL = slice(4 * BALLS, 4 * BALLS + 2)
STATE_SIZE = GOAL.stop

AGENT_POSITION = slice(0, 2)
OTHER_POSITIONS = slice(2, 2 * BALLS)
AGENT_VELOCITY = slice(2 * BALLS, 2 * BALLS + 2)


def positions(state: Any) -> Any:
    """Return the positions of all balls, the agent first, shape (..., 6, 2)."""
    return _pairs(state[..., POSITIONS])


def velocities(state: Any) -> Any:
    """Return the velocities of all balls, the agent first, shape (..., 6, 2)."""
    return _pairs(state[..., VELOCITIES])


def goal(state: Any) -> Any:
    """Return the place of the goal, shape (..., 2)."""
    return state[..., GOAL]


def goal_offset(state: Any) -> Any:
    """Return the way from the agent to the goal, shape (..., 2)."""
    return goal(state) - state[..., AGENT_POSITION]


def goal_distance(state: Any) -> Any:
    """Return the distance of the agent to the goal, shape (...,)."""
    offset = goal_offset(state)
    return arrays.namespace(offset).hypot(offset[..., 0], offset[..., 1])


def at_goal(state: Any) -> Any:
    """Return whether the agent is at its goal, shape (...,)."""
    return goal_distance(state) < CONSTANTS.goal_radius


def _pairs(flat: Any) -> Any:
    return arrays.namespace(flat).reshape(flat, (*flat.shape[:-1], BALLS, 2))
