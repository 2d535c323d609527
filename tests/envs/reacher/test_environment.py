"""What Reacher declares, where its episodes start and end, and what policies see."""

import dataclasses
import json

import numpy as np
import pytest
from tests.envs.reacher.reference import POLICIES, episodes, start, step

from dard.envs import reacher

environment = reacher.environment


def test_sizes_are_as_declared():
    state = start(7, np.random.default_rng(0))
    action = environment.actions[:7]
    after = step(state, action)
    assert environment.name == "reacher"
    assert state.shape == after.shape == (7, environment.state_size)
    assert environment.observation(state).shape == (7, environment.observation_size)
    assert environment.features(state, action, after).shape == (7, environment.feature_size)
    assert environment.terminated(state).shape == (7,)
    assert list(environment.rewards) == ["GT", "SHAPED", "FEASIBILITY"]
    for reward in environment.rewards.values():
        assert reward(state, action, after).shape == (7,)


def test_no_transitions_give_no_transitions():
    state = start(0, np.random.default_rng(0))
    assert step(state, np.zeros((0, 2))).shape == (0, environment.state_size)


def test_constants_have_a_hash_that_follows_them():
    json.dumps(dataclasses.asdict(environment.constants))
    other = dataclasses.replace(reacher.CONSTANTS, gear=201.0)
    changed = dataclasses.replace(environment, constants=other)
    assert len(environment.constants_hash) == 16
    assert changed.constants_hash != environment.constants_hash


def test_actions_are_the_papers_grid():
    points = {-1.0, -1 / 3, 1 / 3, 1.0}
    assert environment.actions.shape == (16, 2)
    assert {tuple(np.round(row, 12)) for row in environment.actions} == {
        (round(a, 12), round(b, 12)) for a in points for b in points
    }
    with pytest.raises(ValueError, match="read-only"):
        environment.actions[0] = 0


def test_episodes_start_as_gymnasiums_do():
    state = start(200_000, np.random.default_rng(0))
    for column, half_width in ((0, 0.1), (1, 0.1), (4, 0.005), (5, 0.005)):
        values = np.sort(state[:, column]) / half_width
        np.testing.assert_allclose(values, np.linspace(-1, 1, len(values)), atol=0.02)
    rng = np.random.default_rng(1)
    square = rng.uniform(-0.2, 0.2, (300_000, 2))
    disc = square[np.linalg.norm(square, axis=1) < 0.2]
    levels = np.linspace(0.01, 0.99, 50)
    for of_goal in (lambda g: g[:, 0], lambda g: g[:, 1], lambda g: np.linalg.norm(g, axis=1)):
        ours, theirs = (np.quantile(of_goal(goal), levels) for goal in (state[:, 2:4], disc))
        np.testing.assert_allclose(ours, theirs, atol=0.002)
    assert np.linalg.norm(state[:, 2:4], axis=1).max() < 0.2
    assert abs(np.corrcoef(state[:, [0, 1, 2, 3, 4, 5]].T) - np.eye(6)).max() < 0.01


def test_extreme_draws_start_at_the_bounds():
    low, high = (
        reacher.initial_state(np.full((1, 6), u), np.zeros((1, 0))) for u in (0, 1 - 2**-53)
    )
    np.testing.assert_allclose(low[0, [0, 1, 4, 5]], [-0.1, -0.1, -0.005, -0.005])
    np.testing.assert_allclose(high[0, [0, 1, 4, 5]], [0.1, 0.1, 0.005, 0.005])


def test_actions_are_clipped():
    state = start(100, np.random.default_rng(0))
    action = np.random.default_rng(1).uniform(-3, 3, (100, 2))
    clipped = np.clip(action, -1, 1)
    np.testing.assert_array_equal(step(state, action), step(state, clipped))
    for reward in (reacher.ground_truth, reacher.shaped):
        np.testing.assert_array_equal(reward(state, action, state), reward(state, clipped, state))


@pytest.mark.parametrize(
    ("velocities", "ends"),
    [((0, 0), False), ((50, -50), False), ((50.001, 0), True), ((0, -50.001), True)],
)
def test_episodes_end_when_a_joint_is_too_fast(velocities, ends):
    state = np.zeros((1, 11))
    state[0, 4:6] = velocities
    assert reacher.terminated(state).tolist() == [ends]


def test_observations_are_of_order_one_and_do_not_see_turns_of_the_shoulder():
    states = episodes("uniform", 20).states.reshape(-1, 11)
    states = states[~reacher.terminated(states)]
    observed = reacher.observation(states)
    assert np.abs(observed).max() <= 5
    turned = states.copy()
    turned[:, 0] += 2 * np.pi
    np.testing.assert_allclose(reacher.observation(turned), observed, atol=1e-12)
    np.testing.assert_array_equal(
        observed[:, 0:4], np.hstack([np.cos(states[:, :2]), np.sin(states[:, :2])])
    )
    np.testing.assert_allclose(observed[:, 4:6], states[:, 4:6] / 10)
    np.testing.assert_allclose(observed[:, 6:10], states[:, [2, 3, 8, 9]] / 0.2)


def test_features_are_the_transition():
    state = start(5, np.random.default_rng(0))
    action = environment.actions[:5]
    after = step(state, action)
    expected = np.hstack([state, action, after])
    np.testing.assert_array_equal(environment.features(state, action, after), expected)


def test_the_transition_model_is_the_environment():
    state = episodes("bang-bang", 3).states.reshape(-1, 11)
    action = np.resize(environment.actions, (len(state), 2))
    np.testing.assert_array_equal(
        environment.transition_model(state, action, np.random.default_rng(0)), step(state, action)
    )


def test_an_expert_reaches_the_goal():
    arrived = episodes("expert", 20).states[:, 50:, 8:10]
    assert (np.linalg.norm(arrived, axis=-1) < 0.05).mean() > 0.95
    assert set(POLICIES) == {"uniform", "bang-bang", "expert"}
