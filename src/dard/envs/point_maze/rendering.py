"""Pictures of Point Maze: the walls with their true thickness, the sphere, and its target."""

from functools import lru_cache
from typing import Any

import numpy as np

from dard.envs import canvas
from dard.envs.canvas import Canvas
from dard.envs.point_maze.constants import ORIGINAL as CONSTANTS
from dard.envs.point_maze.dynamics import STATE_SIZE

_SECONDS = 0.15
"""How far back the sphere's trail goes."""
_MARGIN = 0.05


def render(state: Any, size: int = 480) -> np.ndarray:
    """Draw a state: the sphere in blue, its target in orange, everything to scale.

    The fading trail is where the sphere was in the last 0.15 s, judged by its velocity.

    Parameters
    ----------
    state : array, shape (6,)
    size : int, optional
        Width and height in pixels.

    Returns
    -------
    array, shape (size, size, 3), of uint8

    Examples
    --------
    >>> render([0.3, 0, 0, 0, 0.5, 0], size=64).shape
    (64, 64, 3)
    """
    row = canvas.drawable(state, STATE_SIZE)
    place, velocity, radius = row[:2], row[3:5], CONSTANTS.radius
    picture = _backdrop(size).copy()
    # The sphere did not come out of a wall.
    beside = CONSTANTS.wall_radius + radius
    past = place - np.linspace(0, _SECONDS, 8)[:, None] * velocity
    inside = (past > CONSTANTS.low + beside) & (past < CONSTANTS.high - beside)
    picture.trail([place, *past[inside.all(axis=1)]], 2 * radius, canvas.BLUE, alpha=0.4)
    below = place + np.array([0.003, -0.009])
    picture.shadow(below, below, 2 * radius, 0.024)
    picture.disc(place, radius, canvas.BLUE)
    shine = place + 0.34 * radius * np.array([-1, 1])
    picture.disc(shine, 0.26 * radius, canvas.SKY, alpha=0.8)
    return picture.image()


@lru_cache(maxsize=4)
def _backdrop(size: int) -> Canvas:
    """Return the maze without the sphere."""
    low, high, barrier = CONSTANTS.low, CONSTANTS.high, CONSTANTS.barrier
    picture = Canvas(size, low - _MARGIN, high + _MARGIN)
    picture.rectangle((low, low), (high, high), canvas.WHITE)
    for radius, width in ((0.045, 0.006), (0.028, 0.006)):
        picture.ring(CONSTANTS.target, radius, width, canvas.ORANGE)
    picture.disc(CONSTANTS.target, 0.045, canvas.ORANGE, alpha=0.16)
    picture.disc(CONSTANTS.target, 0.011, canvas.ORANGE)
    walls = (
        ((low, low), (low, high)),
        ((high, low), (high, high)),
        ((low, low), (high, low)),
        ((low, high), (high, high)),
        ((low, barrier), (CONSTANTS.barrier_end, barrier)),
    )
    for start, end in walls:
        below = np.array([0.003, -0.008])
        picture.shadow(start + below, end + below, 2 * CONSTANTS.wall_radius, 0.02)
    for start, end in walls:
        picture.line(start, end, 2 * CONSTANTS.wall_radius, canvas.SLATE)
    return picture
