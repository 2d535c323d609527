"""What the metrics say of the rewards of Bouncing Balls, under the uniform policy."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.envs.bouncing_balls.data import around_relocations, uniform_policy

import dard
from dard.core.transitions import Transitions
from dard.envs.bouncing_balls import environment, feasibility, ground_truth, shaped

DISCOUNT = environment.discount
PAIRED, FULL = (
    dard.DARD(environment.transition_model, environment.actions, DISCOUNT, estimator=estimator)
    for estimator in ("paired", "full")
)


@pytest.fixture(scope="module")
def data() -> Transitions:
    return uniform_policy(500)


@pytest.fixture(scope="module")
def sample(data) -> Transitions:
    relocations = around_relocations(data, 100)
    return Transitions.concatenate([relocations, data[:5_000]])


def in_torch(data: Transitions, dtype: Any) -> Transitions:
    columns = (data.state, data.action, data.next_state)
    return Transitions(*(torch.tensor(np.array(x), dtype=dtype) for x in columns))


@pytest.mark.parametrize("reward", [shaped, feasibility])
def test_dard_is_zero_to_rounding(reward, data, sample) -> None:
    assert float(dard.distance(ground_truth, reward, sample, PAIRED)) < 1e-9
    few = around_relocations(data, 20)
    assert float(dard.distance(ground_truth, reward, few, FULL)) < 1e-9


@pytest.mark.filterwarnings("ignore::dard.core.errors.RoundingWarning")
@pytest.mark.parametrize("reward", [shaped, feasibility])
def test_dard_is_zero_to_rounding_in_float32(reward, sample) -> None:
    single = in_torch(sample, torch.float32)
    assert float(dard.distance(ground_truth, reward, single, PAIRED)) < 1e-5


def test_dard_would_see_a_pair_that_is_not_feasible(sample) -> None:
    def strict(state, action, next_state):
        """Return FEASIBILITY that knows of no relocation in the pair (S', S'')."""
        same_goal = (state[:, 24:] == next_state[:, 24:]).all(axis=1)
        at_goal = np.hypot(*(state[:, 24:] - state[:, :2]).T) < 2
        values = shaped(state, action, next_state)
        return np.where(same_goal | at_goal, values, -values)

    assert float(dard.distance(ground_truth, strict, sample, PAIRED)) > 1e-3


def test_epic_takes_feasibility_for_as_far_as_pearson_takes_shaped(data) -> None:
    some, metric = data[:20_000], dard.EPIC(DISCOUNT)
    assert float(dard.distance(ground_truth, shaped, some, metric)) < 1e-6
    epic = dard.distance(ground_truth, feasibility, some, metric)
    pearson = dard.distance(ground_truth, shaped, some, dard.Pearson())
    assert epic.value == pytest.approx(pearson.value, abs=3 * epic.standard_error)
    assert 0.01 < epic.standard_error < 0.03


def calibration(seed: int) -> tuple[float, float]:
    """Return the goals in an episode and the Pearson distance of SHAPED, of 500,000 transitions."""
    data = uniform_policy(1250, seed)
    goals = ground_truth(data.state, data.action, data.next_state).sum()
    return goals / 1250, dard.distance(ground_truth, shaped, data, dard.Pearson()).value


def test_goals_are_as_rare_as_the_papers_numbers_imply() -> None:
    goals, pearson = np.mean([calibration(seed) for seed in range(5)], axis=0)
    assert 0.3 < goals < 0.4
    # The paper has 0.642.
    assert pearson == pytest.approx(0.642, abs=0.01)
