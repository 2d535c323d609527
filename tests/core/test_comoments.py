import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.core.moments_reference import assert_equal, comoments, sample

from dard.core.comoments import Comoments, Pairs, Rescaling, columns, products

scales = st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3).map(np.array)
PAIRS = Pairs.all(3)


def test_all_pairs_in_order():
    assert PAIRS.rewards == 3
    assert PAIRS.first.tolist() == [0, 0, 1]
    assert PAIRS.second.tolist() == [1, 2, 2]
    assert len(Pairs.all(1).first) == 0


@given(old=scales, new=scales, replicates=st.integers(1, 2), seed=st.integers(0, 20))
def test_rescaled_moments_are_the_moments_of_rescaled_rewards(old, new, replicates, seed):
    canonical = sample(seed, replicates, 30, 3)
    change = Rescaling(old, new, PAIRS)
    found = comoments(canonical, old, PAIRS).rescaled(change)
    expected = comoments(canonical, new, PAIRS)
    assert_equal(found, expected, 1e-14 * max(1, (old / new).max() ** 2 / (old / new).min() ** 2))


@given(old=scales, new=scales)
def test_rescaled_means_are_the_means_of_rescaled_rewards(old, new):
    canonical = sample(0, 2, 10, 3)
    means = [columns(canonical, scale, PAIRS).mean(axis=1) for scale in (old, new)]
    moved = Rescaling(old, new, PAIRS).means(means[0])
    spread = (old / new).max() / (old / new).min()
    size = spread * np.abs(canonical / new).max()
    np.testing.assert_allclose(moved, means[1], rtol=0, atol=1e-14 * size)


@given(old=scales, factor=st.sampled_from([0.25, 2.0, 1024.0]))
def test_scales_that_keep_their_ratio_do_not_mix_rewards_into_differences(old, factor):
    tiny = Comoments(5.0, np.ones(3), np.full(3, 1e-40), np.full(3, 1e-20))
    moved = tiny.rescaled(Rescaling(old, factor * old, PAIRS))
    np.testing.assert_array_equal(moved.difference, tiny.difference / factor**2)
    np.testing.assert_array_equal(moved.cross, tiny.cross / factor**2)


def test_columns_are_scaled_rewards_and_their_differences():
    canonical = np.array([[[1.0, 4.0, 9.0], [2.0, 8.0, 9.0]]])
    found = columns(canonical, np.array([1.0, 2.0, 3.0]), PAIRS)
    assert found.tolist() == [[[1, 2, 3, -1, -2, -1], [2, 4, 3, -2, -1, 1]]]


def test_products_are_symmetric_in_the_replicates():
    left, right = np.random.default_rng(0).normal(size=(2, 5, 6))
    one, other = (products(*sides, PAIRS, 1.0) for sides in ((left, right), (right, left)))
    for a, b in zip(one.parts, other.parts, strict=True):
        np.testing.assert_array_equal(a, b)
    x, d = left[:, :3], left[:, 3:]
    np.testing.assert_allclose(products(left, left, PAIRS, 1.0).cross, d * x[:, [1, 2, 2]])


def test_sums_and_differences_go_part_by_part():
    one = Comoments(np.ones(2), *(np.full((2, 3), k) for k in (1.0, 2.0, 3.0)))
    total = (one + one - one).total()
    assert total.freedom == 2
    assert [part.tolist() for part in total.parts[1:]] == [[2.0] * 3, [4.0] * 3, [6.0] * 3]
