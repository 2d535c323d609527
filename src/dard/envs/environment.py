"""What an environment is: a handful of pure, batched functions and the constants behind them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dard.core.protocols import Reward, TransitionModel


@dataclass(frozen=True)
class Draws:
    """How many random numbers a function consumes for each row, drawn outside and passed in."""

    uniform: int = 0
    normal: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Environment:
    """The functions and constants of an environment.

    All functions are batched along the first axis, take their random numbers as arguments, and
    run unchanged on NumPy, on PyTorch, and traced by JAX.

    Attributes
    ----------
    name : str
        Name on the command line.
    constants : dataclass
        Every number that the functions use; their hash goes into data that is made with them.
    state_size, observation_size, feature_size : int
        Widths of a state, of what a policy sees, and of what a reward model sees.
    action_low, action_high : tuple of float
        Bounds; actions outside are clipped by `transition`.
    horizon : int
        Steps in an episode.
    discount : float
    reset_draws, step_draws : Draws
        Random numbers that `initial_state` and `transition` consume for each row.
    initial_state : callable ``(uniform, normal) -> state``
    transition : callable ``(state, action, uniform, normal) -> next_state``
    observation : callable ``(state) -> array``
    features : callable ``(state, action, next_state) -> array``
    terminated : callable ``(state) -> bool array``
        Whether an episode ends early in this state.
    rewards : mapping of name to reward
    transition_model : callable ``(state, action, rng) -> next_state``
    actions : array, shape (N_A, action dimensions)
        The paper's action grid for DARD.
    render : callable ``(state, size) -> image``
        Picture of a single state, (size, size, 3) of uint8.
    """

    name: str
    constants: Any
    state_size: int
    observation_size: int
    feature_size: int
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    horizon: int
    discount: float
    reset_draws: Draws
    step_draws: Draws
    initial_state: Callable[[Any, Any], Any]
    transition: Callable[[Any, Any, Any, Any], Any]
    observation: Callable[[Any], Any]
    features: Callable[[Any, Any, Any], Any]
    terminated: Callable[[Any], Any]
    rewards: Mapping[str, Reward]
    transition_model: TransitionModel
    actions: np.ndarray
    render: Callable[..., np.ndarray]

    @property
    def action_size(self) -> int:
        """Number of action dimensions."""
        return len(self.action_low)

    @property
    def constants_hash(self) -> str:
        """Hash of the constants: data of other constants is data of another environment."""
        text = json.dumps(asdict(self.constants), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
