from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.moments_reference import (
    assert_equal,
    block_comoments,
    comoments,
    deviations,
    sample,
)

from dard.core.comoments import Comoments, Pairs, Rescaling
from dard.core.moments import BlockMoments, GroupMoments, runs

REWARDS = 3
PAIRS = Pairs.all(REWARDS)
ONES = np.ones(REWARDS)
replicates = st.integers(1, 2)
seeds = st.integers(0, 10_000)


def of_groups(canonical, groups, count, scale=None) -> GroupMoments:
    scale = deviations(canonical) if scale is None else scale
    return GroupMoments.of(canonical, groups, count, scale, Pairs.all(canonical.shape[-1]))


def of_blocks(canonical, blocks, groups, counts, scale=None, block_group=None) -> BlockMoments:
    """Return block moments where each block is its own group, unless told otherwise."""
    scale = deviations(canonical) if scale is None else scale
    if block_group is None:
        block_group = np.arange(counts[0])
    pairs = Pairs.all(canonical.shape[-1])
    margins = (block_group, counts[0], counts[1])
    return BlockMoments.of(canonical, blocks, groups, margins, scale, pairs)


def row(comoments: Comoments, number: int) -> Comoments:
    return Comoments(*(part[number] for part in comoments.parts))


@given(seed=seeds, replicates=replicates, n=st.integers(2, 60), count=st.integers(1, 9))
def test_the_total_is_that_of_everything_however_it_is_grouped(seed, replicates, n, count):
    canonical = sample(seed, replicates, n, REWARDS)
    groups = np.random.default_rng(seed).integers(0, count, n)
    moments = of_groups(canonical, groups, count)
    assert_equal(moments.total(), comoments(canonical, moments.scale, PAIRS))


