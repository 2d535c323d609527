"""What a policy sees of Reacher."""

from typing import Any

from dard.core import arrays
from dard.envs.reacher.constants import CONSTANTS

OBSERVATION_SIZE = 10
VELOCITY_SCALE = 10.0


def observation(state: Any) -> Any:
    """Return cosines and sines of the joints, velocities, goal, and fingertip minus goal.

    Everything is of order 1: velocities are in units of 10 rad/s, lengths in units of the radius
    in which goals lie. Cosines and sines, since the shoulder turns without a limit.
    """
    xp = arrays.namespace(state)
    angles = state[..., 0:2]
    return xp.concat(
        [
            xp.cos(angles),
            xp.sin(angles),
            state[..., 4:6] / VELOCITY_SCALE,
            state[..., 2:4] / CONSTANTS.goal_radius,
            state[..., 8:10] / CONSTANTS.goal_radius,
        ],
        axis=-1,
    )
