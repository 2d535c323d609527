"""Frames of the environments: what is where, and in which colour."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dard.core.errors import ConfigurationError, DataError
from dard.envs import ENVIRONMENTS, bouncing_balls, canvas, point_maze, reacher
from dard.envs.environment import Environment
from dard.envs.simulation import Simulation

SIZE = 300


def colour_at(image: np.ndarray, place: Any, bound: tuple[float, float]) -> np.ndarray:
    low, high = bound
    scale = len(image) / (high - low)
    return image[int((high - place[1]) * scale), int((place[0] - low) * scale)].astype(float)


def is_colour(found: np.ndarray, colour: str) -> bool:
    return bool(np.abs(found - canvas.rgb(colour)).max() < 12)


def balls(**places: Any) -> np.ndarray:
    """Return a state of Bouncing Balls with all other balls in the lower left corner."""
    state = np.zeros(26)
    state[:12] = -25
    state[:2], state[24:] = places["agent"], places["goal"]
    state[12:14] = places.get("velocity", (0, 0))
    return state


BALLS_VIEW = (-30 - 2.6, 30 + 2.6)
REACHER_VIEW = (-0.29, 0.29)
MAZE_VIEW = (-0.15, 0.65)


def test_bouncing_balls_shows_agent_others_and_goal() -> None:
    state = balls(agent=(10, 0), goal=(-5, 20))
    state[2:4] = 20, 20
    image = bouncing_balls.render(state, SIZE)
    assert is_colour(colour_at(image, (10, 0), BALLS_VIEW), canvas.BLUE)
    assert is_colour(colour_at(image, (20, 20), BALLS_VIEW), canvas.STONE)
    assert is_colour(colour_at(image, (-5, 20), BALLS_VIEW), canvas.ORANGE)
    assert is_colour(colour_at(image, (-5 + 2, 20), BALLS_VIEW), canvas.ORANGE)
    assert is_colour(colour_at(image, (4, -14), BALLS_VIEW), canvas.WHITE)


def test_the_agent_is_on_top_of_other_balls() -> None:
    state = balls(agent=(5, 5), goal=(-5, 20))
    state[2:4] = 5.5, 5
    image = bouncing_balls.render(state, SIZE)
    assert is_colour(colour_at(image, (5.5, 4.7), BALLS_VIEW), canvas.BLUE)


@pytest.mark.parametrize(("offset", "colour"), [(1.9, canvas.GREEN), (2.1, canvas.ORANGE)])
def test_a_goal_that_is_reached_turns_green(offset: float, colour: str) -> None:
    image = bouncing_balls.render(balls(agent=(offset, 0), goal=(0, 0)), SIZE)
    assert is_colour(colour_at(image, (-2, 0), BALLS_VIEW), colour)


def test_trails_lie_behind_and_are_longer_for_fast_balls() -> None:
    lengths = []
    for speed in (2, 8):
        image = bouncing_balls.render(balls(agent=(0, 5), goal=(-5, 20), velocity=(speed, 0)), SIZE)
        places = np.arange(-25, 25, 0.25)
        row = np.array([colour_at(image, (x, 5), BALLS_VIEW) for x in places])
        blueish = places[row[:, 2] - row[:, 0] > 8]
        assert blueish.max() < 2
        lengths.append(-blueish.min())
    assert lengths[1] > 2 * lengths[0] > 0


def test_trails_stay_inside_the_arena() -> None:
    still = bouncing_balls.render(balls(agent=(29.9, 5), goal=(-5, 20)), SIZE)
    moving = bouncing_balls.render(balls(agent=(29.9, 5), goal=(-5, 20), velocity=(-10, 0)), SIZE)
    outside = slice(int((31.6 + 32.6) * SIZE / 65.2) + 1, None)
    assert (still[:, outside] == moving[:, outside]).all()
    assert (still != moving).any()


def arm(first: float, second: float, **more: Any) -> np.ndarray:
    state = np.zeros(11)
    state[:2], state[2:4] = (first, second), more.get("goal", (-0.1, -0.12))
    state[4:6] = more.get("velocity", (0, 0))
    return state


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.8), (2.5, -1.8), (-2, 0)])
def test_reacher_shows_the_arm_where_its_joints_are(first: float, second: float) -> None:
    image = reacher.render(arm(first, second, goal=(0.2, -0.2)), SIZE)
    elbow = 0.1 * np.array([math.cos(first), math.sin(first)])
    forearm = np.array([math.cos(first + second), math.sin(first + second)])
    across = np.array([-math.sin(first), math.cos(first)])
    assert is_colour(colour_at(image, elbow + 0.11 * forearm, REACHER_VIEW), canvas.VERMILION)
    assert is_colour(colour_at(image, elbow, REACHER_VIEW), canvas.WHITE)
    assert is_colour(colour_at(image, 0.6 * elbow, REACHER_VIEW), canvas.SKY)
    assert is_colour(colour_at(image, 0.6 * elbow + 0.006 * across, REACHER_VIEW), canvas.BLUE)
    assert is_colour(colour_at(image, (0.2, -0.2), REACHER_VIEW), canvas.ORANGE)


@pytest.mark.parametrize(("gap", "colour"), [(0.048, canvas.GREEN), (0.052, canvas.ORANGE)])
def test_the_ring_is_the_radius_that_is_rewarded(gap: float, colour: str) -> None:
    goal = np.array([0.21 - gap, 0.0])
    state = arm(0, 0, goal=goal)
    image = reacher.render(state, 600)
    assert is_colour(colour_at(image, goal + np.array([0.0, 0.05]), REACHER_VIEW), colour)
    state[8] = gap
    rewarded = float(reacher.ground_truth(state[None], np.zeros((1, 2)), state[None])[0]) > 0.5
    assert rewarded == (colour == canvas.GREEN)


def test_the_fingertip_leaves_a_trail_on_its_circle() -> None:
    still = reacher.render(arm(0.5, 0), SIZE)
    moving = reacher.render(arm(0.5, 0, velocity=(10, 0)), SIZE)
    behind, ahead = (0.21 * np.array([math.cos(a), math.sin(a)]) for a in (0.3, 0.7))
    assert (colour_at(still, behind, REACHER_VIEW) != colour_at(moving, behind, REACHER_VIEW)).any()
    assert (colour_at(still, ahead, REACHER_VIEW) == colour_at(moving, ahead, REACHER_VIEW)).all()


def test_point_maze_shows_walls_sphere_and_target() -> None:
    image = point_maze.render(np.array([0.5, 0.1, 0, 0, 0, 0]), SIZE)
    for wall in ((-0.1, 0.2), (0.6, 0.2), (0.2, -0.1), (0.2, 0.6), (0.0, 0.3), (0.41, 0.3)):
        assert is_colour(colour_at(image, wall, MAZE_VIEW), canvas.SLATE)
    for free in ((0.2, 0.2), (0.5, 0.3), (0.1, 0.45)):
        assert is_colour(colour_at(image, free, MAZE_VIEW), canvas.WHITE)
    assert is_colour(colour_at(image, (0.5, 0.1), MAZE_VIEW), canvas.BLUE)
    assert is_colour(colour_at(image, (0.3, 0.5), MAZE_VIEW), canvas.ORANGE)


def test_the_sphere_of_the_maze_trails_behind_and_not_through_walls() -> None:
    still = point_maze.render(np.array([0.3, 0, 0, 0, 0, 0]), SIZE)
    moving = point_maze.render(np.array([0.3, 0, 0, 1, 0, 0]), SIZE)
    changed = np.flatnonzero((still != moving).any(axis=(0, 2))) * 0.8 / SIZE - 0.15
    assert 0.1 < changed.min() < 0.3
    assert changed.max() < 0.33
    from_wall = point_maze.render(np.array([-0.05, 0, 0, 1, 0, 0]), SIZE)
    at_wall = point_maze.render(np.array([-0.05, 0, 0, 0, 0, 0]), SIZE)
    assert (from_wall == at_wall).all()


each_environment = pytest.mark.parametrize("name", ENVIRONMENTS)


def state_of(environment: Environment) -> np.ndarray:
    return Simulation(environment, 0).state[0]


@each_environment
@pytest.mark.parametrize("size", [64, 301])
def test_frames_have_the_size_that_is_asked_for(name: str, size: int) -> None:
    environment = ENVIRONMENTS[name]
    state = state_of(environment)
    image = environment.render(state, size)
    assert (image.shape, image.dtype) == ((size, size, 3), np.uint8)
    assert environment.render(state).shape == (480, 480, 3)


@each_environment
def test_a_frame_is_a_function_of_the_state(name: str) -> None:
    environment = ENVIRONMENTS[name]
    state = state_of(environment)
    before = state.copy()
    first = environment.render(state, 128)
    other = environment.render(state_of(environment) + 0.05, 128)
    first[:] = 0  # must not reach the backdrop
    again = environment.render(state.astype(np.float32).tolist(), 128)
    assert (state == before).all()
    assert (again != other).any()
    assert abs(again.astype(int) - environment.render(state, 128)).max() <= 2
    assert again.max() > 200


@each_environment
def test_what_cannot_be_drawn(name: str) -> None:
    render: Callable[..., np.ndarray] = ENVIRONMENTS[name].render
    state = state_of(ENVIRONMENTS[name])
    for wrong in (state[None], state[:-1], np.zeros(0)):
        with pytest.raises(DataError, match="draws a single state"):
            render(wrong)
    state[0] = np.nan
    with pytest.raises(DataError, match="NaN"):
        render(state)
    state[0] = 1e300
    assert render(state, 64).shape == (64, 64, 3)
    with pytest.raises(ConfigurationError, match="size is 3"):
        render(state, 3)
