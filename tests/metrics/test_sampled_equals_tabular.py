"""Sampled metrics that leave nothing to chance are the exact ones, to rounding."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from dard import tabular
from dard.core.transitions import Transitions
from dard.metrics.dard import DARD
from dard.metrics.epic import EPIC
from dard.metrics.estimate import distance
from dard.metrics.pearson import Pearson
from dard.testing import TabularMDP, TabularReward, tabular_mdps

uniform_mdps = tabular_mdps().map(lambda mdp: TabularMDP(mdp.R, mdp.T, mdp.discount))
uniform_deterministic_mdps = tabular_mdps(deterministic=True).map(
    lambda mdp: TabularMDP(mdp.R, mdp.T, mdp.discount)
)


def every_transition(mdp: TabularMDP) -> Transitions:
    """Return all (s, a, s') in the order of the table, possible or not."""
    n, m = range(mdp.n_states), range(mdp.n_actions)
    return Transitions(*np.array(list(itertools.product(n, m, n))).T)


def full_epic(mdp: TabularMDP) -> EPIC:
    states, actions = np.arange(mdp.n_states), np.arange(mdp.n_actions)
    return EPIC(mdp.discount, estimator="full", states=states, actions=actions)


def full_dard(mdp: TabularMDP) -> DARD:
    actions = np.arange(mdp.n_actions)
    return DARD(mdp.transition_model(), actions, mdp.discount, estimator="full")


@given(mdp=uniform_mdps)
@settings(max_examples=30, deadline=None)
def test_epic_with_the_full_mesh(mdp: TabularMDP):
    found = full_epic(mdp).canonicalize(mdp.reward(), every_transition(mdp))
    exact = tabular.epic(mdp.R, mdp.discount).ravel()
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-15 * (1 + 4 * np.abs(mdp.R).max()))


@given(mdp=uniform_deterministic_mdps)
@settings(max_examples=30, deadline=None)
def test_dard_with_every_action_and_no_chance(mdp: TabularMDP):
    found = full_dard(mdp).canonicalize(mdp.reward(), every_transition(mdp))
    exact = tabular.dard(mdp.R, mdp.T, mdp.discount).ravel()
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-15 * (1 + 4 * np.abs(mdp.R).max()))


@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_the_sampled_dard_has_the_coupling_of_the_paper(coupling):
    rng = np.random.default_rng(0)
    T = np.eye(4)[rng.integers(0, 4, (4, 3))]
    mdp = TabularMDP(rng.normal(size=(4, 3, 4)), T, 0.9)
    found = full_dard(mdp).canonicalize(mdp.reward(), every_transition(mdp))
    other = tabular.dard(mdp.R, mdp.T, mdp.discount, coupling=coupling).ravel()
    assert np.abs(found - other).max() > 0.01


def test_distances_on_every_transition():
    rng = np.random.default_rng(1)
    T = np.eye(4)[rng.integers(0, 4, (4, 3))]
    mdp = TabularMDP(rng.normal(size=(4, 3, 4)), T, 0.9)
    data, other = every_transition(mdp), rng.normal(size=mdp.R.shape)
    everywhere = np.ones_like(mdp.R)
    exact = [
        (Pearson(), tabular.pearson_distance(mdp.R, other)),
        (full_epic(mdp), tabular.epic_distance(mdp.R, other, 0.9)),
        (full_dard(mdp), tabular.dard_distance(mdp.R, other, T, 0.9, everywhere)),
    ]
    for metric, expected in exact:
        found = distance(mdp.reward(), TabularReward(other), data, metric)
        assert float(found) == pytest.approx(expected, abs=1e-14)
