"""Stochastic transition models: a model plus Gaussian noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError, TransitionModelError
from dard.core.protocols import TransitionModel


@dataclass(frozen=True)
class NoisyModel:
    """A transition model plus Gaussian noise on its next states; see :func:`noisy`."""

    model: TransitionModel
    sigma: tuple[float, ...]

    @property
    def library(self) -> str | None:
        """The library that the model declares, if it does."""
        return getattr(self.model, "library", None)

    @property
    def __wrapped__(self) -> TransitionModel:
        return self.model

    def __call__(self, state: Any, action: Any, rng: Any) -> Any:
        """Return next states with noise from `rng`, in the library of the next states."""
        for_model = for_noise = rng
        if arrays.library_of(state) == "jax":
            # The other generators move on when they are drawn from; a key has to be divided.
            jax: Any = arrays.imported("jax")
            for_model, for_noise = jax.random.split(rng)
        mean = self.model(state, action, for_model)
        width = mean.shape[-1]
        if not arrays.namespace(mean).isdtype(mean.dtype, "real floating"):
            raise TransitionModelError(
                f"next states have dtype {mean.dtype}; expected floating-point numbers, which "
                "alone can carry noise"
            )
        if len(self.sigma) not in (1, width):
            raise TransitionModelError(
                f"sigma has {len(self.sigma)} entries but next states have {width}: give one "
                "number, or one for each dimension"
            )
        return mean + _row(self.sigma, mean) * _standard_normal(for_noise, mean)


def noisy(model: TransitionModel, sigma: float | Sequence[float]) -> NoisyModel:
    """Return `model` with independent Gaussian noise on every dimension of its next states.

    The paper defines DARD for stochastic transition models (its N_T next states for each action)
    and never tries it: this makes one of any model. The noise comes from the generator that the
    model is called with, so the same generator gives the same next states.

    Parameters
    ----------
    model : callable ``(state, action, rng) -> next_state``
        In NumPy, PyTorch or JAX; a stochastic one draws from the same generator.
    sigma : float or sequence of float
        Standard deviation, at least 0: one for all dimensions, or one for each.

    Examples
    --------
    >>> import numpy as np
    >>> from dard.dynamics import noisy
    >>> model = noisy(lambda state, action, rng: state + action, sigma=[0.1, 0.0])
    >>> next_state = model(np.zeros((3, 2)), np.ones((3, 2)), np.random.default_rng(0))
    >>> next_state[:, 1]
    array([1., 1., 1.])
    """
    if not callable(model):
        raise ConfigurationError(f"model is a {type(model).__name__}; expected a callable")
    values = np.atleast_1d(np.asarray(sigma, dtype=float))
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ConfigurationError(
            f"sigma is {sigma}; expected a finite number of at least 0, or one for each dimension"
        )
    return NoisyModel(model, tuple(values.tolist()))


def _row(sigma: tuple[float, ...], like: Any) -> Any:
    """Return `sigma` as an array that multiplies `like` and keeps its dtype."""
    xp = arrays.namespace(like)
    device = {"device": like.device} if arrays.library_of(like) == "torch" else {}
    return xp.asarray(sigma, dtype=like.dtype, **device)


def _standard_normal(rng: Any, like: Any) -> Any:
    """Return numbers of the shape, library and dtype of `like`."""
    library = arrays.library_of(like)
    if library == "jax":
        jax: Any = arrays.imported("jax")
        return jax.random.normal(rng, like.shape, like.dtype)
    if library == "torch":
        torch: Any = arrays.imported("torch")
        return torch.randn(like.shape, generator=rng, dtype=like.dtype, device=like.device)
    return rng.standard_normal(like.shape).astype(like.dtype)
