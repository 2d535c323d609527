"""A small software canvas: antialiased shapes on a square of pixels, with nothing but NumPy.

Every shape is a signed distance, in world units: negative inside, positive outside. A pixel is
covered as far as its centre lies inside, to half a pixel, which gives smooth edges at any size.
Only the pixels of a shape's bounding box are visited.
"""

import copy
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError, DataError

# Okabe and Ito's palette, which people who confuse colours can tell apart, and neutral tones.
BLUE = "#0072b2"
SKY = "#56b4e9"
ORANGE = "#e69f00"
VERMILION = "#d55e00"
GREEN = "#009e73"
INK = "#22303c"
SLATE = "#5b6b7a"
STONE = "#9aa7b4"
MIST = "#dfe5ea"
PAPER = "#f7f8fa"
WHITE = "#ffffff"

Point = Sequence[float] | np.ndarray
Points = Sequence[Point] | np.ndarray
Shape = tuple[Any, Any]
"""At each pixel, the signed distance and how far the colour has faded, from 0 to 1."""


class Canvas:
    """A square picture of a square piece of the plane, y pointing up.

    Parameters
    ----------
    size : int
        Width and height in pixels.
    low, high : float
        Bounds of what is shown, along both axes.
    colour : str
        Background, as ``"#rrggbb"``.
    """

    def __init__(self, size: int, low: float, high: float, colour: str = PAPER) -> None:
        if not isinstance(size, int | np.integer) or not 16 <= size <= 8192:
            raise ConfigurationError(
                f"size is {size!r}; expected a whole number of pixels from 16 to 8192"
            )
        self._low, self._high = low, high
        self._scale = size / (high - low)
        self._pixels = np.empty((size, size, 3), np.float32)
        self._pixels[:] = rgb(colour)
        centres = (np.arange(size, dtype=np.float32) + 0.5) / np.float32(self._scale)
        self._x, self._y = np.float32(low) + centres, np.float32(high) - centres

    def copy(self) -> "Canvas":
        """Return a canvas to go on with, while this one stays: a backdrop is drawn only once."""
        twin = copy.copy(self)
        twin._pixels = self._pixels.copy()
        return twin

    def image(self) -> np.ndarray:
        """Return the picture, shape (size, size, 3), as uint8 in sRGB."""
        return (self._pixels + 0.5).astype(np.uint8)

    def disc(self, centre: Point, radius: float, colour: str, alpha: float = 1.0) -> None:
        """Fill a circle."""
        self._paint(_round(centre), _around([centre], radius), radius, colour, alpha)

    def ring(
        self, centre: Point, radius: float, width: float, colour: str, alpha: float = 1.0
    ) -> None:
        """Stroke a circle of which `radius` is the middle of the line."""
        box = _around([centre], radius + width)
        self._paint(_outline(_round(centre), radius), box, width / 2, colour, alpha)

    def line(self, start: Point, end: Point, width: float, colour: str, alpha: float = 1.0) -> None:
        """Draw a line with round ends: a capsule."""
        box = _around([start, end], width)
        self._paint(_outline(_along(start, end), 0), box, width / 2, colour, alpha)

    def shadow(self, start: Point, end: Point, width: float, softness: float) -> None:
        """Darken a capsule whose edge fades over `softness`."""
        box = _around([start, end], width + softness)
        self._paint(_outline(_along(start, end), 0), box, width / 2, INK, 0.2, softness)

    def trail(self, points: Points, width: float, colour: str, alpha: float = 1.0) -> None:
        """Draw a line through `points` that thins out and fades towards the last of them."""
        lines = [_along(start, end) for start, end in pairwise(points)]

        def nearest(x: np.ndarray, y: np.ndarray) -> Shape:
            edge, where = np.float32(np.inf), np.float32(0)
            for k, along in enumerate(lines):
                distance, share = along(x, y)
                share = (k + share) / len(lines)
                distance = distance + share * np.float32(width / 2)
                where = np.where(distance < edge, share, where)
                edge = np.minimum(distance, edge)
            return edge, where

        self._paint(nearest, _around(points, width), width / 2, colour, alpha)

    def rectangle(self, low: Point, high: Point, colour: str, corner: float = 0.0) -> None:
        """Fill a rectangle between two corners, rounded by a radius of `corner`."""
        box = (low[0], low[1], high[0], high[1])
        self._paint(_box(low, high, corner), box, corner, colour, 1.0)

    def frame(
        self, low: Point, high: Point, width: float, colour: str, corner: float = 0.0
    ) -> None:
        """Stroke a rectangle of which the corners are the middle of the line."""
        box = (low[0] - width, low[1] - width, high[0] + width, high[1] + width)
        shape = _outline(_box(low, high, corner), corner)
        self._paint(shape, box, width / 2, colour, 1.0)

    def _paint(
        self,
        shape: Callable[[np.ndarray, np.ndarray], Shape],
        box: tuple[float, float, float, float],
        reach: float,
        colour: str,
        alpha: float,
        softness: float = 0.0,
    ) -> None:
        """Blend `colour` in where the distance of `shape` is below `reach`, inside `box`."""
        columns = slice(self._pixel(box[0] - self._low, -1), self._pixel(box[2] - self._low, 2))
        rows = slice(self._pixel(self._high - box[3], -1), self._pixel(self._high - box[1], 2))
        x, y = self._x[None, columns], self._y[rows, None]
        if not x.size or not y.size:
            return
        distance, faded = shape(x, y)
        width = max(softness, 1 / self._scale)
        covered = np.clip(0.5 + (reach - distance) / np.float32(width), 0, 1)
        if softness:
            covered = covered * covered * (3 - 2 * covered)
        mask = (covered * (alpha * (1 - faded))).astype(np.float32)[..., None]
        patch = self._pixels[rows, columns]
        patch += mask * (rgb(colour) - patch)

    def _pixel(self, offset: float, margin: int) -> int:
        """Return the pixel at a distance from the upper left, some further for antialiasing."""
        return min(max(math.floor(offset * self._scale) + margin, 0), len(self._x))


