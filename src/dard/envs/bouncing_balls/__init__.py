"""Bouncing Balls: an agent seeks a goal among balls that bounce around an arena.

After the environment of the paper (appendix A.1), whose code was never published.
"""

from dard.envs.bouncing_balls.constants import CONSTANTS, Constants
from dard.envs.bouncing_balls.dynamics import (
    RESET_DRAWS,
    STEP_DRAWS,
    initial_state,
    terminated,
    transition,
)
from dard.envs.bouncing_balls.features import FEATURE_SIZE, features
from dard.envs.bouncing_balls.model import actions, transition_model
from dard.envs.bouncing_balls.observation import OBSERVATION_SIZE, observation
from dard.envs.bouncing_balls.rendering import render
from dard.envs.bouncing_balls.rewards import feasibility, feasible, ground_truth, shaped
from dard.envs.bouncing_balls.state import STATE_SIZE, goal, positions, velocities
from dard.envs.environment import Environment

environment = Environment(
    name="bouncing-balls",
    constants=CONSTANTS,
    state_size=STATE_SIZE,
    observation_size=OBSERVATION_SIZE,
    feature_size=FEATURE_SIZE,
    action_low=(-CONSTANTS.max_acceleration,) * 2,
    action_high=(CONSTANTS.max_acceleration,) * 2,
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

__all__ = [
    "CONSTANTS",
    "Constants",
    "actions",
    "environment",
    "feasibility",
    "feasible",
    "features",
    "goal",
    "ground_truth",
    "initial_state",
    "observation",
    "positions",
    "render",
    "shaped",
    "terminated",
    "transition",
    "transition_model",
    "velocities",
]
