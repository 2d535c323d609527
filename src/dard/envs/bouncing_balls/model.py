"""The transition model that DARD is given, and its actions."""

from typing import Any

from dard.core import arrays
from dard.core.actions import action_grid
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.dynamics import moved
from dard.envs.bouncing_balls.state import OTHER_POSITIONS, goal

_BOUND = CONSTANTS.max_acceleration

actions = action_grid((-_BOUND,) * 2, (_BOUND,) * 2, CONSTANTS.actions_per_dimension)
"""The paper's 64 actions, a grid of 8 by 8 accelerations."""
actions.flags.writeable = False


def transition_model(state: Any, action: Any, rng: Any = None) -> Any:
    """Return the next states by the paper's constant-velocity model.

    That is `transition` without its chance: other balls keep their velocity, but for the walls,
    and nothing is relocated, since no deterministic model could say where to.

    Parameters
    ----------
    state : array, shape (n, 26)
    action : array, shape (n, 2)
    rng : object
        Not used: the model is deterministic.
    """
    xp = arrays.namespace(state)
    accelerations = xp.zeros_like(state[..., OTHER_POSITIONS])
    position, velocity = moved(state, action, accelerations)
    return xp.concat([position, velocity, goal(state)], axis=-1)
