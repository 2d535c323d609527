import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dard.core.groups import Groups, jackknife_groups
from dard.core.transitions import Transitions


def batch(episode: object, n: int | None = None) -> Transitions:
    n = n if n is not None else len(np.asarray(episode))
    return Transitions(np.zeros((n, 1)), np.zeros(n), np.zeros((n, 1)), episode)


def labels_of(groups: Groups, n: int) -> np.ndarray:
    return groups.labels(np.arange(n))


def check(groups: Groups, n: int, most: int) -> np.ndarray:
    """Return the labels, which must use every group number."""
    labels = labels_of(groups, n)
    assert groups.count <= most
    np.testing.assert_array_equal(np.unique(labels), np.arange(groups.count))
    return labels


def assert_episodes_are_whole(labels: np.ndarray, episode: np.ndarray) -> None:
    pairs = {(int(e), int(g)) for e, g in zip(episode, labels, strict=True)}
    assert len(pairs) == len(np.unique(episode))


lengths = st.lists(st.integers(1, 30), min_size=10, max_size=400)


@given(lengths=lengths, seed=st.integers(0, 100), contiguous=st.booleans())
def test_episodes_stay_whole_and_groups_are_balanced(lengths, seed, contiguous):
    rng = np.random.default_rng(seed)
    ids = rng.permutation(len(lengths)) * 7 - 50
    episode = np.repeat(ids, lengths)
    if not contiguous:
        rng.shuffle(episode)
    n = len(episode)
    groups = jackknife_groups(batch(episode))
    labels = check(groups, n, 128)
    assert (groups.kind, groups.episodes) == ("episodes", len(lengths))
    assert_episodes_are_whole(labels, episode)
    if len(lengths) <= 128:
        assert groups.count == len(lengths)
    else:
        assert np.bincount(labels).max() <= n / 128 + max(lengths)
        # A group is empty only where an episode reaches over it.
        assert groups.count >= n / (n / 128 + max(lengths))


def test_the_check_finds_a_split_episode():
    episode = np.repeat(np.arange(10), 10)
    with pytest.raises(AssertionError):
        assert_episodes_are_whole(np.arange(100) // 8, episode)


def test_many_equal_episodes_make_128_equal_groups():
    labels = check(jackknife_groups(batch(np.repeat(np.arange(1280), 5))), 6400, 128)
    assert np.bincount(labels).tolist() == [50] * 128


def test_an_id_that_comes_back_is_one_episode():
    episode = np.tile(np.arange(12), 4)
    labels = check(jackknife_groups(batch(episode)), 48, 12)
    assert_episodes_are_whole(labels, episode)


@given(n=st.integers(1, 3000))
def test_without_episodes_there_are_equal_blocks_of_neighbours(n):
    groups = jackknife_groups(batch(None, n))
    labels = check(groups, n, 64)
    assert (groups.kind, groups.episodes) == ("blocks", None)
    assert groups.count == min(n, 64)
    assert (np.diff(labels) >= 0).all()
    assert np.ptp(np.bincount(labels)) <= 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_fewer_than_10_episodes_are_cut_into_blocks(shuffled):
    episode = np.repeat(np.arange(9), 100)
    if shuffled:
        np.random.default_rng(0).shuffle(episode)
    groups = jackknife_groups(batch(episode))
    check(groups, 900, 64)
    assert (groups.kind, groups.episodes, groups.count) == ("blocks", 9, 64)
    assert jackknife_groups(batch(np.repeat(np.arange(10), 100))).kind == "episodes"


@pytest.mark.parametrize("kind", ["contiguous", "scattered", "few", "none"])
def test_any_index_array_is_labelled_like_the_whole(kind):
    rng = np.random.default_rng(1)
    episode = np.repeat(np.arange(200), 5)
    episode = {"scattered": rng.permutation(episode), "few": episode // 40, "none": None}.get(
        kind, episode
    )
    groups = jackknife_groups(batch(episode, 1000))
    index = rng.integers(0, 1000, 300)
    np.testing.assert_array_equal(groups.labels(index), labels_of(groups, 1000)[index])
