"""Pictures of Reacher: the arm, its joints and fingertip, and the goal with its radius."""

from functools import lru_cache
from typing import Any

import numpy as np

from dard.envs import canvas
from dard.envs.canvas import Canvas
from dard.envs.reacher.constants import CONSTANTS
from dard.envs.reacher.dynamics import STATE_SIZE

_VIEW = 0.29
_ROOM = 0.27
_SECONDS = 0.05
"""How far back the fingertip's trail goes."""
_LONGEST_TURN = 1.2
"""Joints turn by at most so many radians along the trail, which would circle otherwise."""


def render(state: Any, size: int = 480) -> np.ndarray:
    """Draw a state: the arm in blue, its fingertip in vermilion, the goal a ring.

    The ring is where the fingertip is rewarded, and is filled with green while it is there. The
    fading trail is where the fingertip was in the last 0.05 s, judged by the joints' velocities.

    Parameters
    ----------
    state : array, shape (11,)
    size : int, optional
        Width and height in pixels.

    Returns
    -------
    array, shape (size, size, 3), of uint8

    Examples
    --------
    >>> render([0.3, 0.8, 0.1, 0.1, 0, 0, 0, 0, 0, 0, 0], size=64).shape
    (64, 64, 3)
    """
    joints, goal, velocity = np.split(canvas.drawable(state, STATE_SIZE)[:6], 3)
    picture = _backdrop(size).copy()
    elbow, tip = _points(joints)
    _draw_goal(picture, goal, bool(np.hypot(*(tip - goal)) < CONSTANTS.success_radius))
    _draw_trail(picture, joints, velocity)
    _draw_arm(picture, elbow, tip)
    return picture.image()


@lru_cache(maxsize=4)
def _backdrop(size: int) -> Canvas:
    """Return the table, and how far the arm reaches."""
    picture = Canvas(size, -_VIEW, _VIEW)
    picture.rectangle((-_ROOM, -_ROOM), (_ROOM, _ROOM), canvas.WHITE, corner=0.02)
    picture.frame((-_ROOM, -_ROOM), (_ROOM, _ROOM), 0.0025, canvas.MIST, corner=0.02)
    picture.ring((0, 0), CONSTANTS.upper_link + CONSTANTS.forearm, 0.0015, canvas.MIST)
    return picture


def _points(joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where elbow and fingertip are."""
    shoulder, forearm = joints[0], joints[0] + joints[1]
    elbow = CONSTANTS.upper_link * np.array([np.cos(shoulder), np.sin(shoulder)])
    return elbow, elbow + CONSTANTS.forearm * np.array([np.cos(forearm), np.sin(forearm)])


def _draw_goal(picture: Canvas, goal: np.ndarray, reached: bool) -> None:
    colour = canvas.GREEN if reached else canvas.ORANGE
    picture.disc(goal, CONSTANTS.success_radius, colour, alpha=0.3 if reached else 0.16)
    picture.ring(goal, CONSTANTS.success_radius, 0.004, colour)
    picture.disc(goal, 0.008, colour)


def _draw_trail(picture: Canvas, joints: np.ndarray, velocity: np.ndarray) -> None:
    turn = np.abs(velocity).max() * _SECONDS
    seconds = _SECONDS * min(1.0, _LONGEST_TURN / max(turn, 1e-9))
    back = np.linspace(0, seconds, 13)
    points = [_points(joints - velocity * t)[1] for t in back]
    picture.trail(points, 0.018, canvas.VERMILION, alpha=0.55)


def _draw_arm(picture: Canvas, elbow: np.ndarray, tip: np.ndarray) -> None:
    shoulder, below = np.zeros(2), np.array([0.002, -0.006])
    for start, end in ((shoulder, elbow), (elbow, tip)):
        picture.shadow(start + below, end + below, 0.018, 0.014)
    picture.disc(shoulder, 0.021, canvas.INK)
    for start, end, width in ((shoulder, elbow, 0.020), (elbow, tip, 0.016)):
        picture.line(start, end, width, canvas.BLUE)
        picture.line(start, end, width * 0.25, canvas.SKY)
    for joint, radius in ((shoulder, 0.0125), (elbow, 0.0115)):
        picture.disc(joint, radius, canvas.INK)
        picture.disc(joint, radius * 0.5, canvas.WHITE)
    picture.disc(tip, 0.0125, canvas.WHITE)
    picture.disc(tip, 0.0105, canvas.VERMILION)
