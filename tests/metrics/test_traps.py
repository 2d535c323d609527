"""The numerical traps: no variance, rounding, values that are not finite, shapes, sparse data."""

import warnings
from typing import Any

import numpy as np
import pytest

import dard
from dard.core.errors import (
    DardWarning,
    DataError,
    RewardError,
    RoundingWarning,
    UndefinedDistanceWarning,
    VarianceWarning,
)
from dard.testing import ShapedReward, SmoothPotential, SmoothReward

DISCOUNT = 0.95
REWARD, OTHER = SmoothReward(1), SmoothReward(2)
ACTIONS = dard.action_grid(-1, 1, 6)


def model(state: Any, action: Any, rng: Any) -> Any:
    return 0.7 * state + 0.5 * action


METRICS = {
    "Pearson": dard.Pearson(),
    "EPIC": dard.EPIC(DISCOUNT),
    "full EPIC": dard.EPIC(DISCOUNT, estimator="full", samples=64),
    "DARD": dard.DARD(model, ACTIONS, DISCOUNT),
    "full DARD": dard.DARD(model, ACTIONS, DISCOUNT, estimator="full"),
}
CANONICAL = {name: metric for name, metric in METRICS.items() if name != "Pearson"}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
every_canonical_metric = pytest.mark.parametrize("metric", CANONICAL.values(), ids=CANONICAL)


def steps(n: int = 1000, seed: int = 0) -> dard.Transitions:
    rng = np.random.default_rng(seed)
    state, action = rng.normal(size=(n, 1)), rng.uniform(-1, 1, (n, 1))
    return dard.Transitions(state, action, model(state, action, rng))


# No variance


def everywhere(value: float) -> Any:
    return lambda state, action, next_state: np.full(len(state), value)


@every_metric
@pytest.mark.parametrize("value", [0.1, 0.0, -7e5])
def test_a_constant_reward_is_named(metric, value):
    rewards = {"fine": REWARD, "flat": everywhere(value)}
    expected = "reward 'flat' has no variance on these transitions .it is constant"
    with pytest.warns(UndefinedDistanceWarning, match=expected):
        found = dard.compare(rewards, steps(), metric)
    estimate = next(iter(found.values())).estimate("fine", "flat")
    assert np.isnan(estimate.value)
    assert np.isnan(estimate.standard_error)
    assert np.isnan(estimate.interval()).all()
    assert estimate.undefined is not None
    assert "'flat'" in estimate.undefined
    assert str(estimate).startswith("undefined: reward 'flat'")


@every_canonical_metric
@pytest.mark.parametrize("size", [1.0, 1e6])
def test_pure_shaping_is_named(metric, size):
    potential = SmoothPotential(3)
    nothing = ShapedReward(everywhere(0), lambda s: size * potential(s), DISCOUNT)
    with pytest.warns(UndefinedDistanceWarning, match="'reward_b' .* left after canonicalisation"):
        assert np.isnan(dard.distance(REWARD, nothing, steps(), metric).value)
    canonical = metric.canonicalize(nothing, steps())
    np.testing.assert_allclose(canonical, 0, atol=1e-14 * size)  # the paper's figure 1


def test_a_sparse_reward_that_was_never_met_is_named():
    def goal(state: Any, action: Any, next_state: Any) -> Any:
        return (next_state[:, 0] > 50).astype(np.float32)

    for metric in METRICS.values():
        with pytest.warns(UndefinedDistanceWarning, match="reward 'reward_a' has no variance"):
            assert dard.distance(goal, REWARD, steps(), metric).undefined is not None


def test_a_variance_lost_in_inner_noise_is_not_called_a_constant():
    """Two replicates can disagree so much that their covariance is negative."""
    metric = dard.DARD(model, ACTIONS, DISCOUNT, action_samples=1)
    sentences = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DardWarning)
        for seed in range(40):
            found = dard.distance(
                lambda s, a, s2: a[:, 0] ** 3, OTHER, steps(6, seed), metric, seed
            )
            sentences.add(found.undefined)
    assert any("cannot be told from 0 with so few transitions" in str(s) for s in sentences)
    assert not any("constant" in str(sentence) for sentence in sentences)


