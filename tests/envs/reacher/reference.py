"""MuJoCo's own Reacher, and policies that take it everywhere."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from dard.envs import reacher

# Most of MuJoCo's names are made at run time, out of sight of type checkers.
mujoco: Any = import_module("mujoco")
rollout: Any = import_module("mujoco.rollout")

MODEL_FILE = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "reacher.xml"
HORIZON = reacher.environment.horizon
FRAME_SKIP = reacher.CONSTANTS.frame_skip


class Episodes(NamedTuple):
    """Whole episodes, of the arm on its own and of MuJoCo under the same actions."""

    states: np.ndarray
    """The arm's, shape (episodes, HORIZON + 1, 11)."""
    actions: np.ndarray
    positions: np.ndarray
    """MuJoCo's positions and velocities after each of its steps of 0.01 s."""


def compiled(tolerance: float | None = None) -> Any:
    model = mujoco.MjModel.from_xml_path(str(MODEL_FILE))
    if tolerance is not None:
        model.opt.tolerance = tolerance
    return model


def uniform(state, rng):
    return rng.uniform(-1, 1, (len(state), 2))


def bang_bang(state, rng):
    return rng.choice([-1.0, 1.0], (len(state), 2))


def expert(state, rng):
    """Move both joints to where inverse kinematics puts the fingertip on the goal."""
    upper, fore = reacher.CONSTANTS.upper_link, reacher.CONSTANTS.forearm
    goal, angles, velocities = state[:, 2:4], state[:, 0:2], state[:, 4:6]
    cosine = (np.sum(goal**2, axis=1) - upper**2 - fore**2) / (2 * upper * fore)
    elbow = np.arccos(np.clip(cosine, -1, 1))
    shoulder = np.arctan2(goal[:, 1], goal[:, 0]) - np.arctan2(
        fore * np.sin(elbow), upper + fore * np.cos(elbow)
    )
    error = np.stack([shoulder, elbow], axis=1) - angles
    error[:, 0] = (error[:, 0] + np.pi) % (2 * np.pi) - np.pi
    return np.clip((6 * error - velocities) / 10 + rng.normal(0, 0.02, error.shape), -1, 1)


POLICIES = {"uniform": uniform, "bang-bang": bang_bang, "expert": expert}


def start(episodes: int, rng: np.random.Generator) -> np.ndarray:
    draws = reacher.environment.reset_draws
    uniforms = rng.random((episodes, draws.uniform))
    return reacher.initial_state(uniforms, np.zeros((episodes, draws.normal)))


def episodes(policy: str, count: int, tolerance: float | None = None, seed: int = 0) -> Episodes:
    rng = np.random.default_rng(seed)
    states, actions = [start(count, rng)], []
    for _ in range(HORIZON):
        actions.append(POLICIES[policy](states[-1], rng))
        states.append(step(states[-1], actions[-1]))
    acts = np.stack(actions, axis=1)
    return Episodes(np.stack(states, axis=1), acts, mujoco_positions(states[0], acts, tolerance))


def step(state, action):
    none = np.zeros((len(state), 0))
    return reacher.transition(state, action, none, none)


def mujoco_positions(start, actions, tolerance=None):
    """Let MuJoCo run freely; its solver starts warm, as when it is stepped in an environment."""
    model = compiled(tolerance)
    initial = np.concatenate([np.zeros((len(start), 1)), start[:, :8]], axis=1)
    controls = np.repeat(actions, FRAME_SKIP, axis=1)
    after, _ = rollout.rollout(model, mujoco.MjData(model), initial, controls)
    return np.concatenate([initial[:, None], after], axis=1)[:, :, 1:]


def transitions(episodes: Episodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return MuJoCo's states before and after each transition, and whether the limit acted."""
    positions = episodes.positions
    before = positions[:, :-1:FRAME_SKIP].reshape(-1, 8)
    after = positions[:, FRAME_SKIP::FRAME_SKIP].reshape(-1, 8)
    elbow = np.abs(positions[:, :, 1])
    furthest = np.max([elbow[:, k : k + HORIZON * FRAME_SKIP : FRAME_SKIP] for k in range(6)], 0)
    # Stages of the Runge-Kutta method may pass the limit though no step ends there.
    on_limit = furthest.ravel() > reacher.CONSTANTS.elbow_limit - 0.05
    return before, after, on_limit


def error(episodes: Episodes) -> np.ndarray:
    """Return how far the arm gets from MuJoCo in one transition from MuJoCo's own state."""
    before, after, _ = transitions(episodes)
    state = np.concatenate([before, np.zeros((len(before), 3))], axis=1)
    moved = step(state, episodes.actions.reshape(-1, 2))
    return np.abs(moved[:, :8] - after).max(axis=1)
