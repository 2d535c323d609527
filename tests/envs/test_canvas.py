"""The software canvas: what is covered, how far, and in which colour."""

import math

import numpy as np
import pytest

from dard.core.errors import ConfigurationError, DataError
from dard.envs import canvas
from dard.envs.canvas import Canvas, drawable, rgb

BLACK, WHITE, RED = "#000000", "#ffffff", "#ff0000"


def blank(size: int = 100) -> Canvas:
    return Canvas(size, 0, 10, BLACK)


def at(picture: Canvas, x: float, y: float) -> list[int]:
    image = picture.image()
    scale = len(image) / 10
    return image[int((10 - y) * scale), int(x * scale)].tolist()


def covered(picture: Canvas) -> float:
    """Return the area that is white, in square units of the plane."""
    return float((picture.image()[..., 0] / 255).mean()) * 100


def test_colours_are_read_as_they_are_written() -> None:
    assert rgb("#0072b2").tolist() == [0, 0x72, 0xB2]
    assert (blank().image() == 0).all()
    assert blank().image().dtype == np.uint8
    assert Canvas(20, -1, 1, RED).image()[3, 4].tolist() == [255, 0, 0]


def test_y_points_up() -> None:
    picture = blank()
    picture.disc((2, 8), 1, RED)
    assert at(picture, 2, 8) == [255, 0, 0]
    assert at(picture, 8, 2) == at(picture, 2, 2) == [0, 0, 0]
    assert picture.image()[20, 20].tolist() == [255, 0, 0]


@pytest.mark.parametrize("size", [50, 200, 401])
@pytest.mark.parametrize("centre", [(5, 5), (4.321, 6.789)])
def test_edges_are_covered_as_far_as_they_lie_inside(size: int, centre: tuple) -> None:
    x, y = centre
    areas = {
        "disc": math.pi * 4,
        "ring": 2 * math.pi * 2 * 0.5,
        "line": 2 * math.hypot(2, 1) + math.pi,
        "rectangle": 12 - (4 - math.pi) * 0.25,
        # Four sides, shortened by the corners, and a full circle.
        "frame": 0.5 * (2 * (4 - 1) + 2 * (3 - 1) + 2 * math.pi * 0.5),
    }
    pictures = {name: blank(size) for name in areas}
    pictures["disc"].disc(centre, 2, WHITE)
    pictures["ring"].ring(centre, 2, 0.5, WHITE)
    pictures["line"].line(centre, (x + 2, y - 1), 2, WHITE)
    pictures["rectangle"].rectangle((x - 2, y - 1.5), (x + 2, y + 1.5), WHITE, corner=0.5)
    pictures["frame"].frame((x - 2, y - 1.5), (x + 2, y + 1.5), 0.5, WHITE, corner=0.5)
    for name, area in areas.items():
        assert covered(pictures[name]) == pytest.approx(area, rel=0.012), name


def test_edges_are_smooth() -> None:
    picture = blank(64)
    picture.disc((5, 5), 3, WHITE)
    greys = np.unique(picture.image())
    assert len(greys) > 10
    hard = (picture.image() > 127).mean()
    assert abs(covered(picture) - math.pi * 9) < abs(hard * 100 - math.pi * 9)


def test_a_line_reaches_from_end_to_end() -> None:
    picture = blank()
    picture.line((2, 2), (8, 8), 1, WHITE)
    for point in ((2, 2), (5, 5), (8, 8)):
        assert at(picture, *point) == [255] * 3
    for point in ((1, 1), (9, 9), (4, 6)):
        assert at(picture, *point) == [0] * 3


def test_a_line_without_length_is_a_disc() -> None:
    line, disc = blank(), blank()
    line.line((5, 5), (5, 5), 2, WHITE)
    disc.disc((5, 5), 1, WHITE)
    assert (line.image() == disc.image()).all()


