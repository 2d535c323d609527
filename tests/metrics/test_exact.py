"""Numbers that are known without a computer, from the sampled metrics."""

import itertools
from typing import Any

import numpy as np
import pytest

import dard
from dard.testing import TabularMDP, TabularReward


def every_transition(n_states: int, n_actions: int) -> dard.Transitions:
    n, m = range(n_states), range(n_actions)
    return dard.Transitions(*np.array(list(itertools.product(n, m, n))).T)


def mesh(n_states: int, n_actions: int, discount: float = 0.9) -> dard.EPIC:
    """Return EPIC with every action and state in its batch: nothing is left to chance."""
    states, actions = np.arange(n_states), np.arange(n_actions)
    return dard.EPIC(discount, estimator="full", states=states, actions=actions)


def one_hot(n_states: int, state: int) -> Any:
    return lambda s, a, s2: s == state


@pytest.mark.parametrize("n", [2, 3, 9, 50])
def test_one_hot_rewards(n):
    found = dard.distance(one_hot(n, 0), one_hot(n, 1), every_transition(n, 2), mesh(n, 2))
    expected = {2: 1, 3: 0.8660, 9: 0.7500, 50: 0.7143}[n]
    assert float(found) == pytest.approx(np.sqrt(n / (2 * (n - 1))), abs=1e-14)
    assert float(found) == pytest.approx(expected, abs=5e-5)


def test_uncorrelated_rewards():
    first, second = (lambda s, a, s2: s - 1), (lambda s, a, s2: a - 1)
    found = dard.distance(first, second, every_transition(3, 3), dard.Pearson())
    assert float(found) == pytest.approx(0.7071, abs=5e-5)


def test_the_two_state_problem():
    """Action 0 stays, action 1 switches; only switching from 0 to 1 is rewarded."""
    T = np.stack([np.eye(2), np.eye(2)[::-1]], axis=1)
    R = np.zeros((2, 2, 2))
    R[0, 1, 1] = 1
    mdp, data = TabularMDP(R, T, 0.9), every_transition(2, 2)
    metric = dard.DARD(mdp.transition_model(), [0, 1], 0.9, estimator="full")
    # The shared coupling, but for the last term: .225 in row s = 0, s' = 0 instead of 0, and so on.
    shared = np.array([[-0.05, -0.5], [-0.05, 0.5], [0, 0], [0, 0]])
    last_term = np.array([[0, 0], [0.45, 0]]) - np.array([[0.225, 0], [0.225, 0]])
    found = metric.canonicalize(mdp.reward(), data).reshape(2, 2, 2)
    expected = shared.reshape(2, 2, 2) + last_term[:, None]
    np.testing.assert_allclose(found, expected, atol=1e-15)
    epic = [[-0.1375, -0.3625], [-0.1375, 0.6375], [0.1125, -0.1125], [0.1125, -0.1125]]
    found = mesh(2, 2).canonicalize(mdp.reward(), data).reshape(4, 2)
    np.testing.assert_allclose(found, epic, atol=1e-15)


def test_figure_1():
    """Zero reward plus any potential is worth nothing."""
    potential = np.random.default_rng(0).normal(size=9)
    shaping = TabularReward(0.9 * potential - potential[:, None, None] + np.zeros((9, 4, 9)))
    mdp = TabularMDP(np.zeros((9, 4, 9)), np.eye(9)[np.arange(36).reshape(9, 4) % 9], 0.9)
    data = every_transition(9, 4)
    for estimator in ("paired", "full"):
        for metric in (
            dard.DARD(mdp.transition_model(), np.arange(4), 0.9, estimator=estimator),
            dard.EPIC(0.9, estimator=estimator, samples=3),
        ):
            assert np.abs(metric.canonicalize(shaping, data)).max() < 2e-15
            assert np.abs(metric.canonicalize(one_hot(9, 3), data)).max() > 0.1


def test_pearson_does_not_canonicalise():
    data = every_transition(3, 2)
    assert (dard.Pearson().canonicalize(one_hot(3, 1), data) == (data.state == 1)).all()


@pytest.mark.parametrize("n", [1, 50, 65, 4100])
def test_states_along_a_trajectory_are_evaluated_once(n):
    """And the result is that of scattered transitions."""
    state = np.random.default_rng(0).normal(size=(n + 1, 2))
    data = dard.Transitions(state[:-1], state[:-1], state[1:])
    metric = dard.EPIC(0.9, estimator="full", samples=3)
    reward = lambda s, a, s2: np.sin(s[:, 0] * s2[:, 1] + a[:, 1])  # noqa: E731
    order = np.random.default_rng(1).permutation(n)
    given = dard.EPIC(0.9, "full", states=state[:3], actions=state[:2])
    np.testing.assert_allclose(
        given.canonicalize(reward, data)[order],
        given.canonicalize(reward, data[order]),
        atol=1e-14,
    )
    if n > 1:
        found = dard.distance(reward, lambda s, a, s2: s2[:, 0], data, metric)
        blocks = -(-n // 4096)
        assert found.evaluations == n + 3 * (n + blocks)
