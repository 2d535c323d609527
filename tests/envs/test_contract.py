"""Every environment has the public names that users, docs and other rooms rely on."""

import numpy as np
import pytest

import dard
from dard.envs import ENVIRONMENTS, bouncing_balls, point_maze, reacher

MODULES = (bouncing_balls, point_maze, reacher)
FUNCTIONS = (
    "actions",
    "features",
    "initial_state",
    "observation",
    "render",
    "terminated",
    "transition",
    "transition_model",
)
REWARDS = {"GT": "ground_truth", "SHAPED": "shaped", "FEASIBILITY": "feasibility"}


def plain(function):
    """Return the function behind one with the constants of a variant."""
    return getattr(function, "func", function)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.environment.name)
def test_names_are_those_of_the_environment(module):
    for name in FUNCTIONS:
        assert getattr(module, name) is plain(getattr(module.environment, name))
        assert name in module.__all__
    for short, name in REWARDS.items():
        assert getattr(module, name) is plain(module.environment.rewards[short])
        assert name in module.__all__


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=lambda e: e.name)
def test_an_environment_is_ready_for_a_distance(environment):
    rng, n = np.random.default_rng(0), 60
    reset = environment.reset_draws
    state = environment.initial_state(
        rng.random((n, reset.uniform)), rng.normal(size=(n, reset.normal))
    )
    action = rng.uniform(environment.action_low, environment.action_high, (n, 2))
    data = dard.Transitions(state, action, environment.transition_model(state, action, rng))
    metric = dard.DARD(environment.transition_model, environment.actions, environment.discount)
    assert environment.actions.shape[1] == environment.action_size
    for reward in environment.rewards.values():
        assert np.isfinite(metric.canonicalize(reward, data)).all()


def test_grids_have_the_paper_s_sizes():
    assert bouncing_balls.actions.shape == (64, 2)
    assert reacher.actions.shape == point_maze.actions.shape == (16, 2)
