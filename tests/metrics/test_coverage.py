"""95 % intervals contain the truth in 93 to 97 % of repeated samples of dependent transitions.

Each setting has 1,000 repetitions: a coverage of 95 % then shows as 93 to 97 % with probability
.996. Episodes of 50 transitions start in the stationary distribution of a walk whose states have
an autocorrelation of about 0.9.
"""

from typing import Any

import numpy as np
import pytest
from tests.metrics import problems

import dard
from dard import tabular
from dard.metrics.plan import Metric
from dard.testing import TabularMDP, TabularReward

REPETITIONS = 1000
ACTIONS = np.arange(5)
WALK = problems.walk()
REWARDS = {"near": problems.near(WALK), "far": problems.far(WALK)}


def metrics(mdp: TabularMDP) -> dict[str, Metric]:
    return {
        "DARD": dard.DARD(mdp.transition_model(), ACTIONS, mdp.discount),
        "EPIC": dard.EPIC(mdp.discount),
        "Pearson": dard.Pearson(),
    }


def truth(name: str, mdp: TabularMDP, other: np.ndarray) -> float:
    coverage = problems.coverage(mdp)
    if name == "DARD":
        return tabular.dard_distance(mdp.R, other, mdp.T, mdp.discount, coverage)
    if name == "EPIC":
        states = problems.stationary(mdp)
        return tabular.epic_distance(mdp.R, other, mdp.discount, coverage, states)
    return tabular.pearson_distance(mdp.R, other, coverage)


def covered(name: str, other: np.ndarray, datasets: Any, metric: Metric) -> float:
    """Return the share of data sets whose interval contains the truth."""
    rewards, exact = (WALK.reward(), TabularReward(other)), truth(name, WALK, other)
    hits = 0
    for seed, data in enumerate(datasets):
        low, high = dard.distance(*rewards, data, metric, seed=seed).interval(0.95)
        hits += low <= exact <= high
    return hits / REPETITIONS


@pytest.mark.parametrize("reward", ["near", "far"])
@pytest.mark.parametrize("name", ["DARD", "EPIC", "Pearson"])
def test_64_episodes(name, reward):
    datasets = problems.episodes(WALK, REPETITIONS, 64)
    assert 0.93 <= covered(name, REWARDS[reward], datasets, metrics(WALK)[name]) <= 0.97


@pytest.mark.parametrize(("name", "most"), [("DARD", 0.97), ("EPIC", 0.98), ("Pearson", 0.97)])
def test_16_episodes(name, most):
    """Student's t is what few groups need; the larger of EPIC's two errors is cautious here."""
    datasets = problems.episodes(WALK, REPETITIONS, 16)
    assert 0.93 <= covered(name, REWARDS["near"], datasets, metrics(WALK)[name]) <= most


def test_without_episode_ids_the_interval_is_too_short():
    """Negative control: shuffled transitions look independent, and are not."""
    other = REWARDS["far"] + 2 * np.arange(9)[:, None, None]
    whole, shuffled = [], []
    for data in problems.episodes(WALK, REPETITIONS, 16):
        whole.append(data)
        order = np.random.default_rng(len(data)).permutation(len(data))
        shuffled.append(
            dard.Transitions(data.state[order], data.action[order], data.next_state[order])
        )
    metric = dard.Pearson()
    assert covered("Pearson", other, shuffled, metric) < 0.9
    assert 0.92 <= covered("Pearson", other, whole, metric) <= 0.97


@pytest.mark.parametrize("name", ["DARD", "EPIC", "Pearson"])
def test_equal_rewards(name):
    """The interval contains 0 every time, and is no wider than rounding."""
    metric, rng = metrics(WALK)[name], np.random.default_rng(0)
    for seed, data in enumerate(problems.episodes(WALK, REPETITIONS // 2, 16)):
        potential = 0 if name == "Pearson" else 10 * rng.normal(size=9)
        same = TabularReward(shaped(3 * WALK.R + 2, potential))
        found = dard.distance(WALK.reward(), same, data, metric, seed=seed)
        low, high = found.interval()
        assert low == 0
        assert high <= found.rounding_floor < 1e-12


def shaped(R: np.ndarray, potential: Any) -> np.ndarray:
    phi = np.broadcast_to(potential, 9)
    return R + WALK.discount * phi - phi[:, None, None]
