import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core.noise import standard_normal


def test_moments_and_tails_are_those_of_a_normal_distribution():
    rows = np.random.default_rng(0).normal(size=(400_000, 4))
    noise = standard_normal(0, rows)
    moments = [np.mean(noise**k) for k in (1, 2, 3, 4)]
    # Standard errors of the first four moments: 1, sqrt(2), sqrt(15), sqrt(96), over sqrt(n).
    for found, expected, error in zip(moments, (0, 1, 0, 3), (1, 1.42, 3.9, 9.8), strict=True):
        assert abs(found - expected) < 4.5 * error / np.sqrt(len(rows))
    assert abs(np.mean(np.abs(noise) > 1.959964) - 0.05) < 0.002


def test_neighbours_on_a_grid_are_independent():
    x, y = np.meshgrid(np.arange(500.0), np.arange(400.0))
    noise = standard_normal(1, np.stack([x.ravel(), y.ravel()], axis=1)).reshape(400, 500)
    for one, other in ((noise[1:], noise[:-1]), (noise[:, 1:], noise[:, :-1])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 4.5 / np.sqrt(noise.size)


def test_order_of_columns_counts():
    rows = np.random.default_rng(0).normal(size=(2_000, 2))
    assert abs(np.corrcoef(standard_normal(0, rows), standard_normal(0, rows[:, ::-1]))[0, 1]) < 0.1


def test_negative_zero_is_zero():
    zeros = np.zeros((3, 2))
    np.testing.assert_array_equal(standard_normal(2, zeros), standard_normal(2, -zeros))


def test_only_float32_counts():
    rows = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    wide = rows.astype(np.float64)
    np.testing.assert_allclose(standard_normal(2, wide * (1 + 1e-12)), standard_normal(2, rows))


@pytest.mark.parametrize("put", [np.asarray, torch.tensor, jnp.asarray])
def test_known_values_in_every_library(put):
    # Committed: a change of the hash would change every noisy reward of every study.
    rows = put(np.array([[0.0, 1.0], [2.0, -3.5], [1e-3, 1e6]], np.float32))
    np.testing.assert_allclose(np.asarray(standard_normal(7, rows)), KNOWN, atol=3e-6)


def test_dtype_follows_the_first_part():
    assert standard_normal(0, np.zeros((2, 1))).dtype == np.float64
    assert standard_normal(0, np.zeros((2, 1), np.float32)).dtype == np.float32
    assert standard_normal(0, np.zeros((2, 1), int), np.zeros((2, 1))).dtype == np.float32


KNOWN = [0.2778403, 0.943171, -1.352997]
