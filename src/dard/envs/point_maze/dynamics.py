"""Motion of the sphere in the maze, in closed form, its contacts included.

A state has six numbers, those of EPIC's ``PointMazeLeftVel``: position x, y, z and velocity x, y, z
of the sphere, in metres and seconds. It moves in the plane: z and its velocity are always 0.
"""

from typing import Any

from dard.core import arrays
from dard.envs.environment import Draws
from dard.envs.point_maze.constants import ORIGINAL, PointMazeConstants
from dard.envs.point_maze.contacts import contact_forces

STATE_SIZE = 6
RESET_DRAWS = Draws(uniform=2)
STEP_DRAWS = Draws()


def initial_state(uniform: Any, normal: Any, constants: PointMazeConstants = ORIGINAL) -> Any:
    """Return the states in which episodes start: at one place, almost at rest.

    Parameters
    ----------
    uniform : array, shape (n, 2)
        Uniform numbers in [0, 1).
    normal : array, shape (n, 0)
        Not used.
    constants : PointMazeConstants
    """
    velocity = constants.reset_velocity * (2.0 * uniform - 1.0)
    nowhere = 0.0 * velocity[..., 0]
    x, y = constants.start
    return _state(nowhere + x, nowhere + y, velocity[..., 0], velocity[..., 1])


def transition(
    state: Any, action: Any, uniform: Any, normal: Any, constants: PointMazeConstants = ORIGINAL
) -> Any:
    """Return the states one transition later: the maze draws nothing, and ignores the draws.

    Actions are the forces of two motors, clipped to ±1, as Gymnasium's convention and MuJoCo's
    model say.
    """
    xp = arrays.namespace(state, action)
    force = constants.gear * xp.clip(action, -1.0, 1.0)
    forces = force[..., 0], force[..., 1]
    x, y, vx, vy = state[..., 0], state[..., 1], state[..., 3], state[..., 4]
    for _ in range(constants.frame_skip):
        x, y, vx, vy = _euler(x, y, vx, vy, forces, constants)
    return _state(x, y, vx, vy)


def terminated(state: Any) -> Any:
    """Return false for every state: only the horizon ends an episode."""
    return state[..., 0] != state[..., 0]


def _euler(
    x: Any, y: Any, vx: Any, vy: Any, forces: tuple[Any, Any], c: PointMazeConstants
) -> tuple[Any, Any, Any, Any]:
    """Return position and velocity one step later: semi-implicit Euler, damping implicit."""
    net_x, net_y = forces[0] - c.damping * vx, forces[1] - c.damping * vy
    free = net_x / c.mass, net_y / c.mass
    push_x, push_y = contact_forces((x, y), (vx, vy), free, c)
    # MuJoCo takes the damping at the end of the step, but not when it computes contact forces.
    gain = c.time_step / (c.mass + c.time_step * c.damping)
    vx, vy = vx + gain * (net_x + push_x), vy + gain * (net_y + push_y)
    return x + c.time_step * vx, y + c.time_step * vy, vx, vy


def _state(x: Any, y: Any, vx: Any, vy: Any) -> Any:
    """Return the six columns as one array."""
    xp = arrays.namespace(x)
    zero = xp.zeros_like(x)
    return xp.stack([x, y, zero, vx, vy, zero], axis=-1)
