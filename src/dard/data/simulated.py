"""What collection asks of an environment; those of `dard.envs` have it, and so may others."""

from collections.abc import Callable
from typing import Any, Protocol


class Drawn(Protocol):
    """How many random numbers a function takes for each row."""

    @property
    def uniform(self) -> int:
        """Numbers in [0, 1)."""
        ...

    @property
    def normal(self) -> int:
        """Standard normal numbers."""
        ...


class Simulated(Protocol):
    """An environment made of batched functions that take their random numbers as arguments."""

    @property
    def name(self) -> str:
        """What data says of its origin."""
        ...

    @property
    def constants_hash(self) -> str:
        """Hash of all constants: data of other constants is data of another environment."""
        ...

    @property
    def state_size(self) -> int:
        """Width of a state."""
        ...

    @property
    def action_low(self) -> tuple[float, ...]:
        """Lower bound of each action dimension."""
        ...

    @property
    def action_high(self) -> tuple[float, ...]:
        """Upper bound of each action dimension."""
        ...

    @property
    def horizon(self) -> int:
        """Steps of an episode that does not end early."""
        ...

    @property
    def reset_draws(self) -> Drawn:
        """What `initial_state` takes."""
        ...

    @property
    def step_draws(self) -> Drawn:
        """What `transition` takes."""
        ...

    @property
    def initial_state(self) -> Callable[[Any, Any], Any]:
        """Function ``(uniform, normal) -> state``."""
        ...

    @property
    def transition(self) -> Callable[[Any, Any, Any, Any], Any]:
        """Function ``(state, action, uniform, normal) -> next_state``."""
        ...

    @property
    def terminated(self) -> Callable[[Any], Any]:
        """Function ``(state) -> bool``: whether an episode ends early in this state."""
        ...
