"""Bouncing Balls against a slow, obvious reference, one number at a time."""

import math
from typing import Any

import numpy as np
import pytest
from tests.envs.bouncing_balls.data import scattered, uniform_policy

from dard.core.transitions import Transitions
from dard.envs.bouncing_balls import environment, goal, positions, velocities

TRANSITIONS = 25_000


def clipped(value, bound):
    return max(-bound, min(bound, value))


def moved(place, speed, acceleration, *, walls=True):
    """Return place and speed of one ball along one axis after 0.13 s."""
    speed = clipped(speed + acceleration * 0.13, 10.0)
    place += speed * 0.13
    if walls and place > 30.0:
        return 60.0 - place, -speed
    if walls and place < -30.0:
        return -60.0 - place, -speed
    return place, speed


def reference(state, action, uniform, normal, *, walls=True):
    places, speeds, target = list(state[:12]), list(state[12:24]), list(state[24:])
    pushes = [clipped(a, 5.0) for a in action] + [0.5 * z for z in normal]
    relocated = math.dist(places[:2], target) < 2.0
    for i in range(12):
        places[i], speeds[i] = moved(places[i], speeds[i], pushes[i], walls=walls)
    if relocated:
        places[:2] = [60.0 * u - 30.0 for u in uniform[:2]]
        target = [60.0 * u - 30.0 for u in uniform[2:]]
    return places + speeds + target


def by_reference(arguments, **options):
    rows = zip(*(part.tolist() for part in arguments), strict=True)
    return np.array([reference(*row, **options) for row in rows])


@pytest.fixture(scope="module")
def cases() -> tuple[Any, ...]:
    return scattered(TRANSITIONS)


def test_transition_equals_the_reference(cases) -> None:
    np.testing.assert_allclose(
        environment.transition(*cases), by_reference(cases), rtol=0, atol=1e-12
    )


def test_the_cases_meet_walls_speed_limits_bounds_and_goals(cases) -> None:
    state, action, _, _ = cases
    after = environment.transition(*cases)
    relocated = (after[:, 24:] != state[:, 24:]).any(axis=1)
    for axis in range(12):
        turned = np.sign(after[:, 12 + axis]) != np.sign(state[:, 12 + axis])
        assert (turned & (abs(state[:, 12 + axis]) > 2)).sum() > 100
    assert relocated.sum() > 1000
    assert (abs(after[:, 12:24]) == 10).any(axis=0).all()
    assert (abs(action) > 5).sum() > 1000


def test_the_reference_without_walls_differs(cases) -> None:
    some = [part[:2000] for part in cases]
    without = by_reference(some, walls=False)
    difference = abs(environment.transition(*some) - without)
    assert (difference[:, :24].max(axis=0) > 0.1).all()


def test_the_model_is_the_transition_without_chance(cases) -> None:
    state, action, uniform, normal = cases
    far = np.hypot(*(state[:, 24:] - state[:, :2]).T) >= 2
    plain = environment.transition(
        state[far], action[far], uniform[far], np.zeros_like(normal[far])
    )
    np.testing.assert_array_equal(
        environment.transition_model(state[far], action[far], None), plain
    )


def test_the_model_relocates_nothing(cases) -> None:
    state, action, _, _ = cases
    after = environment.transition_model(state, action, None)
    np.testing.assert_array_equal(goal(after), goal(state))
    assert abs(positions(after) - positions(state)).max() <= 1.3 + 1e-12


def test_other_balls_keep_their_speed_in_the_model() -> None:
    state, action, _, _ = scattered(1000)
    after = environment.transition_model(state, action, None)
    np.testing.assert_array_equal(abs(velocities(after)[:, 1:]), abs(velocities(state)[:, 1:]))


@pytest.mark.parametrize("excess", [5.001, 7.0, 1e9, np.inf])
def test_actions_out_of_bounds_are_clipped(excess) -> None:
    state, _, uniform, normal = scattered(100)
    beyond, bound = np.full((100, 2), excess), np.full((100, 2), 5.0)
    for sign in (-1, 1):
        np.testing.assert_array_equal(
            environment.transition(state, sign * beyond, uniform, normal),
            environment.transition(state, sign * bound, uniform, normal),
        )


def test_other_balls_are_pushed_at_random() -> None:
    state, action, uniform, normal = scattered(20_000)
    # Neither a wall nor the speed limit in reach.
    state[:, :24] *= 0.5
    change = environment.transition(state, action, uniform, normal)[:, 14:24] - state[:, 14:24]
    assert change.std(axis=0) == pytest.approx(np.full(10, 0.5 * 0.13), rel=0.03)
    assert abs(change.mean(axis=0)).max() < 4 * 0.065 / np.sqrt(20_000)


@pytest.fixture(scope="module")
def episodes() -> Transitions:
    return uniform_policy(100)


def test_episodes_stay_in_the_arena(episodes) -> None:
    for state in (episodes.state, episodes.next_state):
        assert abs(positions(state)).max() <= 30
        assert abs(goal(state)).max() <= 30
        assert abs(velocities(state)).max() <= 10


def test_episodes_begin_anywhere(episodes) -> None:
    start = uniform_policy(20_000, steps=1).state
    for part, bound in ((positions(start), 30), (velocities(start), 5), (goal(start), 30)):
        flat = part.reshape(len(start), -1)
        assert abs(flat).max() <= bound
        assert flat.std(axis=0) == pytest.approx(
            np.full(flat.shape[1], bound / np.sqrt(3)), rel=0.03
        )
        assert abs(flat.mean(axis=0)).max() < 4 * bound / np.sqrt(3 * len(start))


def test_no_episode_ends_early(episodes) -> None:
    ends = environment.terminated(episodes.next_state)
    assert ends.shape == (len(episodes),)
    assert ends.dtype == bool
    assert not ends.any()
