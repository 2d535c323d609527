"""Smooth random rewards and potentials: a handful of sine waves, fixed by a seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays

_WAVES = 4


@dataclass(frozen=True)
class SmoothReward:
    r"""A random smooth reward of any transitions.

    .. math:: R(s, a, s') = \sum_k c_k \sin(w_k \cdot (s, a, s') + b_k)

    Parameters
    ----------
    seed : int
        Fixes the waves, together with the sizes of the states and actions.

    Examples
    --------
    >>> import numpy as np
    >>> reward = SmoothReward(seed=3)
    >>> reward
    SmoothReward(seed=3)
    >>> reward(np.zeros((5, 2)), np.ones((5, 1)), np.ones((5, 2))).shape
    (5,)
    """

    seed: int

    def __call__(self, state: Any, action: Any, next_state: Any) -> np.ndarray:
        """Return the values of a batch, shape (n,), in float64."""
        columns = [_rows(column) for column in (state, action, next_state)]
        return _waves(np.concatenate(columns, axis=1), self.seed)


@dataclass(frozen=True)
class SmoothPotential:
    r"""A random smooth potential of states: :math:`\Phi(s) = \sum_k c_k \sin(w_k \cdot s + b_k)`.

    Parameters
    ----------
    seed : int
        Fixes the waves, together with the size of the states.
    """

    seed: int

    def __call__(self, state: Any) -> np.ndarray:
        """Return the potential of each state, shape (n,), in float64."""
        return _waves(_rows(state), self.seed)


@dataclass(frozen=True)
class ShapedReward:
    r"""A reward changed in ways that leave every optimal policy as it was.

    .. math:: R'(s, a, s') = c R(s, a, s') + b + \gamma \Phi(s') - \Phi(s)

    Parameters
    ----------
    reward : callable
        The reward R.
    potential : callable, optional
        The potential Phi of states; none if not given.
    discount : float
        The discount factor of the shaping.
    scale, shift : float
        The factor c and the constant b.

    References
    ----------
    Ng, Harada and Russell, *Policy invariance under reward transformations*, ICML 1999.
    """

    reward: Any
    potential: Any = None
    discount: float = 1.0
    scale: float = 1.0
    shift: float = 0.0

    def __call__(self, state: Any, action: Any, next_state: Any) -> np.ndarray:
        """Return the values of a batch, shape (n,), in float64."""
        raw = arrays.to_numpy(self.reward(state, action, next_state))
        values = self.scale * raw.reshape(len(raw)).astype(np.float64) + self.shift
        if self.potential is None:
            return values
        return values + self.discount * self.potential(next_state) - self.potential(state)


def _rows(column: Any) -> np.ndarray:
    array = arrays.to_numpy(column)
    width = int(np.prod(array.shape[1:]))
    return array.reshape(len(array), width).astype(np.float64)


def _waves(rows: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    frequency = rng.normal(size=(rows.shape[1], _WAVES))
    phase, height = rng.uniform(-np.pi, np.pi, _WAVES), rng.uniform(0.5, 1.5, _WAVES)
    return np.sin(rows @ frequency + phase) @ height
