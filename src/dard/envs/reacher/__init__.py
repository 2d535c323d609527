"""Reacher: a two-joint arm whose fingertip is to reach a goal.

Gymnasium's Reacher with the paper's frame skip, in closed form: see
:mod:`dard.envs.reacher.dynamics`.
"""

from dard.envs.environment import Environment
from dard.envs.reacher.constants import CONSTANTS, ReacherConstants
from dard.envs.reacher.dynamics import (
    RESET_DRAWS,
    STATE_SIZE,
    STEP_DRAWS,
    initial_state,
    simulate,
    terminated,
    transition,
)
from dard.envs.reacher.features import FEATURE_SIZE, features
from dard.envs.reacher.model import actions, transition_model
from dard.envs.reacher.observation import OBSERVATION_SIZE, observation
from dard.envs.reacher.rendering import render
from dard.envs.reacher.rewards import feasibility, feasible, ground_truth, shaped

__all__ = [
    "CONSTANTS",
    "ReacherConstants",
    "actions",
    "environment",
    "feasibility",
    "feasible",
    "features",
    "ground_truth",
    "initial_state",
    "observation",
    "render",
    "shaped",
    "simulate",
    "terminated",
    "transition",
    "transition_model",
]

environment = Environment(
    name="reacher",
    constants=CONSTANTS,
    state_size=STATE_SIZE,
    observation_size=OBSERVATION_SIZE,
    feature_size=FEATURE_SIZE,
    action_low=(-1.0, -1.0),
    action_high=(1.0, 1.0),
    horizon=CONSTANTS.horizon,
    discount=CONSTANTS.discount,
    reset_draws=RESET_DRAWS,
    step_draws=STEP_DRAWS,
    initial_state=initial_state,
    transition=transition,
    observation=observation,
    features=features,
    terminated=terminated,
    rewards={"GT": ground_truth, "SHAPED": shaped, "FEASIBILITY": feasibility},
    transition_model=transition_model,
    actions=actions,
    render=render,
)
