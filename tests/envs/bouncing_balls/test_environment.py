"""What Bouncing Balls is made of: its layout, what policies and models see, its constants."""

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.envs.bouncing_balls.data import scattered

import dard
from dard.envs.bouncing_balls import (
    CONSTANTS,
    actions,
    environment,
    goal,
    positions,
    transition_model,
    velocities,
)

STATE, ACTION, UNIFORM, NORMAL = scattered(1000)
NEXT_STATE = environment.transition(STATE, ACTION, UNIFORM, NORMAL)


def test_a_state_is_positions_velocities_and_the_goal() -> None:
    parts = [positions(STATE), velocities(STATE), goal(STATE)]
    assert [part.shape for part in parts] == [(1000, 6, 2), (1000, 6, 2), (1000, 2)]
    flat = np.concatenate([part.reshape(1000, -1) for part in parts], axis=1)
    np.testing.assert_array_equal(flat, STATE)


def test_sizes_are_as_declared() -> None:
    assert STATE.shape == (1000, environment.state_size)
    assert environment.observation(STATE).shape == (1000, environment.observation_size)
    features = environment.features(STATE, ACTION, NEXT_STATE)
    assert features.shape == (1000, environment.feature_size)
    assert environment.action_size == ACTION.shape[1]


def test_the_agent_is_ball_0_and_the_only_one_that_acts() -> None:
    still = STATE.copy()
    still[:, :24] *= 0.5
    push, rest = np.full((1000, 2), 3.0), np.zeros((1000, 2))
    change = velocities(transition_model(still, push)) - velocities(transition_model(still, rest))
    assert change[:, 0] == pytest.approx(np.full((1000, 2), 3.0 * 0.13))
    assert (change[:, 1:] == 0).all()


def test_actions_are_the_papers_grid() -> None:
    np.testing.assert_array_equal(actions, dard.action_grid([-5, -5], [5, 5], 8))
    with pytest.raises(ValueError, match="read-only"):
        actions[0] = 0


def test_observations_are_scaled() -> None:
    seen = environment.observation(STATE)
    assert (abs(seen[:, :12]) <= 1).all()
    assert (abs(seen[:, 12:24]) <= 2).all()
    assert (abs(seen[:, 26:]) <= 2).all()
    np.testing.assert_allclose(30 * seen[:, :12], STATE[:, :12])
    np.testing.assert_allclose(5 * seen[:, 12:24], STATE[:, 12:24])
    np.testing.assert_allclose(30 * seen[:, 24:26], STATE[:, 24:])
    np.testing.assert_allclose(30 * seen[:, 26:], STATE[:, 24:] - STATE[:, :2], atol=1e-12)


def test_features_are_as_documented() -> None:
    columns = environment.features(STATE, ACTION, NEXT_STATE).T
    ways = [goal(state) - positions(state)[:, 0] for state in (STATE, NEXT_STATE)]
    before, after = (np.linalg.norm(way, axis=1) for way in ways)
    moved = np.linalg.norm(positions(NEXT_STATE) - positions(STATE), axis=2)[:, 1:]
    agents = [velocities(state)[:, 0].T for state in (STATE, NEXT_STATE)]
    expected = [before, after, before - after, before < 2, after < 2, *moved.T**2]
    expected += [*ways[0].T, *ways[1].T, *agents[0], *agents[1], *ACTION.T]
    np.testing.assert_allclose(columns, np.array(expected, dtype=float), atol=1e-12)
    assert columns[3].any()
    assert columns[4].any()


@pytest.mark.parametrize("name", [field.name for field in fields(CONSTANTS)])
def test_the_hash_is_of_every_constant(name) -> None:
    changed = replace(CONSTANTS, **{name: 2 * getattr(CONSTANTS, name)})
    other = replace(environment, constants=changed)
    assert len(environment.constants_hash) == 16
    assert other.constants_hash != environment.constants_hash
    assert replace(environment, constants=replace(CONSTANTS)).constants_hash == (
        environment.constants_hash
    )
