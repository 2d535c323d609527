"""States of Bouncing Balls to test on: episodes of the uniform policy, and states made for it."""

import numpy as np

from dard.core.transitions import Transitions
from dard.envs.bouncing_balls import CONSTANTS, environment

GOAL = slice(24, 26)
BOUND = CONSTANTS.max_acceleration


def draws(rng, count, which):
    return rng.random((count, which.uniform)), rng.standard_normal((count, which.normal))


def uniform_policy(episodes, seed=0, steps=CONSTANTS.horizon) -> Transitions:
    """Return the transitions of whole episodes, step by step across the episodes."""
    rng = np.random.default_rng(seed)
    state = environment.initial_state(*draws(rng, episodes, environment.reset_draws))
    rows = []
    for _ in range(steps):
        action = rng.uniform(-BOUND, BOUND, (episodes, 2))
        following = environment.transition(
            state, action, *draws(rng, episodes, environment.step_draws)
        )
        rows.append((state, action, following))
        state = following
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Transitions(*columns, episode=np.tile(np.arange(episodes), steps))


def around_relocations(data: Transitions, count: int) -> Transitions:
    """Return the first `count` relocations, and the transitions just before and after them."""
    reached = environment.rewards["GT"](data.state, data.action, data.next_state) > 0
    episodes = int(data.episode.max()) + 1
    entered = np.flatnonzero(reached)
    entered = entered[entered + 2 * episodes < len(data)][:count]
    return data[np.concatenate([entered, entered + episodes, entered + 2 * episodes])]


def scattered(count, seed=0):
    """Return arguments of `transition`: many at walls, at the speed limit, and at their goal.

    Actions go up to twice their bounds.
    """
    rng = np.random.default_rng(seed)
    state = environment.initial_state(*draws(rng, count, environment.reset_draws))
    state[:, 12:24] *= 2
    at_wall = rng.random((count, 12)) < 0.2
    state[:, :12][at_wall] = (rng.choice([-1, 1], (count, 12)) * rng.uniform(29, 30, (count, 12)))[
        at_wall
    ]
    at_goal = rng.random(count) < 0.2
    state[at_goal, GOAL] = state[at_goal, :2] + rng.uniform(-2, 2, (count, 2))[at_goal]
    action = rng.uniform(-2 * BOUND, 2 * BOUND, (count, 2))
    return state, action, *draws(rng, count, environment.step_draws)
