"""What the functions of the maze promise, one by one."""

import pickle

import numpy as np
import pytest
from tests.envs.point_maze.reference import run

import dard
from dard.envs import point_maze
from dard.envs.point_maze import LARGE_STEP, ORIGINAL, large_step, original

both = pytest.mark.parametrize("environment", [original, large_step], ids=lambda e: e.name)


def start(environment, count, seed=0):
    return environment.initial_state(np.random.default_rng(seed).random((count, 2)), None)


@both
def test_widths_are_as_declared(environment):
    state, action = start(environment, 7), np.zeros((7, environment.action_size))
    following = environment.transition(state, action, None, None)
    assert state.shape == following.shape == (7, environment.state_size)
    assert environment.observation(state).shape == (7, environment.observation_size)
    features = environment.features(state, action, following)
    assert features.shape == (7, environment.feature_size)
    assert environment.terminated(state).tolist() == [False] * 7
    assert (environment.reset_draws.uniform, environment.step_draws.uniform) == (2, 0)


def test_episodes_start_at_one_place_almost_at_rest():
    state = start(original, 20_000)
    np.testing.assert_array_equal(state[:, :3], np.tile([0.3, 0, 0], (len(state), 1)))
    assert np.abs(state[:, 3:5]).max() <= 0.01
    np.testing.assert_allclose(state[:, 3:5].std(axis=0), 0.02 / np.sqrt(12), rtol=0.02)
    assert not state[:, 5].any()


def test_actions_are_clipped():
    state = start(original, 2)
    wild, full = np.array([[3.0, -9.0], [1.0, -1.0]]), np.array([[1.0, -1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(
        original.transition(state, wild, None, None), original.transition(state, full, None, None)
    )


def test_the_action_grid_is_the_cross_product():
    np.testing.assert_array_equal(original.actions, dard.action_grid([-1, -1], [1, 1], 4))
    assert not original.actions.flags.writeable


@both
def test_the_transition_model_is_the_maze(environment):
    data = run(environment, "uniform", 5)
    np.testing.assert_array_equal(
        environment.transition_model(data.state, data.action, np.random.default_rng()),
        environment.transition(data.state, data.action, None, None),
    )


def test_no_policy_gets_through_a_wall():
    for environment in (original, large_step):
        place = run(environment, "bang-bang", 80).next_state[:, :2]
        # A wall begins to push at 0.052, and gives way by less than a centimetre.
        assert place.min() > ORIGINAL.low + 0.04
        assert place.max() < ORIGINAL.high - 0.04
        left, beside = place[:, 0] < ORIGINAL.barrier_end, ORIGINAL.barrier
        assert (np.abs(place[left, 1] - beside) > 0.04).all()


def test_nothing_moves_faster_than_the_top_speed():
    for environment in (original, large_step):
        speed = np.linalg.norm(run(environment, "bang-bang", 80).next_state[:, 3:5], axis=1)
        assert 0.8 * ORIGINAL.top_speed < speed.max() <= ORIGINAL.top_speed


@both
def test_environments_can_be_sent_to_other_processes(environment):
    copy = pickle.loads(pickle.dumps(environment))
    state = start(environment, 3)
    action = np.ones((3, 2))
    np.testing.assert_array_equal(
        copy.transition(state, action, None, None),
        environment.transition(state, action, None, None),
    )
    assert copy.constants == environment.constants


def test_the_room_names_its_environments():
    assert point_maze.environment is original
    assert (original.constants, large_step.constants) == (ORIGINAL, LARGE_STEP)
    assert original.discount == 0.99
