"""Rewards and transitions that the tests of this room share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

REWARDS = """
import numpy as np


def dynamics(state, action, rng):
    return state + 0.5 * action


def noisy(state, action, rng):
    return state + 0.5 * action + 0.1 * rng.normal(size=state.shape)


def lost(state, action, rng):
    return np.full(state.shape, np.nan)


def sampler(state, rng):
    return rng.uniform(-1, 1, state.shape)


def goal(state, action, next_state):
    return -np.linalg.norm(next_state - 1, axis=1)


def shaped(state, action, next_state):
    potential = lambda s: 3 * np.linalg.norm(s, axis=1)
    return goal(state, action, next_state) + 0.95 * potential(next_state) - potential(state)


def effort(state, action, next_state):
    return goal(state, action, next_state) - 0.1 * np.square(action).sum(axis=1)


def talkative(state, action, next_state):
    print("I am asked")
    return effort(state, action, next_state)


def constant(state, action, next_state):
    return np.ones(len(state))


def nan(state, action, next_state):
    return np.full(len(state), np.nan)


def raising(state, action, next_state):
    raise RuntimeError("no\\nsuch thing")


def leaving(state, action, next_state):
    raise SystemExit("bye")


class Model:
    pass


three_actions = np.array([[-1.0, 0.0], [0.0, 0.5], [1.0, 1.0]])
"""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


def transitions(n: int = 400) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    state, action = rng.uniform(-2, 2, (n, 2)), rng.uniform(-1, 1, (n, 2))
    columns = {"state": state, "action": action, "next_state": state + 0.5 * action}
    return {**columns, "episode": np.arange(n) // 20}


def save_npz(path: Path | str, columns: dict[str, Any]) -> None:
    np.savez(path, **columns)