def test_one_constant_among_others_leaves_the_others_alone():
    rewards = {"a": REWARD, "flat": everywhere(3), "b": OTHER}
    with pytest.warns(UndefinedDistanceWarning) as caught:
        found = dard.compare(rewards, steps(), METRICS["DARD"])["DARD"]
    assert len(caught) == 1
    alone = dard.compare({"a": REWARD, "b": OTHER}, steps(), METRICS["DARD"])["DARD"]
    expected = alone.estimate("a", "b")
    assert float(found.estimate("a", "b")) == pytest.approx(float(expected), abs=1e-14)
    np.testing.assert_array_equal(np.isnan(found.distances)[1], [True, False, True])


@every_metric
@pytest.mark.parametrize("scale", [1e-3, 3.0, 7e5])
@pytest.mark.filterwarnings("ignore::dard.core.errors.VarianceWarning")
def test_sparse_rewards_that_are_equal_up_to_scale(metric, scale):
    """Blocks in which nothing is rewarded do not spoil the others: D is 0, not 1e-8."""
    data = steps(20_000)
    order = np.argsort(data.next_state[:, 0])
    sparse = lambda s, a, s2: np.maximum(s2[:, 0] - 1, 0)  # noqa: E731
    other = ShapedReward(sparse, scale=scale, shift=5 * scale)
    found = dard.distance(sparse, other, data[order], metric)
    assert found.interval()[0] == 0
    assert found.interval()[1] <= found.rounding_floor < 1e-11


# Rounding


class Rounded:
    """A reward with large shaping, in which every step is rounded to `dtype`."""

    def __init__(self, size: float, dtype: Any) -> None:
        self.size, self.dtype = size, dtype

    def __call__(self, state: Any, action: Any, next_state: Any) -> Any:
        reward = REWARD(state, action, next_state).astype(self.dtype)
        now, then = ((self.size * np.sin(s[:, 0])).astype(self.dtype) for s in (state, next_state))
        return reward + self.dtype(DISCOUNT) * then - now


@every_canonical_metric
@pytest.mark.parametrize("size", [1e3, 1e5])
def test_float32_with_large_potentials_is_seen_through(metric, size):
    """The potentials cost a distance of about 7e-8 times their size, which the floor exceeds."""
    rewards = Rounded(0, np.float32), Rounded(size, np.float32)
    with (
        pytest.warns(VarianceWarning, match="'reward_b'"),
        pytest.warns(RoundingWarning, match=r"not above what rounding alone can give.*float64"),
    ):
        found = dard.distance(*rewards, steps(3000), metric)
    assert 5e-9 * size < found.value < 2e-7 * size
    assert found.value < found.rounding_floor < 30 * found.value
    assert found.interval()[0] == 0
    assert found.value < found.interval()[1]


