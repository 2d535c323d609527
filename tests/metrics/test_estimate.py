"""What an estimate says: value, error, interval, cost, progress."""

import warnings
from typing import Any

import numpy as np
import pytest

import dard
from dard.core.callables import bind_reward
from dard.core.errors import ConfigurationError, UndefinedDistanceWarning
from dard.core.student import student_quantile
from dard.metrics.estimate import Estimate
from dard.testing import SmoothReward

REWARD, OTHER = SmoothReward(1), SmoothReward(2)
ACTIONS = dard.action_grid([-1, -1], [1, 1], 8)


def model(state: Any, action: Any, rng: Any) -> Any:
    return 0.7 * state + 0.5 * action


def trajectory(n: int) -> dard.Transitions:
    rng = np.random.default_rng(0)
    state, action = rng.normal(size=(n + 1, 2)), rng.uniform(-1, 1, (n, 2))
    return dard.Transitions(state[:-1], action, state[1:])


def scattered(n: int) -> dard.Transitions:
    rng = np.random.default_rng(0)
    return dard.Transitions(*rng.normal(size=(3, n, 2)))


def estimate(squared: float, error: float, floor: float = 1e-15, groups: int = 64) -> Estimate:
    value = float(np.sqrt(np.clip(squared, 0, 1)))
    return Estimate(value, 0.01, squared, error, 25, 10, groups, floor, (0.5, 0.5), 0, ("a", "b"))


class Counting:
    """A reward that counts the rows that it was asked for."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, state: Any, action: Any, next_state: Any) -> Any:
        self.rows += len(state)
        return REWARD(state, action, next_state)


@pytest.mark.parametrize(
    ("metric", "each"),
    [
        (dard.Pearson(), 1),
        (dard.DARD(model, ACTIONS), 25),
        (dard.DARD(model, ACTIONS, action_samples=2), 13),
        (dard.DARD(model, ACTIONS, next_states=3, action_samples=1), 19),
        (dard.DARD(model, ACTIONS[:2]), 13),
        (dard.DARD(model, ACTIONS, estimator="full"), 4225),
        (dard.DARD(model, ACTIONS[:3], next_states=2, estimator="full"), 49),
        (dard.EPIC(), 33),
        (dard.EPIC(samples=4), 17),
        (dard.EPIC(estimator="full", samples=50), 101),
        (dard.EPIC(estimator="full", states=ACTIONS[:5], actions=ACTIONS[:4]), 41),
    ],
)
def test_evaluations_are_counted_and_are_as_documented(metric, each):
    counting, probed, data = Counting(), Counting(), scattered(200)
    found = dard.distance(counting, OTHER, data, metric)
    bind_reward("probed", probed, data)
    assert found.evaluations == each * 200 == counting.rows - probed.rows
    assert found.transitions == 200
    assert metric.plan(data, 0).queries == found.evaluations


def test_trajectories_cost_full_epic_half():
    data = trajectory(1000)
    found = dard.distance(REWARD, OTHER, data, dard.EPIC(estimator="full", samples=50))
    assert found.evaluations == 1000 + 1001 * 50


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.95, 0.999])
def test_the_interval_is_students_t_about_the_squared_distance(chance):
    found = estimate(0.04, 0.005, groups=20)
    half = student_quantile((1 + chance) / 2, 19) * 0.005
    assert found.interval(chance) == pytest.approx((np.sqrt(0.04 - half), np.sqrt(0.04 + half)))


def test_intervals_grow_with_confidence_and_contain_the_value():
    for found in (
        estimate(0.04, 0.005),
        estimate(0.9, 0.3),
        estimate(-0.001, 0.003),
        dard.distance(REWARD, OTHER, scattered(500), dard.EPIC()),
    ):
        intervals = [found.interval(chance) for chance in (0.5, 0.8, 0.95, 0.999)]
        assert all(0 <= low <= found.value <= high <= 1 for low, high in intervals)
        lows, highs = zip(*intervals, strict=True)
        assert sorted(lows, reverse=True) == list(lows)
        assert sorted(highs) == list(highs)
        assert lows[0] < highs[0] <= highs[1]


def test_below_the_rounding_floor_the_interval_begins_at_0():
    assert estimate(1e-8, 1e-10, floor=1e-3).interval() == (0, 1e-3)
    low, high = estimate(1e-8, 1e-10, floor=1e-5).interval()
    assert 9e-5 < low < 1e-4 < high


def test_a_slightly_negative_square_keeps_an_honest_interval():
    found = estimate(-0.001, 0.002)
    half = student_quantile(0.975, 63) * 0.002
    assert found.interval() == (0, pytest.approx(np.sqrt(half - 0.001)))


@pytest.mark.parametrize("chance", [0, 1, 95, -0.5, float("nan")])
def test_confidence_must_be_a_probability(chance):
    with pytest.raises(ConfigurationError, match=r"confidence is .*; expected between 0 and 1"):
        estimate(0.1, 0.1).interval(chance)


def test_as_number_and_as_text():
    found = dard.distance(REWARD, OTHER, scattered(500), dard.Pearson(), seed=5)
    assert float(found) == found.value
    assert f"{found}".startswith(f"{found.value:.4g} ± {found.standard_error:.2g} (95 %: ")
    assert (found.seed, found.names) == (5, ("reward_a", "reward_b"))
    assert found.undefined is None


def test_the_standard_error_is_that_of_repeated_samples():
    rng = np.random.default_rng(0)
    found = [
        dard.distance(REWARD, OTHER, dard.Transitions(*rng.normal(size=(3, 640, 1))), dard.DARD(
            lambda s, a, rng: s + a, ACTIONS[:8, 1:]), seed)
        for seed in range(150)
    ]  # fmt: skip
    spread = np.std([float(one) for one in found])
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_counts_every_block(workers):
    heard: list[tuple[int, int]] = []
    dard.distance(
        REWARD,
        OTHER,
        scattered(30_000),
        dard.Pearson(),
        workers=workers,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert heard == [(k, 4) for k in (1, 2, 3, 4)]


def test_warnings_point_at_the_callers_line():
    constant = lambda s, a, s2: 0 * s[:, 0]  # noqa: E731
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dard.distance(REWARD, constant, scattered(50), dard.Pearson())
        dard.compare({"a": REWARD, "b": constant}, scattered(50), dard.Pearson())
    assert [warning.category for warning in caught] == [UndefinedDistanceWarning] * 2
    assert [warning.filename for warning in caught] == [__file__] * 2
