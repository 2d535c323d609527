"""MuJoCo's own Point Maze, and policies that take it everywhere."""

import functools
from typing import Any, NamedTuple

import mujoco as _mujoco
import numpy as np
from mujoco import rollout

from dard.envs.environment import Environment
from dard.envs.point_maze import ORIGINAL, PointMazeConstants, large_step, model_xml, original

# What is compiled in it is unknown to type checkers.
mujoco: Any = _mujoco

START = np.array(ORIGINAL.start)
TARGET = np.array(ORIGINAL.target)
SOLVER = 1e-8
"""Tolerance at which MuJoCo's solver stops unless told otherwise."""


class Run(NamedTuple):
    """Transitions of MuJoCo, each of which starts where MuJoCo ended the one before."""

    state: np.ndarray
    action: np.ndarray
    next_state: np.ndarray
    walls: np.ndarray
    """Walls that the sphere touches at a time, at most, in the steps of the transition."""

    def rows(self, which) -> "Run":
        return Run(*(column[which] for column in self))


def compiled(constants: PointMazeConstants = ORIGINAL, tolerance: float = SOLVER) -> Any:
    model = mujoco.MjModel.from_xml_string(model_xml(constants))
    model.opt.tolerance = tolerance
    return model


def uniform(state, rng, step):
    return rng.uniform(-1, 1, (len(state), 2))


class BangBang:
    """Full force in one direction for a while: into the walls, and into the corners."""

    def __call__(self, state, rng, step):
        if step == 0:
            self.action = np.ones((len(state), 2))
        turn = rng.random((len(state), 2)) < 0.08
        self.action = np.where(turn, rng.choice([-1.0, 1.0], self.action.shape), self.action)
        return self.action


def goal_seeking(state, rng, step):
    """Go around the free end of the barrier, then to the target; with some noise."""
    x, y, velocity = state[:, 0], state[:, 1], state[:, 3:5]
    beside = np.where((y < 0.22)[:, None], [0.48, 0.3], [0.46, 0.42])
    waypoint = np.where(((y > 0.36) | ((y > 0.22) & (x < 0.4)))[:, None], TARGET, beside)
    wanted = 8 * (waypoint - state[:, :2]) - 1.2 * velocity
    return np.clip(wanted + rng.normal(0, 0.2, wanted.shape), -1, 1)


POLICIES = {"uniform": uniform, "bang-bang": BangBang(), "goal-seeking": goal_seeking}


def states(physics: np.ndarray) -> np.ndarray:
    """Return states of the environment from MuJoCo's, that begin with the time."""
    zero = np.zeros((*physics.shape[:-1], 1))
    place = physics[..., 1:3] + START
    return np.concatenate([place, zero, physics[..., 3:5], zero], axis=-1)


def physics(state: np.ndarray) -> np.ndarray:
    """Return MuJoCo's states; the inverse of `states`."""
    time = np.zeros((len(state), 1))
    return np.concatenate([time, state[:, :2] - START, state[:, 3:5]], axis=1)


def single_step(state: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Return what MuJoCo makes of states in one of its steps."""
    model = compiled()
    after, _ = rollout.rollout(model, mujoco.MjData(model), physics(state), action[:, None])
    return states(np.asarray(after)[:, 0])


def touching(state: np.ndarray, model: Any) -> np.ndarray:
    """Return how many walls are near enough to push."""
    count = np.zeros(state.shape[:-1], int)
    sphere = model.geom("particle")
    for k in range(model.ngeom):
        if k == sphere.id:
            continue
        axis = np.zeros(9)
        mujoco.mju_quat2Mat(axis, model.geom_quat[k])
        radius, half = model.geom_size[k, :2]
        offset = state[..., :3] - model.geom_pos[k]
        along = np.clip(offset @ axis[2::3], -half, half)
        distance = np.linalg.norm(offset - along[..., None] * axis[2::3], axis=-1)
        count += distance - radius - sphere.size[0] < sphere.margin[0]
    return count


def run(environment: Environment, policy: str, episodes: int, tolerance: float = SOLVER) -> Run:
    return _run(environment.name, policy, episodes, tolerance)


@functools.cache
def _run(name: str, policy: str, episodes: int, tolerance: float) -> Run:
    environment = {e.name: e for e in (original, large_step)}[name]
    rng = np.random.default_rng(0)
    model = compiled(environment.constants, tolerance)
    state = environment.initial_state(rng.random((episodes, 2)), None)
    data = [mujoco.MjData(model) for _ in range(2)]
    parts = []
    with rollout.Rollout(nthread=2) as pool:
        for step in range(environment.horizon):
            action = POLICIES[policy](state, rng, step)
            control = np.repeat(action[:, None], environment.constants.frame_skip, axis=1)
            after, _ = pool.rollout(model, data, physics(state), control)
            steps = states(np.asarray(after))
            starts = np.concatenate([state[:, None], steps[:, :-1]], axis=1)
            parts.append((state, action, steps[:, -1], touching(starts, model).max(axis=1)))
            state = steps[:, -1]
    return Run(*(np.concatenate(column) for column in zip(*parts, strict=True)))
