"""The arm in closed form against MuJoCo."""

import dataclasses
import functools

import numpy as np
import pytest
from tests.envs.reacher.reference import (
    FRAME_SKIP,
    POLICIES,
    Episodes,
    episodes,
    error,
    transitions,
)

from dard.envs import reacher
from dard.envs.reacher import dynamics

EPISODES = 350
FEW = 100
OFF_LIMIT = 1e-12
ON_LIMIT = 1e-6
SOLVER = 1e-8
"""Tolerance at which MuJoCo's solver stops unless told otherwise."""

run = functools.cache(episodes)


def away(run: Episodes) -> float:
    """Return how far the arm and MuJoCo ever get from each other when both run freely."""
    return np.abs(run.states[..., :8] - run.positions[:, ::FRAME_SKIP]).max()


def test_there_are_a_hundred_thousand_transitions_and_many_reach_the_limit():
    assert sum(run(policy, EPISODES).actions[..., 0].size for policy in POLICIES) >= 100_000
    share = {policy: transitions(run(policy, EPISODES))[2].mean() for policy in POLICIES}
    assert share["uniform"] > 0.2
    assert share["bang-bang"] > 0.2
    assert share["expert"] > 0.01


@pytest.mark.parametrize("policy", POLICIES)
def test_a_transition_from_mujocos_own_state_is_mujocos(policy):
    on_limit = transitions(run(policy, EPISODES))[2]
    errors = error(run(policy, EPISODES))
    assert errors[~on_limit].max() < OFF_LIMIT
    assert np.quantile(errors, 0.9999) < ON_LIMIT
    # About one transition in 50,000 is one where MuJoCo's solver stops a little earlier still.
    assert errors.max() < 5 * ON_LIMIT


@pytest.mark.parametrize("policy", ["uniform", "bang-bang"])
def test_what_differs_at_the_limit_shrinks_with_the_tolerance_of_mujocos_solver(policy):
    loose, tighter = (error(run(policy, FEW, tol)).max() for tol in (SOLVER, SOLVER / 100))
    assert loose > 5 * tighter


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_differs_once_mujocos_solver_goes_on_to_the_end(policy):
    exact = run(policy, FEW, 0.0)
    assert error(exact).max() < OFF_LIMIT
    assert away(exact) < 1e-6


@pytest.mark.parametrize(
    ("policy", "bound"), [("uniform", 1e-4), ("bang-bang", 1e-4), ("expert", 1e-5)]
)
def test_an_episode_stays_beside_mujocos(policy, bound):
    assert away(run(policy, EPISODES)) < bound


def test_an_arm_without_its_limit_is_found_out(monkeypatch):
    on_limit = transitions(run("uniform", EPISODES))[2]
    without = dataclasses.replace(reacher.CONSTANTS, elbow_limit=1e6)
    monkeypatch.setattr(dynamics, "CONSTANTS", without)
    errors = error(run("uniform", EPISODES))
    assert errors[~on_limit].max() < OFF_LIMIT
    assert errors.max() > 1


def test_the_rest_of_the_state_follows():
    states = run("uniform", EPISODES).states
    q1, q2 = states[..., 0], states[..., 1]
    elbow = 0.1 * np.stack([np.cos(q1), np.sin(q1)], axis=-1)
    tip = elbow + 0.11 * np.stack([np.cos(q1 + q2), np.sin(q1 + q2)], axis=-1)
    np.testing.assert_allclose(states[..., 8:10], tip - states[..., 2:4], atol=1e-15)
    assert (states[..., 2:4] == states[:, :1, 2:4]).all()
    assert not states[..., [6, 7, 10]].any()
