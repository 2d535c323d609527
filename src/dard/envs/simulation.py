"""Environments that are stepped from outside, by Gymnasium's interfaces and for pictures."""

from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError
from dard.envs.environment import Environment
from dard.envs.streams import Streams


class Simulation:
    """Copies of an environment that step together, in NumPy and float64.

    Parameters
    ----------
    environment : Environment
    seed : int
        Copy i is a function of (seed, i) and of the actions that it gets, whatever `count` is.
    count : int, optional

    Attributes
    ----------
    state : array, shape (count, state_size)
        Where each copy is now.
    steps : array of int, shape (count,)
        Steps since each copy's last reset.
    """

    def __init__(self, environment: Environment, seed: int, count: int = 1) -> None:
        self.environment = environment
        self._resets = Streams(environment.reset_draws, seed, count, "environment reset")
        self._steps = Streams(environment.step_draws, seed, count, "environment step")
        self.state = np.empty((count, environment.state_size))
        self.steps = np.zeros(count, np.int64)
        self.restart(np.arange(count))

    def restart(self, rows: np.ndarray) -> None:
        """Begin new episodes in the copies numbered `rows`."""
        if not len(rows):
            return
        fresh = self.environment.initial_state(*self._resets.only(rows))
        # A new array, since the old one may be with the caller.
        self.state = self.state.copy()
        self.state[rows], self.steps[rows] = fresh, 0

    def advance(self, action: np.ndarray) -> None:
        """Move all copies one step; `action` has been through `within_bounds`."""
        numbers = self._steps.everywhere()
        self.state = np.asarray(self.environment.transition(self.state, action, *numbers))
        self.steps += 1


def within_bounds(environment: Environment, action: Any, count: int | None = None) -> np.ndarray:
    """Return a batch of actions in float64, clipped to the bounds.

    Parameters
    ----------
    environment : Environment
    action : array
        Shape (count, dimensions), or, where `count` is None, of a single action (dimensions,).
    count : int, optional

    Returns
    -------
    array, shape (count or 1, dimensions)

    Raises
    ------
    ConfigurationError
        For another shape, NaN, or what are no numbers.
    """
    shape = (environment.action_size,) if count is None else (count, environment.action_size)
    try:
        array = np.asarray(action, np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"action is no array of numbers ({error}); expected shape {shape}"
        ) from error
    if array.shape != shape:
        raise ConfigurationError(
            f"action has shape {array.shape}; {environment.name} expects {shape}"
        )
    if np.isnan(array).any():
        raise ConfigurationError(
            "action holds NaN: look for what went wrong where the policy computed it"
        )
    array = np.clip(array, environment.action_low, environment.action_high)
    return array.reshape(-1, environment.action_size)
