"""Random streams keyed by (seed, purpose, number), so that blocks can be made in any order."""

import zlib
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError


def stream(seed: int, purpose: str, number: int = 0) -> np.random.Generator:
    """Return the NumPy generator of one block: independent of every other key."""
    return np.random.Generator(np.random.PCG64DXSM(_sequence(seed, purpose, number)))


def library_stream(seed: int, purpose: str, number: int, like: Any) -> Any:
    """Return the generator of one block for the library and device of the array `like`.

    A NumPy ``Generator``, a ``torch.Generator`` on the array's device, or a JAX key.
    """
    library = arrays.library_of(like)
    if library == "numpy":
        return stream(seed, purpose, number)
    words = _sequence(seed, purpose, number).generate_state(2, np.uint32)
    if library == "torch":
        torch: Any = arrays.imported("torch")
        joined = (int(words[0]) << 31) ^ int(words[1])
        return torch.Generator(device=like.device).manual_seed(joined)
    jax: Any = arrays.imported("jax")
    return jax.random.fold_in(jax.random.key(int(words[0] >> 1)), int(words[1] >> 1))


def distinct_draws(rng: np.random.Generator, rows: int, population: int, count: int) -> np.ndarray:
    """Draw `count` of `population` items without replacement, in random order, for each row.

    The k-th draw is one of the items that are left: a number below ``population - k``, moved past
    the sorted earlier draws. That costs count² vector operations on narrow integers instead of a
    permutation of the whole population for each row.

    Returns
    -------
    array of integers, shape (rows, count)
    """
    if count * count > 4 * population:
        return rng.random((rows, population)).argsort(axis=1)[:, :count]
    dtype = np.min_scalar_type(population)
    drawn = np.empty((rows, count), dtype)
    ordered: list[np.ndarray] = []
    for k in range(count):
        pick = rng.integers(0, population - k, rows, dtype)
        for earlier in ordered:
            pick += pick >= earlier
        drawn[:, k] = pick
        for j, earlier in enumerate(ordered):
            ordered[j], pick = np.minimum(earlier, pick), np.maximum(earlier, pick)
        ordered.append(pick)
    return drawn


def _sequence(seed: int, purpose: str, number: int) -> np.random.SeedSequence:
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigurationError(f"seed is {seed}; expected an integer of at least 0")
    return np.random.SeedSequence((seed, zlib.crc32(purpose.encode()), number))
