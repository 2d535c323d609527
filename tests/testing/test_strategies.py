"""What the strategies draw, and what the tables mean as callables."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given, settings

from dard.core.transitions import Transitions
from dard.testing import (
    ShapedReward,
    SmoothPotential,
    SmoothReward,
    TabularMDP,
    potentials,
    rewards,
    tabular_mdps,
    transitions,
)


@given(mdp=tabular_mdps(max_states=4, max_actions=2))
def test_tabular_mdps_are_valid(mdp: TabularMDP):
    n, m = mdp.n_states, mdp.n_actions
    assert n in (2, 3, 4)
    assert m in (1, 2)
    assert mdp.R.shape == mdp.T.shape == (n, m, n)
    assert mdp.T.min() >= 0
    np.testing.assert_allclose(mdp.T.sum(axis=2), 1, atol=1e-12)
    for chances, size in ((mdp.state_dist, n), (mdp.action_dist, m)):
        assert chances is None or (chances.shape == (size,) and chances.min() > 0)
        assert chances is None or chances.sum() == pytest.approx(1)


@given(mdp=tabular_mdps(deterministic=True))
def test_deterministic_mdps(mdp: TabularMDP):
    assert set(np.unique(mdp.T)) == {0, 1}
    state = np.repeat(np.arange(mdp.n_states), mdp.n_actions)
    action = np.tile(np.arange(mdp.n_actions), mdp.n_states)
    next_state = mdp.transition_model()(state, action, None)
    assert (mdp.T[state, action, next_state] == 1).all()


@given(mdp=tabular_mdps(deterministic=False))
def test_stochastic_mdps(mdp: TabularMDP):
    assert mdp.T.max() < 1


def test_both_kinds_of_mdp_are_drawn():
    find(tabular_mdps(), lambda mdp: mdp.T.max() < 1)
    find(tabular_mdps(), lambda mdp: set(np.unique(mdp.T)) == {0, 1})


def test_the_model_draws_from_the_table():
    T = np.array([[[0, 0.25, 0.75, 0]], [[1, 0, 0, 0]], [[0.5, 0, 0, 0.5]], [[0, 0, 0, 1]]])
    mdp = TabularMDP(np.zeros((4, 1, 4)), T, 0.9)
    state = np.repeat(np.arange(4), 20_000)
    drawn = mdp.transition_model()(state, np.zeros_like(state), np.random.default_rng(0))
    counts = np.array([np.bincount(drawn[state == s], minlength=4) for s in range(4)]) / 20_000
    np.testing.assert_allclose(counts, T[:, 0], atol=0.015)
    assert (counts[T[:, 0] == 0] == 0).all()


def test_the_least_draw_is_a_possible_state():
    class Zeros:
        def random(self, shape):
            return np.zeros(shape)

    T = np.array([[[0, 0.25, 0.75]], [[0, 0, 1]], [[1, 0, 0]]])
    model = TabularMDP(np.zeros((3, 1, 3)), T, 0.9).transition_model()
    np.testing.assert_array_equal(model(np.arange(3), np.zeros(3, int), Zeros()), [1, 2, 0])


@given(mdp=tabular_mdps())
@settings(max_examples=20)
def test_callables_keep_shapes(mdp: TabularMDP):
    data = mdp.transitions(15, seed=3)
    expected = mdp.R[data.state, data.action, data.next_state]
    columns = [x[:, None] for x in (data.state, data.action, data.next_state)]
    np.testing.assert_array_equal(mdp.reward()(*columns), expected)
    assert (mdp.T[data.state, data.action, data.next_state] > 0).all()
    model = mdp.transition_model()
    assert model(columns[0], columns[1], np.random.default_rng(0)).shape == (15, 1)
    again = mdp.transitions(15, seed=3)
    np.testing.assert_array_equal(again.next_state, data.next_state)


def test_shaped_mdp():
    mdp = TabularMDP(np.zeros((2, 1, 2)), np.full((2, 1, 2), 0.5), 0.9)
    np.testing.assert_allclose(mdp.shaped([1, 10]).R[:, 0], [[-0.1, 8], [-9.1, -1]], atol=1e-15)


def test_transitions_follow_the_distributions():
    chances = np.array([0.2, 0.8])
    mdp = TabularMDP(np.zeros((2, 2, 2)), np.full((2, 2, 2), 0.5), 0.9, chances, chances[::-1])
    data = mdp.transitions(20_000)
    assert data.state.mean() == pytest.approx(0.8, abs=0.015)
    assert data.action.mean() == pytest.approx(0.2, abs=0.015)
    assert abs(np.corrcoef(data.state, data.action)[0, 1]) < 0.03


@given(data=transitions(min_size=3, max_size=9, max_dimensions=2, episodes=True))
def test_transitions_have_the_asked_sizes(data: Transitions):
    assert 3 <= len(data) <= 9
    assert data.state.shape[1] <= 2
    assert data.action.shape[1] <= 2
    assert data.episode is not None
    assert data.episode.shape == (len(data),)


def test_transitions_with_and_without_episodes_are_drawn():
    find(transitions(), lambda data: data.episode is None)
    find(transitions(), lambda data: data.episode is not None)


@given(reward=rewards(), potential=potentials(), data=transitions())
def test_rewards_and_potentials_are_fixed_smooth_functions(reward, potential, data):
    columns = (data.state, data.action, data.next_state)
    values = reward(*columns)
    assert values.shape == potential(data.state).shape == (len(data),)
    np.testing.assert_array_equal(eval(repr(reward))(*columns), values)
    np.testing.assert_array_equal(eval(repr(potential))(data.state), potential(data.state))
    moved = reward(data.state, data.action, data.next_state + 1e-6)
    np.testing.assert_allclose(moved, values, atol=1e-3)


def test_other_seeds_give_other_functions():
    state = np.linspace(0, 1, 20)[:, None]
    assert np.ptp(SmoothReward(1)(state, state, state) - SmoothReward(2)(state, state, state)) > 0.1
    assert np.ptp(SmoothPotential(1)(state) - SmoothPotential(2)(state)) > 0.1


def test_shaped_reward():
    reward = ShapedReward(
        lambda s, a, z: z, potential=lambda s: 10 * s[:, 0], discount=0.5, scale=2, shift=7
    )
    state, next_state = np.array([[1.0], [2]]), np.array([[3.0], [4]])
    np.testing.assert_allclose(reward(state, state, next_state), [6 + 7 + 5, 8 + 7])


@pytest.mark.parametrize("strategy", ["tabular_mdps", "transitions", "rewards", "potentials"])
def test_without_hypothesis_only_strategies_fail(strategy: str):
    program = f"""
import sys
sys.modules["hypothesis"] = None
import dard.testing
from dard.core.errors import MissingExtraError
try:
    dard.testing.{strategy}()
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install hypothesis" in done.stdout
