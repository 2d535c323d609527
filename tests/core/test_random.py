import itertools
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from tests.core.helpers import chi_square_is_plausible

from dard.core.errors import ConfigurationError
from dard.core.random import distinct_draws, library_stream, stream

KEY = (3, "actions", 5)
OTHER_KEYS = [(4, "actions", 5), (3, "states", 5), (3, "actions", 6), (2**40, "actions", 5)]


def test_equal_keys_give_equal_streams():
    assert stream(*KEY).random(8).tolist() == stream(*KEY).random(8).tolist()
    assert stream(3, "actions").random() == stream(3, "actions", 0).random()


@pytest.mark.parametrize("other", OTHER_KEYS)
def test_streams_of_different_keys_are_unrelated(other):
    a, b = stream(*KEY).normal(size=10_000), stream(*other).normal(size=10_000)
    assert not np.any(a == b)
    assert abs(a @ b) / 10_000 < 0.05


def draw(rng) -> list[float]:
    if isinstance(rng, np.random.Generator):
        return rng.random(4).tolist()
    if isinstance(rng, torch.Generator):
        return torch.rand(4, generator=rng).tolist()
    return jax.random.uniform(rng, (4,)).tolist()


@pytest.mark.parametrize("like", [np.zeros(1), torch.zeros(1), jnp.zeros(1)])
def test_library_streams_belong_to_the_library_and_repeat(like):
    assert draw(library_stream(*KEY, like=like)) == draw(library_stream(*KEY, like=like))
    assert len({tuple(draw(library_stream(*key, like=like))) for key in [KEY, *OTHER_KEYS]}) == 5


def test_library_streams_leave_global_randomness_alone():
    before = torch.get_rng_state()
    draw(library_stream(*KEY, like=torch.zeros(1)))
    assert torch.equal(torch.get_rng_state(), before)


def test_numpy_library_stream_is_the_stream():
    assert library_stream(*KEY, like=np.zeros(1)).random() == stream(*KEY).random()


@pytest.mark.parametrize("seed", [-1, 0.5, None, "1"])
def test_seeds_that_make_no_sense_are_refused(seed):
    with pytest.raises(ConfigurationError, match=f"seed is {seed}; expected an integer of at le"):
        stream(seed, "actions")


SMALL_AND_LARGE = [(5, 2), (6, 5), (64, 4), (255, 3), (256, 3), (300, 8), (1, 1), (4, 4), (40, 30)]


@pytest.mark.parametrize(("population", "count"), SMALL_AND_LARGE)
def test_draws_are_distinct_and_inside(population, count):
    drawn = distinct_draws(stream(*KEY), 500, population, count)
    assert drawn.shape == (500, count)
    assert drawn.dtype.kind in "iu"
    assert drawn.min() >= 0
    assert drawn.max() < population
    assert (np.diff(np.sort(drawn, axis=1).astype(int), axis=1) > 0).all()


def ordered_counts(drawn: np.ndarray, population: int) -> list[int]:
    """Count every ordered tuple of distinct items."""
    found = dict.fromkeys(itertools.permutations(range(population), drawn.shape[1]), 0)
    for row in drawn.tolist():
        found[tuple(row)] += 1
    return list(found.values())


@pytest.mark.parametrize(("population", "count"), [(5, 3), (3, 3), (6, 1)])
def test_every_ordered_tuple_is_equally_likely(population, count):
    drawn = distinct_draws(stream(*KEY), 20_000, population, count)
    assert chi_square_is_plausible(ordered_counts(drawn, population))


def test_every_ordered_pair_of_many_draws_is_equally_likely():
    drawn = distinct_draws(stream(*KEY), 20_000, 7, 7)
    assert chi_square_is_plausible(ordered_counts(drawn[:, [0, 6]], 7))


def test_the_check_finds_draws_in_sorted_order():
    drawn = np.sort(distinct_draws(stream(*KEY), 20_000, 5, 3), axis=1)
    assert not chi_square_is_plausible(ordered_counts(drawn, 5))


@pytest.mark.parametrize("count", [4, 20])
def test_every_item_is_equally_likely_in_every_place(count):
    drawn = distinct_draws(stream(*KEY), 20_000, 30, count)
    for place in range(count):
        assert chi_square_is_plausible(np.bincount(drawn[:, place], minlength=30))


def test_few_draws_do_not_permute_the_population():
    rng = mock.Mock(wraps=stream(*KEY))
    distinct_draws(rng, 10, 10_000, 4)
    rng.random.assert_not_called()
    distinct_draws(rng, 10, 10, 10)
    rng.random.assert_called_once()