def test_a_ring_and_a_frame_are_hollow() -> None:
    picture = blank()
    picture.ring((5, 5), 3, 0.6, WHITE)
    assert at(picture, 5, 5) == [0] * 3
    assert at(picture, 8, 5) == [255] * 3
    picture = blank()
    picture.frame((2, 2), (8, 8), 0.6, WHITE)
    assert at(picture, 5, 5) == [0] * 3
    assert at(picture, 2, 5) == at(picture, 5, 8) == [255] * 3


def test_alpha_blends() -> None:
    picture = blank()
    picture.disc((5, 5), 2, WHITE, alpha=0.25)
    assert at(picture, 5, 5) == [64] * 3
    picture.disc((5, 5), 1, RED, alpha=0.5)
    assert at(picture, 5, 5) == [159, 32, 32]


def test_a_trail_thins_out_and_fades() -> None:
    picture = blank()
    picture.trail([(1, 5), (5, 5), (9, 5)], 2, WHITE)
    along = [at(picture, x, 5)[0] for x in (1.05, 3, 5, 7, 8.9)]
    assert along == sorted(along, reverse=True)
    assert along[0] > 240
    assert 120 < along[2] < 135
    assert along[-1] < 15
    assert at(picture, 2, 5.8)[0] > 150
    assert at(picture, 7, 5.8)[0] == 0


def test_a_trail_bends() -> None:
    picture = blank()
    picture.trail([(2, 2), (8, 2), (8, 8)], 1, WHITE)
    assert at(picture, 5, 2)[0] > at(picture, 8, 4)[0] > 0
    assert at(picture, 5, 5)[0] == 0


def test_a_trail_of_one_point_is_nothing() -> None:
    picture = blank()
    picture.trail([(5, 5)], 2, WHITE)
    assert covered(picture) == 0


def test_a_shadow_fades_over_its_softness() -> None:
    picture = Canvas(100, 0, 10, WHITE)
    picture.shadow((5, 5), (5, 5), 4, 2)
    middle, edge, outside = (at(picture, 5 + r, 5)[0] for r in (0, 2, 3.2))
    assert middle < edge < outside == 255


@pytest.mark.parametrize("centre", [(-50, 5), (5, 1e9), (20, 20), (5, -1e6)])
def test_what_lies_outside_is_not_drawn(centre: tuple[float, float]) -> None:
    picture = blank()
    picture.disc(centre, 2, WHITE)
    picture.line(centre, centre, 2, WHITE)
    picture.rectangle(centre, (centre[0] + 1, centre[1] + 1), WHITE)
    assert covered(picture) == 0


def test_what_lies_half_outside_is_cut() -> None:
    picture = blank(200)
    picture.disc((0, 5), 2, WHITE)
    assert covered(picture) == pytest.approx(math.pi * 2, rel=0.01)


def test_a_copy_is_a_picture_of_its_own() -> None:
    first = blank()
    first.disc((2, 2), 1, WHITE)
    second = first.copy()
    second.disc((8, 8), 1, WHITE)
    assert at(second, 2, 2) == at(second, 8, 8) == [255] * 3
    assert at(first, 8, 8) == [0] * 3


@pytest.mark.parametrize("size", [0, -3, 15, 9000, 100.0, "480", None])
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(ConfigurationError, match="expected a whole number of pixels"):
        Canvas(size, 0, 1)  # pyright: ignore[reportArgumentType]


def test_only_a_single_finite_state_is_drawn() -> None:
    assert drawable([1, 2], 2).dtype == np.float64
    with pytest.raises(DataError, match=r"shape \(1, 2\); render draws a single state"):
        drawable([[1, 2]], 2)
    for value in (math.nan, math.inf):
        with pytest.raises(DataError, match="NaN or infinite"):
            drawable([1, value], 2)


def test_the_palette_can_be_told_apart_without_colours() -> None:
    """Goal, agent and reached goal differ in brightness too."""
    grey = {c: float(rgb(c) @ [0.299, 0.587, 0.114]) for c in (canvas.BLUE, canvas.ORANGE)}
    assert abs(grey[canvas.BLUE] - grey[canvas.ORANGE]) > 60
