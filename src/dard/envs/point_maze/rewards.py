"""The rewards of Point Maze."""

from typing import Any

from dard.core import arrays
from dard.core.noise import standard_normal
from dard.envs.point_maze.constants import ORIGINAL, PointMazeConstants


def ground_truth(
    state: Any, action: Any, next_state: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return minus the distance to the target in the current state, minus a price of effort.

    The ground truth of EPIC's experiment: ``-|position(s) - target| - 0.001 |a|²``.
    """
    xp = arrays.namespace(state, action)
    return -distance(state, constants) - constants.effort * xp.sum(action * action, axis=-1)


def shaped(
    state: Any, action: Any, next_state: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return the ground truth plus ``discount φ(s') - φ(s)``: equivalent to it.

    The potential φ is minus ten times the distance to the target.
    """
    after, before = distance(next_state, constants), distance(state, constants)
    shaping = constants.shaping_scale * (constants.discount * after - before)
    return ground_truth(state, action, next_state, constants) + shaping


def feasibility(
    state: Any, action: Any, next_state: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return the shaped reward of feasible transitions, and standard normal noise for others.

    The noise is a function of the transition. Feasible means that the sphere could cover the way
    within two transitions, with some slack: so that the pairs of next states that DARD asks about
    are feasible, too.
    """
    xp = arrays.namespace(state, action, next_state)
    noise = standard_normal(constants.noise_seed, state, action, next_state)
    real = shaped(state, action, next_state, constants)
    return xp.where(feasible(state, next_state, constants), real, noise)


def feasible(state: Any, next_state: Any, constants: PointMazeConstants = ORIGINAL) -> Any:
    """Return whether the sphere could get from one state to the other in two transitions."""
    xp = arrays.namespace(state, next_state)
    reach = constants.top_speed * constants.duration * constants.reachable_steps
    way = next_state[..., :3] - state[..., :3]
    return xp.sum(way * way, axis=-1) <= reach**2


def distance(state: Any, constants: PointMazeConstants = ORIGINAL) -> Any:
    """Return the distance of the sphere to the target."""
    xp = arrays.namespace(state)
    x, y = state[..., 0] - constants.target[0], state[..., 1] - constants.target[1]
    return xp.sqrt(x * x + y * y + state[..., 2] * state[..., 2])
