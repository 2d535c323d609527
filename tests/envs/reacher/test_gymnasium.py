"""With Gymnasium's frame skip and reward, the arm is Gymnasium's Reacher."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from tests.envs.reacher.reference import start, uniform

from dard.envs import reacher
from dard.envs.reacher import dynamics

GYMNASIUM_FRAME_SKIP = 2
STEPS = 50
STARTS = 40


def gymnasium_reward(state, action):
    """Return minus the distance, minus the squared action, as Gymnasium measures them.

    MuJoCo's step leaves the positions of bodies as they were at the last stage of the
    Runge-Kutta method, not at the end of the step, and Gymnasium takes the distance from them.
    """
    before = reacher.simulate(state, action, GYMNASIUM_FRAME_SKIP - 1)
    angles, speeds = before[:, 0:2], before[:, 4:6]
    h = reacher.CONSTANTS.time_step
    torques = reacher.CONSTANTS.gear * action[:, 0], reacher.CONSTANTS.gear * action[:, 1]

    def acceleration(angles, speeds):
        v1, v2 = speeds.T
        return np.stack(dynamics.acceleration(angles[:, 1], v1, v2, torques), axis=1)

    second = acceleration(angles + h / 2 * speeds, speeds + h / 2 * acceleration(angles, speeds))
    tip = dynamics.fingertip(*(angles + h * (speeds + h / 2 * second)).T)
    distance = np.linalg.norm(np.stack(tip, axis=1) - state[:, 2:4], axis=1)
    return -distance - np.sum(action**2, axis=1)


@pytest.fixture(scope="module")
def recorded():
    """Return states, actions, MuJoCo's next states, rewards and observations of Gymnasium."""
    rng = np.random.default_rng(0)
    env: Any = gymnasium.make("Reacher-v5").unwrapped
    rows = []
    for state in start(STARTS, rng):
        env.reset(seed=0)
        # Some start near the elbow's limit and fast, the others as Gymnasium does.
        state[1], state[5] = rng.choice([(state[1], state[5]), (-2.9, -20.0), (2.9, 20.0)])
        env.set_state(state[:4], state[4:8])
        for action in uniform(np.zeros((STEPS, 2)), rng):
            before = np.concatenate([env.data.qpos, env.data.qvel])
            observation, reward, *_ = env.step(action)
            after = np.concatenate([env.data.qpos, env.data.qvel])
            rows.append((before, action, after, reward, observation))
    env.close()
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    columns[0] = np.concatenate([columns[0], np.zeros((len(rows), 3))], axis=1)
    return columns


def test_next_states_are_gymnasiums(recorded):
    state, action, after, _, observation = recorded
    moved = reacher.simulate(state, action, GYMNASIUM_FRAME_SKIP)
    on_limit = np.max([np.abs(state[:, 1]), np.abs(after[:, 1])], axis=0) > 2.8
    difference = np.abs(moved[:, :8] - after).max(axis=1)
    assert on_limit.sum() > 50
    assert difference[~on_limit].max() < 1e-12
    assert difference.max() < 1e-6
    np.testing.assert_allclose(np.cos(moved[:, 0:2]), observation[:, 0:2], atol=1e-6)
    np.testing.assert_allclose(np.sin(moved[:, 0:2]), observation[:, 2:4], atol=1e-6)
    np.testing.assert_allclose(moved[:, 2:6], observation[:, 4:8], atol=1e-6)


def test_rewards_are_gymnasiums(recorded):
    state, action, _, reward, _ = recorded
    np.testing.assert_allclose(gymnasium_reward(state, action), reward, rtol=0, atol=1e-12)


def test_another_frame_skip_is_found_out(recorded):
    state, action, after, _, _ = recorded
    moved = reacher.simulate(state, action, reacher.CONSTANTS.frame_skip)
    assert np.abs(moved[:, :8] - after).max(axis=1).min() > 1e-3