def test_one_replicate_gives_numpys_covariances():
    canonical = sample(0, 1, 50, REWARDS)
    total = of_groups(canonical, np.arange(50) // 10, 5, ONES).total()
    covariance = np.cov(canonical[0], rowvar=False)
    i, j = PAIRS.first, PAIRS.second
    variance = np.diag(covariance)
    np.testing.assert_allclose(total.own / total.freedom, variance, rtol=1e-13)
    difference = variance[i] + variance[j] - 2 * covariance[i, j]
    np.testing.assert_allclose(total.difference / total.freedom, difference, rtol=1e-10)
    cross = covariance[i, j] - variance[j]
    np.testing.assert_allclose(total.cross / total.freedom, cross, rtol=1e-10)


def test_two_replicates_give_the_symmetrised_covariances_between_them():
    canonical = sample(1, 2, 50, REWARDS)
    total = of_groups(canonical, np.arange(50) // 10, 5, ONES).total()
    between = np.cov(canonical[0], canonical[1], rowvar=False)[:REWARDS, REWARDS:]
    between = (between + between.T) / 2
    i, j = PAIRS.first, PAIRS.second
    np.testing.assert_allclose(total.own / total.freedom, np.diag(between), rtol=1e-12)
    np.testing.assert_allclose(
        total.cross / total.freedom, (between[i, j] - between[j, j]), rtol=1e-9
    )


def cut(n: int, seed: int) -> list[np.ndarray]:
    """Cut 0..n-1, in some order, into up to 6 parts."""
    rng = np.random.default_rng(seed)
    places = np.unique(rng.integers(1, n, 5)) if n > 1 else []
    return np.split(rng.permutation(n), places)


@given(seed=seeds, replicates=replicates, n=st.integers(2, 60))
def test_merging_any_split_gives_the_whole(seed, replicates, n):
    canonical = sample(seed, replicates, n, REWARDS)
    groups = np.random.default_rng(seed).integers(0, 7, n)
    parts = [of_groups(canonical[:, part], groups[part], 7) for part in cut(n, seed)]
    merged = reduce(GroupMoments.merged, parts)
    whole = of_groups(canonical, groups, 7, merged.scale)
    np.testing.assert_array_equal(merged.count, np.bincount(groups, minlength=7))
    assert_equal(merged.total(), whole.total())
    size = np.abs(whole.total().own).max()
    assert_equal(merged.leave_one_out()[0], whole.leave_one_out()[0], size=size)


@given(seed=seeds, replicates=replicates, centres=st.integers(1, 12))
def test_merging_blocks_gives_the_whole(seed, replicates, centres):
    canonical, blocks, groups = blocked(seed, replicates, centres, 5)
    whole = of_blocks(canonical, blocks, groups, (12, 5), block_group=np.arange(centres))
    merged = None
    for start in range(0, centres, 4):
        here = (blocks >= start) & (blocks < start + 4)
        own = np.arange(start, min(start + 4, centres))
        inputs = canonical[:, here], blocks[here] - start, groups[here]
        part = of_blocks(*inputs, (12, 5), block_group=own)
        merged = part if merged is None else merged.merged(part)
    assert merged is not None
    change = Rescaling(whole.scale, merged.scale, PAIRS)
    assert_equal(merged.total(), whole.total().rescaled(change))
    size = np.abs(merged.total().own).max()
    for found, wanted in zip(merged.leave_one_out(), whole.leave_one_out(), strict=True):
        assert_equal(found, wanted.rescaled(change), size=size)


def blocked(seed: int, replicates: int, centres: int, episode_groups: int):
    """Return rewards with unequal blocks, some of one transition, and groups scattered over them.

    Block 0 lies wholly in group 0, and group 1 has single transitions in blocks.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, centres)
    blocks = np.repeat(np.arange(centres), sizes)
    groups = rng.integers(0, episode_groups, len(blocks))
    groups[blocks == 0] = 0
    offsets = rng.normal(size=(replicates, centres, REWARDS)) * 5
    canonical = sample(seed, replicates, len(blocks), REWARDS) + offsets[:, blocks]
    return canonical, blocks, groups


@given(seed=seeds, replicates=replicates, centres=st.integers(1, 12))
def test_the_total_of_blocks_is_centred_within_each(seed, replicates, centres):
    canonical, blocks, groups = blocked(seed, replicates, centres, 4)
    moments = of_blocks(canonical, blocks, groups, (centres, 4))
    assert_equal(moments.total(), block_comoments(canonical, blocks, moments.scale, PAIRS))


def test_what_a_block_adds_to_all_of_its_transitions_cancels():
    canonical, blocks, groups = blocked(3, 2, 8, 4)
    constants = np.random.default_rng(0).normal(size=(2, 8, REWARDS)) * 100
    plain = of_blocks(canonical, blocks, groups, (8, 4), ONES)
    moved = of_blocks(canonical + constants[:, blocks], blocks, groups, (8, 4), ONES)
    assert_equal(moved.total(), plain.total(), 1e-10)
    everything = of_groups(canonical, groups, 4, ONES).total()
    all_moved = of_groups(canonical + constants[:, blocks], groups, 4, ONES).total()
    with pytest.raises(AssertionError):
        assert_equal(all_moved, everything, 1e-2)


@given(seed=seeds, replicates=replicates, n=st.integers(3, 60))
def test_leaving_a_group_out_is_computing_without_it(seed, replicates, n):
    canonical = sample(seed, replicates, n, REWARDS)
    groups = np.random.default_rng(seed).integers(0, 6, n)
    moments = of_groups(canonical, groups, 6)
    (margin,) = moments.leave_one_out()
    size = np.abs(moments.total().own).max()
    present = np.unique(groups)
    assert len(np.asarray(margin.freedom)) == len(present)
    for number, group in enumerate(present):
        keep = groups != group
        if keep.any():
            without = comoments(canonical[:, keep], moments.scale, PAIRS)
            assert_equal(row(margin, number), without, size=size)


@given(seed=seeds, replicates=replicates, centres=st.integers(2, 10))
def test_leaving_a_group_of_blocks_or_of_episodes_out_is_computing_without_it(
    seed, replicates, centres
):
    canonical, blocks, groups = blocked(seed, replicates, centres, 4)
    block_group = np.arange(centres) * 3 // centres
    moments = of_blocks(canonical, blocks, groups, (3, 4), block_group=block_group)
    size = np.abs(moments.total().own).max()
    labels = (block_group[blocks], groups)
    for margin, label in zip(moments.leave_one_out(), labels, strict=True):
        keeps = [label != group for group in np.unique(label)]
        without = [
            block_comoments(canonical[:, keep], blocks[keep], moments.scale, PAIRS)
            for keep in keeps
        ]
        # Groups of single transitions in blocks of their own hold no information.
        without = [w for w in without if w.freedom < moments.total().freedom]
        assert len(margin.freedom) == len(without)
        for number, expected in enumerate(without):
            assert_equal(row(margin, number), expected, size=size)


def test_unsorted_groups_and_blocks_give_the_same_as_sorted_ones():
    canonical, blocks, groups = blocked(5, 2, 7, 4)
    order = np.random.default_rng(0).permutation(len(blocks))
    one = of_groups(canonical, groups, 4, ONES)
    other = of_groups(canonical[:, order], groups[order], 4, ONES)
    assert_equal(one.leave_one_out()[0], other.leave_one_out()[0])
    one = of_blocks(canonical, blocks, groups, (7, 4), ONES)
    other = of_blocks(canonical[:, order], blocks[order], groups[order], (7, 4), ONES)
    for a, b in zip(one.leave_one_out(), other.leave_one_out(), strict=True):
        assert_equal(a, b)


def test_rescaled_group_moments_are_those_of_rescaled_rewards():
    canonical = sample(2, 2, 40, REWARDS)
    groups, scale = np.arange(40) % 6, np.array([0.1, 3.0, 20.0])
    found = of_groups(canonical, groups, 6).rescaled(scale)
    expected = of_groups(canonical, groups, 6, scale)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12 * np.abs(expected.mean).max())
    assert_equal(found.total(), expected.total())


@pytest.mark.parametrize("variation", [0.0, 1e-14, 1e-8])
@pytest.mark.parametrize("first", [True, False])
def test_a_block_that_hardly_varies_spoils_no_other(first, variation):
    canonical = sample(4, 1, 40, REWARDS)
    canonical[:, :20, 1] = canonical[:, :1, 1] * (1 + variation * canonical[:, :20, 0])
    groups = np.arange(40) // 8
    parts = [of_groups(canonical[:, s], groups[s], 5) for s in (slice(20), slice(20, 40))]
    merged = parts[0].merged(parts[1]) if first else parts[1].merged(parts[0])
    # Half of float64's digits: a scale is at least 2**-26 of the rewards.
    assert_equal(merged.total(), comoments(canonical, merged.scale, PAIRS), 1e-8)


@pytest.mark.parametrize("first", [True, False])
def test_proportional_rewards_stay_so_next_to_a_block_without_variance(first):
    blocks = [np.zeros((1, 200, 2)), np.full((1, 200, 2), [-1.0, -2.7]), *spread_over_blocks(-1.0)]
    total = merged_blocks(blocks if first else blocks[::-1], "groups").total()
    assert abs(total.difference[0]) < 1e-29 * total.own[1]


def spread_over_blocks(offset: float) -> list[np.ndarray]:
    """Return blocks of very different scales, the second reward 2.7 times the first."""
    rng = np.random.default_rng(0)
    reward = [scale * rng.normal(size=(1, 200, 1)) + offset for scale in (1e-3, 1e3, 1.0, 20.0)]
    return [np.concatenate([x, 2.7 * x], axis=-1) for x in reward]


def merged_blocks(blocks: list[np.ndarray], kind: str) -> GroupMoments | BlockMoments:
    parts = []
    for number, block in enumerate(blocks):
        groups = np.arange(block.shape[1]) // 20
        if kind == "groups":
            parts.append(of_groups(block, groups, 10))
        else:
            own = np.zeros(block.shape[1], int)
            parts.append(of_blocks(block, own, groups, (4, 10), block_group=np.array([number])))
    return reduce(type(parts[0]).merged, parts)


@pytest.mark.parametrize("kind", ["groups", "blocks"])
def test_differences_of_proportional_rewards_stay_at_the_rounding_of_their_scale(kind):
    total = merged_blocks(spread_over_blocks(0.0), kind).total()
    assert abs(total.difference[0]) < 1e-29 * total.own[1]
    assert abs(total.cross[0]) < 1e-14 * total.own[1]


def test_variances_and_covariances_could_not_show_it():
    """Negative control: what is left of the same rewards, where 1e-29 should be."""
    x, y = np.concatenate(spread_over_blocks(0.0), axis=1)[0].T
    x, y = x / x.std(), y / y.std()
    covariance = np.cov(x, y + 1e-10 * np.random.default_rng(1).normal(size=len(x)))
    left = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert left != pytest.approx(1e-20, rel=0.5, abs=0)


def large_means() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [20 * rng.normal(size=(1, 200, 2)) + 1e9 for _ in range(4)]


@pytest.mark.parametrize("kind", ["groups", "blocks"])
def test_large_means_cost_no_more_than_the_rounding_of_the_rewards(kind):
    blocks, number = large_means(), np.arange(800) // 200
    whole, merged = np.concatenate(blocks, axis=1), merged_blocks(blocks, kind)
    if kind == "groups":
        expected = comoments(whole, merged.scale, Pairs.all(2))
    else:
        expected = block_comoments(whole, number, merged.scale, Pairs.all(2))
    # Scaled rewards are 5e7, so a difference is rounded at 1e-8.
    assert_equal(merged.total(), expected, 1e-7)


def test_raw_sums_lose_large_means():
    """Negative control."""
    x = np.concatenate(large_means(), axis=1)[0, :, 0]
    raw = (x**2).sum() - x.sum() ** 2 / len(x)
    assert abs(raw / ((x - x.mean()) ** 2).sum() - 1) > 1e-3


def test_runs_are_found_in_sorted_and_unsorted_labels():
    order, starts, labels = runs(np.array([1, 1, 4, 7, 7]))
    assert order == slice(None)
    assert (starts.tolist(), labels.tolist()) == ([0, 2, 3], [1, 4, 7])
    order, starts, labels = runs(np.array([7, 1, 4, 1, 7]))
    assert np.asarray(order).tolist() == [1, 3, 2, 0, 4]
    assert (starts.tolist(), labels.tolist()) == ([0, 2, 3], [1, 4, 7])
