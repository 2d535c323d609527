"""Small MDPs written down as tables, with the callables that the sampled metrics take."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dard.core.transitions import Transitions


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A reward, its dynamics and the distributions of a small MDP.

    Parameters
    ----------
    R : array, shape (S, A, S)
        Reward ``R[s, a, s']``.
    T : array, shape (S, A, S)
        Transition probabilities ``T[s, a, s']``.
    discount : float
        Discount factor in [0, 1].
    state_dist : array, shape (S,), optional
        Distribution of the states to compare on; uniform if not given.
    action_dist : array, shape (A,), optional
        Distribution of the actions; uniform if not given.
    """

    R: NDArray[np.float64]
    T: NDArray[np.float64]
    discount: float
    state_dist: NDArray[np.float64] | None = None
    action_dist: NDArray[np.float64] | None = None

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self.R.shape[0]

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.R.shape[1]

    def reward(self) -> Callable[[Any, Any, Any], np.ndarray]:
        """Return the reward as a callable on integer states and actions."""
        return TabularReward(self.R)

    def transition_model(self) -> Callable[[Any, Any, Any], np.ndarray]:
        """Return the dynamics as a callable ``(state, action, rng) -> next_state``."""
        return TabularTransitionModel(self.T)

    def transitions(self, n: int, seed: int = 0) -> Transitions:
        """Draw `n` transitions of integer states: s and a independent, s' from the dynamics."""
        rng = np.random.default_rng(seed)
        state = rng.choice(self.n_states, n, p=self.state_dist)
        action = rng.choice(self.n_actions, n, p=self.action_dist)
        return Transitions(state, action, self.transition_model()(state, action, rng))

    def shaped(self, potential: ArrayLike) -> "TabularMDP":
        r"""Return the MDP with :math:`R(s, a, s') + \gamma \Phi(s') - \Phi(s)` as its reward."""
        phi = np.asarray(potential, np.float64)
        return replace(self, R=self.R + self.discount * phi - phi[:, None, None])


@dataclass(frozen=True, eq=False)
class TabularReward:
    """A table ``R[s, a, s']`` as a reward: integers of shape (n,) or (n, 1) in, (n,) out."""

    R: NDArray[np.float64]

    def __call__(self, state: Any, action: Any, next_state: Any) -> np.ndarray:
        """Look the values of a batch up."""
        return self.R[_index(state), _index(action), _index(next_state)]


@dataclass(frozen=True, eq=False)
class TabularTransitionModel:
    """A table ``T[s, a, s']`` as a transition model; without chance in it, `rng` is not used."""

    T: NDArray[np.float64]

    def __call__(self, state: Any, action: Any, rng: Any) -> np.ndarray:
        """Draw the next state of each row; the result has the shape and dtype of `state`."""
        rows = self.T[_index(state), _index(action)]
        if np.isin(self.T, (0, 1)).all():
            drawn = rows.argmax(axis=1)
        else:
            cumulated = rows.cumsum(axis=1)
            threshold = cumulated[:, -1:] * rng.random((len(rows), 1))
            # "Not above" never lands on a state of probability 0.
            drawn = (cumulated <= threshold).sum(axis=1)
        return drawn.reshape(np.shape(state)).astype(np.asarray(state).dtype)


def _index(column: Any) -> np.ndarray:
    array = np.asarray(column)
    return array.reshape(len(array)).astype(np.intp)
