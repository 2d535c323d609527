"""Pictures of Bouncing Balls: the arena, the agent among the other balls, and its goal."""

from functools import lru_cache
from typing import Any

import numpy as np

from dard.envs import canvas
from dard.envs.bouncing_balls.constants import CONSTANTS
from dard.envs.bouncing_balls.state import STATE_SIZE, at_goal, goal, positions, velocities
from dard.envs.canvas import Canvas

_WALL = CONSTANTS.arena / 2
_RADIUS = 1.4
_SECONDS = 1.3
"""How far back the trails go."""


def render(state: Any, size: int = 480) -> np.ndarray:
    """Draw a state: the agent in blue, the other balls in grey, the goal an orange target.

    The target's outer ring is where the agent is rewarded, and is filled with green while it is
    there. Fading trails are where the balls came from in the last ten steps, judged by their
    velocities. Balls are points; they are drawn larger to be seen.

    Parameters
    ----------
    state : array, shape (26,)
    size : int, optional
        Width and height in pixels.

    Returns
    -------
    array, shape (size, size, 3), of uint8

    Examples
    --------
    >>> render(np.linspace(-20, 20, 26), size=64).shape
    (64, 64, 3)
    """
    row = canvas.drawable(state, STATE_SIZE)
    picture = _backdrop(size).copy()
    place, velocity = positions(row), velocities(row)
    _draw_goal(picture, goal(row), bool(at_goal(row)))
    # The agent last: it is on top.
    for ball in reversed(range(len(place))):
        colour, shine = (canvas.STONE, canvas.MIST) if ball else (canvas.BLUE, canvas.SKY)
        _draw_ball(picture, place[ball], velocity[ball], colour, shine)
    return picture.image()


@lru_cache(maxsize=4)
def _backdrop(size: int) -> Canvas:
    """Return the empty arena, a little wider than it is so that balls at walls are whole."""
    side = _WALL + _RADIUS
    picture = Canvas(size, -side - 1.2, side + 1.2)
    picture.rectangle((-side, -side), (side, side), canvas.WHITE, corner=_RADIUS)
    for place in np.arange(-_WALL + 10, _WALL, 10):
        picture.line((place, -side), (place, side), 0.1, canvas.MIST, alpha=0.6)
        picture.line((-side, place), (side, place), 0.1, canvas.MIST, alpha=0.6)
    picture.frame((-side, -side), (side, side), 0.5, canvas.SLATE, corner=_RADIUS)
    return picture


def _draw_goal(picture: Canvas, place: np.ndarray, reached: bool) -> None:
    colour = canvas.GREEN if reached else canvas.ORANGE
    radius = CONSTANTS.goal_radius
    picture.disc(place, radius, colour, alpha=0.45 if reached else 0.18)
    picture.ring(place, radius, 0.42, colour)
    picture.disc(place, 0.2 * radius, colour)


def _draw_ball(
    picture: Canvas, place: np.ndarray, velocity: np.ndarray, colour: str, shine: str
) -> None:
    free = place - np.linspace(0, _SECONDS, 8)[:, None] * velocity
    # A ball that has just bounced came from the wall.
    picture.trail(2 * np.clip(free, -_WALL, _WALL) - free, 2 * _RADIUS, colour, alpha=0.45)
    below = place + np.array([0.15, -0.45])
    picture.shadow(below, below, 2 * _RADIUS, 1.2)
    picture.disc(place, _RADIUS, colour)
    picture.disc(place + 0.34 * _RADIUS * np.array([-1, 1]), 0.28 * _RADIUS, shine, alpha=0.8)
