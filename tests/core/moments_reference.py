"""Second moments the long way: every sum from scratch, in extended precision."""

import numpy as np

from dard.core.comoments import Comoments, Pairs


def comoments(canonical: np.ndarray, scale: np.ndarray, pairs: Pairs) -> Comoments:
    """Return the comoments of (replicates, n, rewards) about the mean of all n."""
    x = canonical.astype(np.longdouble) / scale
    x = x - x.mean(axis=1, keepdims=True)
    left, right = x[0], x[-1]
    d, e = (side[:, pairs.first] - side[:, pairs.second] for side in (left, right))
    j = pairs.second
    return Comoments(
        canonical.shape[1] - 1.0,
        (left * right).sum(axis=0).astype(float),
        (d * e).sum(axis=0).astype(float),
        (0.5 * (d * right[:, j] + e * left[:, j])).sum(axis=0).astype(float),
    )


def block_comoments(
    canonical: np.ndarray, blocks: np.ndarray, scale: np.ndarray, pairs: Pairs
) -> Comoments:
    """Return the sum over blocks of the comoments about each block's mean."""
    total = Comoments(0.0, *np.zeros((1, pairs.rewards)), *np.zeros((2, len(pairs.first))))
    for block in np.unique(blocks):
        total = total + comoments(canonical[:, blocks == block], scale, pairs)
    return total


def assert_equal(
    found: Comoments, expected: Comoments, tolerance: float = 1e-12, size: float | None = None
) -> None:
    """Compare relative to `size`: as a rule what rewards of standard deviation 1 add up to."""
    np.testing.assert_array_equal(found.freedom, expected.freedom)
    if size is None:
        size = float(np.max(expected.freedom) + 1 + np.abs(expected.own).max())
    for part, wanted in zip(found.parts[1:], expected.parts[1:], strict=True):
        assert part.shape == wanted.shape
        np.testing.assert_allclose(part, wanted, rtol=0, atol=tolerance * size)


def sample(seed: int, replicates: int, n: int, rewards: int) -> np.ndarray:
    """Return correlated canonical rewards of different scales and means."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(1, n, 1))
    values = shared + 0.5 * rng.normal(size=(replicates, n, rewards)) + rng.normal(size=rewards)
    return values * 10.0 ** rng.integers(-3, 4, rewards)


def deviations(canonical: np.ndarray) -> np.ndarray:
    """Return scales as the metrics pass them: standard deviations, if they are not rounding."""
    least = 2.0**-26 * np.sqrt((canonical**2).mean(axis=(0, 1)))
    found = np.maximum(canonical.std(axis=1).mean(axis=0), least)
    return np.maximum(found, np.finfo(float).tiny)
