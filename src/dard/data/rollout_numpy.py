"""Collection with NumPy: what is always there, and what calls policies of any library."""

from typing import Any

import numpy as np

from dard.core import random
from dard.core.placement import Placement
from dard.data.rollout import Draws, Episodes, Prepared, Task, check_shape, step, uniform_action

HOST = Placement("numpy")


def numpy_rollout(task: Task) -> Prepared:
    """Return what makes the rollout of a task; here there is nothing to prepare."""
    environment, count = task.environment, task.episodes

    def run(first: int) -> Episodes:
        draws = draw(task, first, count)
        made = _empty(task)
        state = made.states[:, 0] = np.astype(
            environment.initial_state(draws.reset_uniform, draws.reset_normal), np.float32
        )
        ended = np.zeros(count, bool)
        # What is not finite is refused afterwards, with its episode and step.
        with np.errstate(invalid="ignore", over="ignore"):
            for t in range(environment.horizon):
                made.kept[:, t] = ~ended
                action = _act(task, state, draws.action[:, t], first * environment.horizon + t)
                noise = draws.uniform[:, t], draws.normal[:, t]
                state, action, ended = step(np, environment, state, ended, action, noise)
                made.states[:, t + 1], made.actions[:, t] = state, action
        return made

    return lambda: run


def draw(task: Task, first: int, count: int) -> Draws:
    """Draw for the episodes from `first` on; each has a stream of its own."""
    environment = task.environment
    reset, each, horizon = environment.reset_draws, environment.step_draws, environment.horizon
    draws = Draws(
        np.empty((count, reset.uniform), np.float32),
        np.empty((count, reset.normal), np.float32),
        np.empty((count, horizon, each.uniform), np.float32),
        np.empty((count, horizon, each.normal), np.float32),
        np.empty((count, horizon, task.action_draws), np.float32),
    )
    for row in range(count):
        rng = random.stream(task.seed, "episodes", first + row)
        # Those of acting come last, so the environment draws the same whoever acts in it.
        rng.random(out=draws.reset_uniform[row], dtype=np.float32)
        rng.standard_normal(out=draws.reset_normal[row], dtype=np.float32)
        rng.random(out=draws.uniform[row], dtype=np.float32)
        rng.standard_normal(out=draws.normal[row], dtype=np.float32)
        rng.random(out=draws.action[row], dtype=np.float32)
    return draws


def _act(task: Task, state: np.ndarray, uniform: np.ndarray, number: int) -> Any:
    if task.policy is None:
        return uniform_action(np, task.environment, uniform)
    action = task.policy([state], HOST, (task.seed, "policy", number))
    return check_shape(action, len(state), task.action_size)


def _empty(task: Task) -> Episodes:
    count, horizon = task.episodes, task.environment.horizon
    return Episodes(
        np.empty((count, horizon + 1, task.environment.state_size), np.float32),
        np.empty((count, horizon, task.action_size), np.float32),
        np.empty((count, horizon), bool),
    )
