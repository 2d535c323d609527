"""A small environment: a point on a line that is blown about, and lost beyond a bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dard.core import arrays


@dataclass(frozen=True)
class Drawn:
    uniform: int = 0
    normal: int = 0


def initial_state(uniform: Any, normal: Any) -> Any:
    xp = arrays.namespace(uniform, normal)
    return xp.concat([2.0 * uniform - 1.0, 0.1 * normal], axis=-1)


def transition(state: Any, action: Any, uniform: Any, normal: Any) -> Any:
    wind = 0.5 * (uniform - 0.5) + 0.2 * normal
    return state + 0.5 * action + wind


def lost(state: Any) -> Any:
    return arrays.namespace(state).abs(state[..., 0]) > 2.0


def never(state: Any) -> Any:
    return state[..., 0] != state[..., 0]


@dataclass(frozen=True)
class World:
    name: str = "line"
    constants_hash: str = "0123456789abcdef"
    state_size: int = 2
    action_low: tuple[float, ...] = (-1.0, -0.5)
    action_high: tuple[float, ...] = (0.5, 1.0)
    horizon: int = 7
    reset_draws: Drawn = Drawn(1, 1)
    step_draws: Drawn = Drawn(2, 1)
    initial_state: Callable[..., Any] = initial_state
    transition: Callable[..., Any] = transition
    terminated: Callable[..., Any] = lost