def rgb(colour: str) -> np.ndarray:
    """Return the three numbers, 0 to 255, of ``"#rrggbb"``."""
    return np.frombuffer(bytes.fromhex(colour.removeprefix("#")), np.uint8).astype(np.float32)


def drawable(state: Any, width: int) -> np.ndarray:
    """Return a single state in float64, or say why it cannot be drawn."""
    array = np.asarray(state, np.float64)
    if array.shape != (width,):
        raise DataError(
            f"state has shape {array.shape}; render draws a single state, of shape ({width},)"
        )
    if not np.isfinite(array).all():
        raise DataError("state holds NaN or infinite values: there is nothing to draw")
    # Far outside every picture, and within what squares in float32 can hold.
    return np.clip(array, -1e6, 1e6)


def _around(points: Points, margin: float) -> tuple[float, float, float, float]:
    every = np.array(points, np.float64)
    low, high = every.min(axis=0) - margin, every.max(axis=0) + margin
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _round(centre: Point) -> Callable[[np.ndarray, np.ndarray], Shape]:
    """Return the shape of a point."""
    return lambda x, y: (_length(x - np.float32(centre[0]), y - np.float32(centre[1])), 0.0)


def _outline(
    shape: Callable[[np.ndarray, np.ndarray], Shape], offset: float
) -> Callable[[np.ndarray, np.ndarray], Shape]:
    """Return the shape of the line that is `offset` away from another shape."""
    return lambda x, y: (abs(shape(x, y)[0] - offset), 0.0)


def _along(start: Point, end: Point) -> Callable[[np.ndarray, np.ndarray], Shape]:
    """Return the distance from a line, and how far along it, from 0 to 1, its nearest point is."""
    dx, dy = np.float32(end[0] - start[0]), np.float32(end[1] - start[1])
    length = max(dx * dx + dy * dy, np.float32(1e-30))

    def measure(x: np.ndarray, y: np.ndarray) -> Shape:
        x, y = x - np.float32(start[0]), y - np.float32(start[1])
        share = np.clip((x * dx + y * dy) / length, 0, 1)
        return _length(x - share * dx, y - share * dy), share

    return measure


def _box(low: Point, high: Point, corner: float) -> Callable[[np.ndarray, np.ndarray], Shape]:
    """Return the shape of a rectangle that is smaller by `corner` on every side."""
    middle = [np.float32(a + b) / 2 for a, b in zip(low, high, strict=True)]
    half = [np.float32(b - a) / 2 - np.float32(corner) for a, b in zip(low, high, strict=True)]

    def distance(x: np.ndarray, y: np.ndarray) -> Shape:
        across, up = abs(x - middle[0]) - half[0], abs(y - middle[1]) - half[1]
        outside = _length(np.maximum(across, 0), np.maximum(up, 0))
        return outside + np.minimum(np.maximum(across, up), 0), 0.0

    return distance


def _length(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Three times as fast as NumPy's hypot, which guards against overflow.
    return np.sqrt(x * x + y * y)
