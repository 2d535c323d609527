"""Noisy rewards that are still functions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dard.core.errors import ConfigurationError
from dard.core.noise import standard_normal


@dataclass(frozen=True)
class NoisyReward:
    """A reward plus Gaussian noise that is a function of the transition; see :func:`noisy`."""

    reward: Callable[..., Any]
    sigma: float
    seed: int = 0

    @property
    def library(self) -> str | None:
        """The library that the reward declares, if it does."""
        return getattr(self.reward, "library", None)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.reward

    def __call__(self, state: Any, action: Any, next_state: Any) -> Any:
        """Return noisy values, shape (n,)."""
        values = self.reward(state, action, next_state)
        noise = self.sigma * standard_normal(self.seed, state, action, next_state)
        return values.reshape((values.shape[0],)) + noise


def noisy(reward: Callable[..., Any], sigma: float, seed: int = 0) -> NoisyReward:
    """Return `reward` with noise of standard deviation `sigma`, the same for equal transitions.

    The noise is made of the bits of the transition (as float32) and the seed, and is independent
    between transitions: the paper's noisy ground truth (appendix, "Metric sample size
    sensitivity"), as a reward that can be asked twice.

    Parameters
    ----------
    reward : callable ``(state, action, next_state) -> values``
    sigma : float
        Standard deviation, at least 0.
    seed : int
        Rewards with different seeds have independent noise.

    Examples
    --------
    >>> import numpy as np
    >>> from dard.rewards import noisy
    >>> reward = noisy(lambda s, a, s2: s[:, 0], sigma=0.1)
    >>> state = np.zeros((2, 1))
    >>> bool((reward(state, state, state) == reward(state, state, state)).all())
    True
    """
    if not sigma >= 0:
        raise ConfigurationError(f"sigma is {sigma}; expected a number of at least 0")
    if not callable(reward):
        raise ConfigurationError(f"reward is a {type(reward).__name__}; expected a callable")
    return NoisyReward(reward, float(sigma), seed)
