"""Noise that is a function of the transition: the same transition, the same noise, anywhere.

A reward is a function, so a noisy reward cannot draw. Its noise is made of the bits of its
inputs: float32 values, hashed with a seed in 32-bit integers that wrap around alike in NumPy,
PyTorch and JAX. The three agree wherever their inputs agree as float32.
"""

import math
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.random import stream


def standard_normal(seed: int, *parts: Any) -> Any:
    """Return one standard normal number for each row of `parts`, shape (n,).

    Parameters
    ----------
    seed : int
        Different seeds give independent noise.
    *parts : arrays, shape (n, ...)
        What the noise is a function of, of one library. Rounded to float32; -0 counts as 0.
    """
    xp = arrays.namespace(*parts)
    columns = [xp.reshape(part, (part.shape[0], -1)) for part in parts]
    values = xp.astype(xp.concat(columns, axis=1), xp.float32)
    # Adding 0 turns -0 into 0.
    bits = _bitcast(values + 0.0)
    radius, angle = (_uniform(xp, _hash(xp, bits, seed, half)) for half in range(2))
    kind = parts[0].dtype if xp.isdtype(parts[0].dtype, "real floating") else xp.float32
    normal = xp.sqrt(-2.0 * xp.log(radius)) * xp.cos(2.0 * math.pi * angle)
    return xp.astype(normal, kind)


def _bitcast(values: Any) -> Any:
    """Return the bits of float32 values as int32."""
    library = arrays.library_of(values)
    if library == "jax":
        jax: Any = arrays.imported("jax")
        return jax.lax.bitcast_convert_type(values, np.int32)
    torch: Any = arrays.imported("torch")
    return values.view(np.int32 if library == "numpy" else torch.int32)


def _hash(xp: Any, bits: Any, seed: int, half: int) -> Any:
    """Hash each row: columns are keyed, mixed and summed, and the sum is mixed again."""
    words = stream(seed, "hash noise", half).integers(0, 2**32, bits.shape[1] + 1, np.uint32)
    keys = words.view(np.int32)
    of_columns = xp.asarray(keys[:-1].copy(), **_device(bits))
    mixed = _mix(xp, xp.bitwise_xor(bits, of_columns))
    total = xp.sum(mixed, axis=1, dtype=xp.int32)
    return _mix(xp, xp.bitwise_xor(total, _scalar(xp, int(keys[-1]), bits)))


def _mix(xp: Any, word: Any) -> Any:
    """Return a 32-bit finaliser of `word` (Wellons' lowbias32): every bit moves every bit."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        word = xp.bitwise_xor(word, _shifted(xp, word, shift))
        word = word * _scalar(xp, factor - (factor >> 31 << 32), word)
    return xp.bitwise_xor(word, _shifted(xp, word, 16))


def _shifted(xp: Any, word: Any, by: int) -> Any:
    """Shift right, filling with zeros, though the type is signed."""
    moved = xp.bitwise_right_shift(word, _scalar(xp, by, word))
    return xp.bitwise_and(moved, _scalar(xp, (1 << (32 - by)) - 1, word))


def _uniform(xp: Any, word: Any) -> Any:
    """Return numbers inside (0, 1) from the upper 24 bits."""
    return (xp.astype(_shifted(xp, word, 8), xp.float32) + 0.5) / 2.0**24


def _scalar(xp: Any, value: int, like: Any) -> Any:
    return xp.asarray(value, dtype=xp.int32, **_device(like))


def _device(like: Any) -> dict[str, Any]:
    return {"device": like.device} if arrays.library_of(like) == "torch" else {}
