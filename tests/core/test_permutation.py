import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.helpers import chi_square_is_plausible

from dard.core.permutation import KeyedPermutation

SIZES = st.integers(1, 3000) | st.sampled_from([2**k + d for k in range(1, 13) for d in (-1, 0, 1)])


def whole(size: int, seed: int = 0) -> np.ndarray:
    return KeyedPermutation(size, seed)(np.arange(size))


@given(size=SIZES, seed=st.integers(0, 2**63))
def test_it_is_a_permutation(size, seed):
    np.testing.assert_array_equal(np.sort(whole(size, seed)), np.arange(size))


@given(data=st.data(), size=SIZES)
def test_any_part_can_be_read_alone(data, size):
    start = data.draw(st.integers(0, size))
    stop = data.draw(st.integers(start, size))
    part = KeyedPermutation(size, 7)(np.arange(start, stop))
    np.testing.assert_array_equal(part, whole(size, 7)[start:stop])


def test_positions_are_not_written_to():
    position = np.arange(5, dtype=np.uint64)
    KeyedPermutation(5, 1)(position)
    assert position.tolist() == [0, 1, 2, 3, 4]


def test_large_sizes_are_read_without_memory():
    size = 10**12
    items = KeyedPermutation(size, 0)(np.array([0, 1, size - 1]))
    assert len(set(items.tolist())) == 3
    assert ((items >= 0) & (items < size)).all()
    assert np.abs(np.diff(items)).min() > 10**6


def test_seeds_and_sizes_give_unrelated_permutations():
    fixed_points = (whole(5000, 0) == whole(5000, 1)).sum()
    assert fixed_points < 10  # 1 is expected.


def looks_random(permutation: np.ndarray) -> bool:
    """Judge where neighbours go: no correlation, no preferred step, few kept in order."""
    n = len(permutation)
    centred = permutation / n - 0.5
    bound = 5 / np.sqrt(n)
    lags = [abs(12 * (centred[:-lag] * centred[lag:]).mean()) < bound for lag in (1, 2, 4, 16, 64)]
    position = abs(12 * (centred * (np.arange(n) / n - 0.5)).mean()) < bound
    ascents = abs((np.diff(permutation) > 0).mean() - 0.5) < bound
    steps = np.bincount((np.diff(permutation) % n) * 16 // n, minlength=16)
    return all(lags) and position and ascents and chi_square_is_plausible(steps)


@pytest.mark.parametrize("size", [1000, 4096, 4097, 20_000])
@pytest.mark.parametrize("seed", range(5))
def test_neighbours_are_scattered(size, seed):
    assert looks_random(whole(size, seed))


@pytest.mark.parametrize(
    "ordered",
    [
        np.arange(4096),
        np.arange(4096)[::-1],
        np.arange(4097) * 1000 % 4097,
        np.arange(4096) ^ 0b1010_1010_1010,
        (np.random.default_rng(0).permutation(64)[:, None] * 64 + np.arange(64)).reshape(-1),
    ],
)
def test_the_check_finds_order(ordered):
    assert not looks_random(ordered)


@pytest.mark.parametrize("size", [5, 12])
def test_every_pair_of_places_is_equally_likely_over_seeds(size):
    """Blocks are random subsets: any two transitions meet with the same probability."""
    pairs = np.array([KeyedPermutation(size, seed)(np.arange(2)) for seed in range(3000)])
    counts = np.bincount(pairs[:, 0] * size + pairs[:, 1], minlength=size**2).reshape(size, size)
    assert (np.diag(counts) == 0).all()
    assert chi_square_is_plausible(counts[~np.eye(size, dtype=bool)])
