"""Paired estimators have no bias and the error falls as 1 / sqrt(n); look-alikes are caught."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.metrics import problems

import dard
from dard import tabular
from dard.metrics import epic
from dard.metrics.dard import DARDPlan
from dard.testing import TabularMDP, TabularReward

ACTIONS = np.arange(5)


def squared(metric: Any, mdp: TabularMDP, other: Any, datasets: Any) -> np.ndarray:
    """Return the squared distance on each of the data sets, each with a seed of its own."""
    rewards = mdp.reward(), TabularReward(other)
    return np.array(
        [dard.distance(*rewards, data, metric, seed=k).squared for k, data in enumerate(datasets)]
    )


def independent(mdp: TabularMDP, repetitions: int, n: int) -> Any:
    return (mdp.transitions(n, seed=k) for k in range(repetitions))


def standard_errors_off(found: np.ndarray, truth: float) -> float:
    """Return how many standard errors the mean is above the squared truth."""
    return float((found.mean() - truth**2) / (found.std(ddof=1) / np.sqrt(len(found))))


def one_set(plan: DARDPlan, rows: Any, number: int) -> Any:
    """Draw one set of actions, and pair it with a permutation of itself."""
    first, _ = two_sets(plan, rows, number)
    order = np.random.default_rng(number).random(first.shape).argsort(axis=1)
    return first, np.take_along_axis(first, order, axis=1)


two_sets = DARDPlan._action_sets


# DARD: two sets of actions


@pytest.mark.parametrize("samples", [1, 2, 4])
def test_two_sets_of_actions_have_no_bias(samples):
    mdp, other = problems.coupled()
    truth = tabular.dard_distance(mdp.R, other, mdp.T, mdp.discount)
    assert truth == pytest.approx(0.5490, abs=5e-5)
    metric = dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount, action_samples=samples)
    found = squared(metric, mdp, other, independent(mdp, 150, 4000))
    assert abs(standard_errors_off(found, truth)) < 4


@pytest.mark.parametrize("samples", [1, 2])
def test_one_set_of_actions_is_caught(samples, monkeypatch):
    monkeypatch.setattr(DARDPlan, "_action_sets", one_set)
    mdp, other = problems.coupled()
    truth = tabular.dard_distance(mdp.R, other, mdp.T, mdp.discount)
    metric = dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount, action_samples=samples)
    found = squared(metric, mdp, other, independent(mdp, 150, 4000))
    assert abs(standard_errors_off(found, truth)) > 8


@pytest.mark.parametrize("next_states", [1, 3])
def test_chance_in_the_dynamics_leaves_no_bias(next_states):
    mdp = problems.walk()
    truth = tabular.dard_distance(mdp.R, problems.far(mdp), mdp.T, mdp.discount)
    metric = dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount, next_states, action_samples=2)
    found = squared(metric, mdp, problems.far(mdp), independent(mdp, 100, 3000))
    assert abs(standard_errors_off(found, truth)) < 4


# EPIC: random blocks, two replicates


def epic_truth(mdp: TabularMDP, other: Any) -> float:
    coverage, states = problems.coverage(mdp), problems.stationary(mdp)
    return tabular.epic_distance(mdp.R, other, mdp.discount, coverage, states)


def slow() -> tuple[TabularMDP, np.ndarray]:
    """Return a walk that hardly moves in an episode, and rewards that agree between episodes."""
    mdp, rng = problems.walk(), np.random.default_rng(8)
    place = np.arange(9)[:, None, None]
    rewards = place + 2 * rng.normal(size=(2, *mdp.R.shape))
    moved = 0.95 * np.eye(9)[:, None] + 0.05 * mdp.T
    return replace(mdp, R=rewards[0], T=moved), rewards[1]


@pytest.mark.parametrize("samples", [1, 4])
def test_random_blocks_have_no_bias(samples):
    mdp, other = slow()
    found = squared(
        dard.EPIC(mdp.discount, samples=samples),
        mdp,
        other,
        problems.episodes(mdp, 200, 128),
    )
    assert abs(standard_errors_off(found, epic_truth(mdp, other))) < 4


def test_contiguous_blocks_are_caught(monkeypatch):
    monkeypatch.setattr(epic, "KeyedPermutation", lambda size, seed: lambda position: position)
    mdp, other = slow()
    data = problems.episodes(mdp, 200, 128)
    found = squared(dard.EPIC(mdp.discount, samples=4), mdp, other, data)
    assert abs(standard_errors_off(found, epic_truth(mdp, other))) > 8


@pytest.mark.parametrize("name", ["DARD", "EPIC"])
def test_the_average_of_both_replicates_is_caught(name):
    mdp = problems.walk()
    # What the second reward says about impossible transitions is heard in EPIC's inner draws.
    impossible = 3 * np.random.default_rng(9).normal(size=mdp.R.shape) * (mdp.T == 0)
    other = mdp.R + impossible
    metric: Any = dard.EPIC(mdp.discount, samples=2)
    truth = epic_truth(mdp, other)
    if name == "DARD":
        other = problems.near(mdp)
        metric = dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount, action_samples=2)
        truth = tabular.dard_distance(mdp.R, other, mdp.T, mdp.discount, problems.coverage(mdp))
    datasets = list(problems.episodes(mdp, 100, 64))
    assert abs(standard_errors_off(squared(metric, mdp, other, datasets), truth)) < 4
    averaged = []
    for k, data in enumerate(datasets):
        rewards = mdp.reward(), TabularReward(other)
        sides = [metric.canonicalize(reward, data, seed=k) for reward in rewards]
        averaged.append(tabular.pearson_distance(*sides) ** 2)
    assert standard_errors_off(np.array(averaged), truth) > 8


# Convergence


def slope(sizes: list[int], errors: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))


@pytest.mark.parametrize("name", ["DARD 1", "DARD 2", "DARD 4", "EPIC", "Pearson"])
def test_the_error_falls_as_the_root_of_the_sample(name):
    """With 60 repetitions a slope is known to 0.05."""
    mdp = problems.walk()
    other, coverage = problems.far(mdp), problems.coverage(mdp)
    if name == "EPIC":
        metric, truth = dard.EPIC(mdp.discount), epic_truth(mdp, other)
    elif name == "Pearson":
        metric, truth = dard.Pearson(), tabular.pearson_distance(mdp.R, other, coverage)
    else:
        model, draws = mdp.transition_model(), int(name[-1])
        metric = dard.DARD(model, ACTIONS, mdp.discount, action_samples=draws)
        truth = tabular.dard_distance(mdp.R, other, mdp.T, mdp.discount, coverage)
    counts, errors = [16, 64, 256], []
    for count in counts:
        datasets = problems.episodes(mdp, 60, count, seed=1)
        errors.append(root_mean_square(squared(metric, mdp, other, datasets) - truth**2))
    assert slope(counts, errors) == pytest.approx(-0.5, abs=0.15)


def test_canonical_rewards_converge_with_the_draws():
    """Of a reward on all transitions, to the exact table, for a stochastic model and EPIC."""
    mdp = problems.walk()
    every = dard.Transitions(*np.array(list(itertools.product(range(9), ACTIONS, range(9)))).T)
    exact = {
        "DARD": tabular.dard(mdp.R, mdp.T, mdp.discount).ravel(),
        "EPIC": tabular.epic(mdp.R, mdp.discount).ravel(),
    }

    def metric(name: str, draws: int) -> Any:
        if name == "EPIC":
            return dard.EPIC(mdp.discount, "full", draws, states=np.arange(9), actions=ACTIONS)
        return dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount, draws, "full")

    for name, sizes in (("DARD", [1, 3, 9]), ("EPIC", [16, 64, 256])):
        errors = []
        for draws in sizes:
            found = [
                metric(name, draws).canonicalize(mdp.reward(), every, seed=k) for k in range(20)
            ]
            errors.append(root_mean_square(np.array(found) - exact[name]))
            # No bias in any of them either: the mean of 20 is nearer by about sqrt(20).
            assert root_mean_square(np.mean(found, axis=0) - exact[name]) < 0.4 * errors[-1]
        assert slope(sizes, errors) == pytest.approx(-0.5, abs=0.15)