@every_canonical_metric
def test_float32_with_huge_potentials_gives_no_number_that_looks_good(metric):
    rewards = Rounded(0, np.float32), Rounded(1e7, np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = dard.distance(*rewards, steps(3000), metric)
    assert {warning.category for warning in caught} & {RoundingWarning, UndefinedDistanceWarning}
    assert found.rounding_floor > 0.1
    assert found.undefined is not None or found.interval() == (0, min(1, found.rounding_floor))


@every_canonical_metric
@pytest.mark.parametrize("size", [1e3, 1e5, 1e7])
def test_float64_stays_exact(metric, size):
    with pytest.warns(VarianceWarning):
        found = dard.distance(
            Rounded(0, np.float64), Rounded(size, np.float64), steps(3000), metric
        )
    assert found.value <= found.rounding_floor < 1e-6
    assert found.value < 2e-8


def test_a_distance_well_above_rounding_is_not_warned_about():
    single = lambda s, a, s2: REWARD(s, a, s2).astype(np.float32)  # noqa: E731
    for metric in METRICS.values():
        found = dard.distance(single, OTHER, steps(), metric)
        assert 0 < found.rounding_floor < 1e-5 < found.value
        assert float(dard.distance(single, REWARD, steps(), metric)) < 1e-6


def test_small_time_steps_leave_little_variance():
    """Next states hardly differ from states: what is left of a smooth reward is small."""
    rng = np.random.default_rng(0)
    state, action = rng.normal(size=(2000, 1)), rng.uniform(-1, 1, (2000, 1))
    data = dard.Transitions(state, action, state + 0.001 * action)
    metric = dard.DARD(lambda s, a, rng: s + 0.001 * a, ACTIONS, 1.0)
    smooth = lambda s, a, s2: np.sin(s2[:, 0])  # noqa: E731
    with pytest.warns(VarianceWarning, match="canonical variance of reward 'reward_a' is .*e-"):
        found = dard.distance(smooth, OTHER, data, metric)
    assert found.variance_share[0] < 1e-4


# Values that are not finite, and too large


@every_metric
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_name_reward_count_and_transition(metric, value):
    data = steps()

    def broken(state: Any, action: Any, next_state: Any) -> Any:
        values = REWARD(state, action, next_state)
        values[np.isin(next_state[:, 0], data.next_state[[100, 200], 0])] = value
        return values

    text = rf"^reward 'reward_b' returned {value} for 2 of 1000 transitions; the first: state="
    with pytest.raises(RewardError, match=text) as caught:
        dard.distance(REWARD, broken, data, metric)
    # EPIC visits transitions in the order of its blocks, which the message need not follow.
    firsts = [f"next_state=[{data.next_state[k, 0]:.4f}"[:18] for k in (100, 200)]
    assert any(first in str(caught.value) for first in firsts)
    assert "\n" not in str(caught.value)


@every_metric
def test_huge_values_are_refused(metric):
    huge = ShapedReward(REWARD, scale=1e300)
    with pytest.raises(RewardError, match=r"'reward_a' is as large as .*e\+300: .* scale it down"):
        dard.distance(huge, OTHER, steps(), metric)


@every_metric
@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_large_and_small_values_are_fine(metric, scale):
    expected = dard.distance(REWARD, OTHER, steps(), metric)
    found = dard.distance(ShapedReward(REWARD, scale=scale), OTHER, steps(), metric)
    assert float(found) == pytest.approx(float(expected), abs=1e-12)


# Shapes


@every_metric
def test_column_vectors_and_lists_are_accepted(metric):
    expected = dard.distance(REWARD, OTHER, steps(), metric)
    column = lambda *columns: REWARD(*columns)[:, None]  # noqa: E731
    listed = lambda *columns: OTHER(*columns).tolist()  # noqa: E731
    assert dard.distance(column, listed, steps(), metric) == expected


def test_actions_without_a_feature_axis():
    data = steps()
    flat = dard.Transitions(data.state, data.action[:, 0], data.next_state)
    reward = lambda s, a, s2: s2[:, 0] * a.reshape(len(a))  # noqa: E731
    for actions in (ACTIONS, ACTIONS[:, 0]):
        metric = dard.DARD(lambda s, a, rng: s + a.reshape((len(a), 1)), actions, DISCOUNT)
        for some in (data, flat):
            assert float(dard.distance(reward, OTHER, some, metric)) == pytest.approx(
                float(dard.distance(reward, OTHER, data, metric)), abs=1e-12
            )


def test_integer_states_and_actions_and_booleans():
    rng = np.random.default_rng(0)
    state, action = rng.integers(0, 5, 500), rng.integers(0, 3, 500)
    data = dard.Transitions(state, action, (state + action) % 5)
    metric = dard.DARD(lambda s, a, rng: (s + a) % 5, np.arange(3), 0.9)
    table = rng.normal(size=(5, 3))
    counted = lambda s, a, s2: s2 * (a == 1)  # noqa: E731
    reached = lambda s, a, s2: s2 == 4  # noqa: E731
    for chosen in (metric, dard.EPIC(0.9), dard.Pearson()):
        for other in (counted, reached):
            found = dard.distance(lambda s, a, s2: table[s, a], other, data, chosen)
            assert 0 < float(found) < 1


@every_metric
@pytest.mark.parametrize("n", [0, 1])
def test_too_few_transitions_are_refused(metric, n):
    with pytest.raises(DataError, match=f"data has {n} transitions; a distance needs at least 2"):
        dard.distance(REWARD, OTHER, steps()[:n], metric)


@every_metric
def test_no_transitions_to_canonicalise(metric):
    with pytest.raises(DataError, match="data has no transitions"):
        metric.canonicalize(REWARD, steps()[:0])
    assert metric.canonicalize(REWARD, steps()[:1]).shape == (1,)
