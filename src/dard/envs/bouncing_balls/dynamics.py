"""How Bouncing Balls begins and moves.

A step takes the velocities first: each component changes by its acceleration times the time step,
and is clipped to the speed limit. Positions then move with the new velocities. A ball that would
leave the arena is reflected: its position is mirrored at the wall and that velocity component
reversed; at 1.3 a step, one reflection is always enough. Balls pass through each other, so that
constant velocity predicts them well.

An agent that is at its goal is relocated by its next step, whatever that step would have done:
the agent and the goal go to new random places, and the agent keeps the velocity that the step
gave it. The places may lie within the goal radius of each other, one time in 290: the agent then
stands at a goal that it did not earn, and is relocated again.
"""

from typing import Any

from dard.core import arrays
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.state import (
    AGENT_POSITION,
    GOAL,
    OTHER_POSITIONS,
    POSITIONS,
    STATE_SIZE,
    VELOCITIES,
    at_goal,
    goal,
)
from dard.envs.environment import Draws

RESET_DRAWS = Draws(uniform=STATE_SIZE)
STEP_DRAWS = Draws(uniform=4, normal=2 * CONSTANTS.other_balls)


def initial_state(uniform: Any, normal: Any) -> Any:
    """Return states with balls and goal anywhere, and velocities within the initial speed.

    Parameters
    ----------
    uniform : array, shape (n, 26)
        Numbers in [0, 1).
    normal : array, shape (n, 0)
        Not used.
    """
    places, signed = CONSTANTS.arena * (uniform - 0.5), 2.0 * uniform - 1.0
    speeds = CONSTANTS.initial_speed * signed[..., VELOCITIES]
    xp = arrays.namespace(uniform)
    return xp.concat([places[..., POSITIONS], speeds, places[..., GOAL]], axis=-1)


def transition(state: Any, action: Any, uniform: Any, normal: Any) -> Any:
    """Return the next states.

    Parameters
    ----------
    state : array, shape (n, 26)
    action : array, shape (n, 2)
        Acceleration of the agent; clipped to its bounds.
    uniform : array, shape (n, 4)
        Numbers in [0, 1): new places of the agent and of the goal, should they be relocated.
    normal : array, shape (n, 10)
        Standard normal numbers: accelerations of the other balls.
    """
    xp = arrays.namespace(state)
    position, velocity = moved(state, action, CONSTANTS.acceleration_noise * normal)
    places = CONSTANTS.arena * (uniform - 0.5)
    relocated = at_goal(state)[..., None]
    agent = xp.where(relocated, places[..., :2], position[..., AGENT_POSITION])
    target = xp.where(relocated, places[..., 2:], goal(state))
    return xp.concat([agent, position[..., OTHER_POSITIONS], velocity, target], axis=-1)


def moved(state: Any, action: Any, accelerations: Any) -> tuple[Any, Any]:
    """Return the positions and velocities of all balls after a step, each of shape (n, 12).

    Parameters
    ----------
    state : array, shape (n, 26)
    action : array, shape (n, 2)
        Acceleration of the agent; clipped to its bounds.
    accelerations : array, shape (n, 10)
        Those of the other balls.
    """
    xp = arrays.namespace(state)
    bound, speed, wall = CONSTANTS.max_acceleration, CONSTANTS.max_speed, CONSTANTS.arena / 2
    change = xp.concat([xp.clip(action, -bound, bound), accelerations], axis=-1)
    velocity = state[..., VELOCITIES] + CONSTANTS.time_step * change
    velocity = xp.clip(velocity, -speed, speed)
    free = state[..., POSITIONS] + CONSTANTS.time_step * velocity
    within = xp.clip(free, -wall, wall)
    return 2.0 * within - free, xp.where(within == free, velocity, -velocity)


def terminated(state: Any) -> Any:
    """Return False for each state: only the horizon ends an episode."""
    xp = arrays.namespace(state)
    return xp.zeros_like(state[..., 0], dtype=xp.bool)
