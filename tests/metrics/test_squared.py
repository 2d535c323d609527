import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.moments_reference import comoments, deviations, sample

from dard.core.comoments import Comoments, Pairs
from dard.core.moments import BlockMoments, GroupMoments
from dard.metrics.squared import estimate_squared, squared_distances

PAIR = Pairs.all(2)


def direct(x: np.ndarray, y: np.ndarray) -> float:
    """Return a quarter of the squared distance of unit vectors, in extended precision."""
    units = []
    for column in (x, y):
        centred = column.astype(np.longdouble) - column.astype(np.longdouble).mean()
        units.append(centred / np.sqrt((centred**2).sum()))
    return float(((units[0] - units[1]) ** 2).sum() / 4)


def of(canonical: np.ndarray, groups: int = 10) -> GroupMoments:
    n = canonical.shape[1]
    labels, scale = np.arange(n) * groups // n, deviations(canonical)
    return GroupMoments.of(canonical, labels, groups, scale, Pairs.all(canonical.shape[2]))


@given(seed=st.integers(0, 10_000), n=st.integers(3, 200))
def test_it_is_the_squared_pearson_distance(seed, n):
    canonical = sample(seed, 1, n, 4)
    pairs = Pairs.all(4)
    found = squared_distances(of(canonical).total(), pairs)
    correlation = np.corrcoef(canonical[0], rowvar=False)[pairs.first, pairs.second]
    np.testing.assert_allclose(found, (1 - correlation) / 2, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("distance", [1e-14, 1e-12, 1e-9, 1e-5, 1e-2, 0.3])
def test_small_distances_keep_their_digits(distance):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    # Numbers with few bits: the sum is exact, and all rounding is that of the metric.
    x = np.round(x * 2**5) / 2**5
    y = x + 2.0 ** np.round(np.log2(2 * distance)) * rng.integers(-1, 2, 1000)
    truth = direct(x, y)
    assert distance / 4 < np.sqrt(truth) < 4 * distance
    found = squared_distances(of(np.stack([x, 3 * y], axis=-1)[None]).total(), PAIR)[0]
    error = abs(np.sqrt(found) - np.sqrt(truth))
    assert error < 1e-15 + 1e-12 * np.sqrt(truth)
    naive = (1 - np.corrcoef(x, y)[0, 1]) / 2
    if distance < 1e-8:  # Negative control.
        assert abs(naive / truth - 1) > 0.5


@pytest.mark.parametrize(("factor", "expected"), [(2.0, 0.0), (-0.1, 1.0)])
def test_multiples_of_a_reward(factor, expected):
    x = np.random.default_rng(0).normal(size=500)
    squared = squared_distances(of(np.stack([x, factor * x], axis=-1)[None]).total(), PAIR)
    assert squared[0] == pytest.approx(expected, abs=1e-30 if expected == 0 else 1e-15)


@pytest.mark.parametrize("scale", [[1.0, 1.0], [1e-3, 50.0]])
def test_the_scales_of_the_moments_do_not_matter(scale):
    canonical = sample(0, 2, 100, 2)
    found = [squared_distances(comoments(canonical, np.array(s), PAIR), PAIR) for s in (scale, ONE)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


ONE = [1.0, 1.0]


def test_two_replicates_give_the_covariance_of_standardised_differences():
    canonical = sample(0, 2, 300, 2)
    between = np.cov(canonical[0], canonical[1], rowvar=False)[:2, 2:]
    between = (between + between.T) / 2
    correlation = between[0, 1] / np.sqrt(between[0, 0] * between[1, 1])
    found = squared_distances(of(canonical).total(), PAIR)
    assert found[0] == pytest.approx((1 - correlation) / 2, rel=1e-9)


def test_a_reward_without_variance_has_no_distance():
    canonical = sample(0, 1, 50, 2)
    canonical[..., 1] = 0
    assert np.isnan(squared_distances(of(canonical).total(), PAIR)[0])


def test_the_error_is_that_of_the_jackknife():
    canonical, groups = sample(3, 1, 60, 3), 6
    pairs, labels = Pairs.all(3), np.arange(60) // 10
    found = estimate_squared(of(canonical, groups), pairs)
    without = np.array(
        [
            [direct(*canonical[0, labels != g][:, [i, j]].T) for g in range(groups)]
            for i, j in zip(pairs.first, pairs.second, strict=True)
        ]
    )
    expected = np.sqrt((groups - 1) * without.var(axis=1))
    np.testing.assert_allclose(found.error, expected, rtol=1e-7)
    assert found.groups == groups
    np.testing.assert_allclose(found.variance, canonical[0].var(axis=0, ddof=1), rtol=1e-12)


@pytest.mark.parametrize(("seed", "larger"), [(1, 0), (5, 1)])
def test_the_larger_of_both_margins_is_the_error(seed, larger):
    canonical = sample(seed, 2, 240, 2)
    blocks, groups = np.arange(240) // 20, np.tile(np.arange(8), 30)
    margins = (np.arange(12), 12, 8)
    moments = BlockMoments.of(canonical, blocks, groups, margins, deviations(canonical), PAIR)
    errors = []
    for margin, count in zip(moments.leave_one_out(), (12, 8), strict=True):
        values = squared_distances(margin, PAIR)
        errors.append(float(np.sqrt((count - 1) * values.var())))
    assert errors[larger] > 1.05 * errors[1 - larger]
    found = estimate_squared(moments, PAIR)
    assert found.error[0] == pytest.approx(errors[larger], rel=1e-12)
    assert found.groups == 8


def test_too_few_groups_have_no_error():
    canonical = sample(0, 1, 20, 2)
    found = estimate_squared(of(canonical, 1), PAIR)
    assert np.isnan(found.error).all()
    assert not np.isnan(found.value).any()
    assert found.groups == 0


def test_comoments_of_many_samples_are_taken_along_the_first_axis():
    parts = [comoments(sample(seed, 1, 30, 2), np.ones(2), PAIR) for seed in range(4)]
    stacked = Comoments(*(np.stack(part) for part in zip(*(p.parts for p in parts), strict=True)))
    found = squared_distances(stacked, PAIR)
    np.testing.assert_array_equal(found, [squared_distances(part, PAIR) for part in parts])
