"""Problems whose distances are known exactly, and data of dependent transitions from them."""

from collections.abc import Iterator

import numpy as np

from dard.core.transitions import Transitions
from dard.testing import TabularMDP, TabularReward

DISCOUNT = 0.9
EPISODE_LENGTH = 50


def walk(deterministic: bool = False, n_states: int = 9) -> TabularMDP:
    """Return a random walk on a line whose state has an autocorrelation of about 0.9.

    An action is a step of -2 to 2, which fails three times in four unless `deterministic`.
    """
    place, step = np.arange(n_states), np.arange(-2, 3)
    aim = np.clip(place[:, None] + step, 0, n_states - 1)
    moved, stayed = np.eye(n_states)[aim], np.eye(n_states)[:, None].repeat(5, axis=1)
    T = moved if deterministic else 0.25 * moved + 0.75 * stayed
    rng = np.random.default_rng(5)
    R = rng.normal(size=(n_states, 5, n_states)) + place[:, None, None] / 2
    return TabularMDP(R, T, DISCOUNT)


def stationary(mdp: TabularMDP) -> np.ndarray:
    """Return the stationary distribution of the states under uniform actions."""
    step = np.linalg.matrix_power(mdp.T.mean(axis=1), 2**16)
    return step[0]


def coverage(mdp: TabularMDP) -> np.ndarray:
    """Return the probability of each transition in `episodes`, shape (S, A, S)."""
    return stationary(mdp)[:, None, None] / mdp.n_actions * mdp.T


def near(mdp: TabularMDP, size: float = 0.3) -> np.ndarray:
    """Return a reward near that of `mdp`, beyond a shaping and a scale that hide it."""
    rng = np.random.default_rng(6)
    changed = 2 * mdp.R + 2 * size * rng.normal(size=mdp.R.shape)
    potential = 3 * rng.normal(size=mdp.n_states)
    return changed + mdp.discount * potential - potential[:, None, None]


def far(mdp: TabularMDP) -> np.ndarray:
    """Return a reward that has little to do with that of `mdp`."""
    rng = np.random.default_rng(7)
    place = np.arange(mdp.n_states)
    return rng.normal(size=mdp.R.shape) + (place == 3)[:, None, None]


def episodes(
    mdp: TabularMDP, repetitions: int, count: int = 64, length: int = EPISODE_LENGTH, seed: int = 0
) -> Iterator[Transitions]:
    """Yield independent data sets of `count` episodes of dependent transitions."""
    rng = np.random.default_rng(seed)
    shape = (repetitions, count)
    cumulated = mdp.T.cumsum(axis=2)
    state = np.empty((length + 1, *shape), np.int64)
    action = rng.integers(0, mdp.n_actions, (length, *shape))
    state[0] = rng.choice(mdp.n_states, shape, p=stationary(mdp))
    for t in range(length):
        chance = rng.random(shape)[..., None] * cumulated[..., -1][0, 0]
        state[t + 1] = (cumulated[state[t], action[t]] <= chance).sum(axis=-1)
    episode = np.repeat(np.arange(count), length)
    for k in range(repetitions):
        before, taken, after = (x[:, k].T.ravel() for x in (state[:-1], action, state[1:]))
        yield Transitions(before, taken, after, episode)


def table(values: np.ndarray) -> TabularReward:
    """Return a table as a reward."""
    return TabularReward(values)


def coupled() -> tuple[TabularMDP, np.ndarray]:
    """Return 9 states, 5 actions, no chance, and a second reward: actions that meet matter.

    DARD is .5490 with the paper's coupling of the last term and .4585 with the shared one.
    """
    rng = np.random.default_rng(1739)
    T = np.eye(9)[rng.integers(0, 9, (9, 5))]
    R = rng.normal(size=(9, 5, 9)) * rng.choice([0.2, 1, 1], size=(9, 5, 1))
    return TabularMDP(R, T, 0.95), 0.5 * rng.normal(size=R.shape) + 0.5 * R
