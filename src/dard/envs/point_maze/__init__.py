"""Point Maze: a sphere finds its way around a barrier (the paper's study of limitations).

The functions here are those of the original maze; `original` and `large_step` are the two
environments. In the second a transition takes five times as long.
"""

from functools import partial

from dard.envs.environment import Environment
from dard.envs.point_maze.constants import LARGE_STEP, ORIGINAL, PointMazeConstants
from dard.envs.point_maze.dynamics import (
    RESET_DRAWS,
    STATE_SIZE,
    STEP_DRAWS,
    initial_state,
    terminated,
    transition,
)
from dard.envs.point_maze.features import FEATURE_SIZE, features
from dard.envs.point_maze.model import actions, transition_model
from dard.envs.point_maze.model_xml import model_xml
from dard.envs.point_maze.observation import OBSERVATION_SIZE, observation
from dard.envs.point_maze.rendering import render
from dard.envs.point_maze.rewards import feasibility, feasible, ground_truth, shaped


def _environment(name: str, constants: PointMazeConstants) -> Environment:
    rewards = {"GT": ground_truth, "SHAPED": shaped, "FEASIBILITY": feasibility}
    return Environment(
        name=name,
        constants=constants,
        state_size=STATE_SIZE,
        observation_size=OBSERVATION_SIZE,
        feature_size=FEATURE_SIZE,
        action_low=(-1.0, -1.0),
        action_high=(1.0, 1.0),
        horizon=constants.horizon,
        discount=constants.discount,
        reset_draws=RESET_DRAWS,
        step_draws=STEP_DRAWS,
        initial_state=partial(initial_state, constants=constants),
        transition=partial(transition, constants=constants),
        observation=observation,
        features=features,
        terminated=terminated,
        rewards={key: partial(reward, constants=constants) for key, reward in rewards.items()},
        transition_model=partial(transition_model, constants=constants),
        actions=actions,
        render=render,
    )


original = environment = _environment("point-maze", ORIGINAL)
large_step = _environment("point-maze-large-step", LARGE_STEP)

__all__ = [
    "LARGE_STEP",
    "ORIGINAL",
    "PointMazeConstants",
    "actions",
    "environment",
    "feasibility",
    "feasible",
    "features",
    "ground_truth",
    "initial_state",
    "large_step",
    "model_xml",
    "observation",
    "original",
    "render",
    "shaped",
    "terminated",
    "transition",
    "transition_model",
]
