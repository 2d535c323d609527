"""The maze in closed form against MuJoCo."""

import dataclasses

import numpy as np
import pytest
from tests.envs.point_maze import reference
from tests.envs.point_maze.reference import POLICIES, Run, mujoco, run

from dard.envs import point_maze
from dard.envs.point_maze import LARGE_STEP, ORIGINAL, contacts, large_step, original

EPISODES = 400
ROUNDING = 1e-12
ON_CONTACT = 1e-6


def error(transitions: Run, constants) -> np.ndarray:
    moved = point_maze.transition(
        transitions.state, transitions.action, None, None, constants=constants
    )
    return np.abs(moved - transitions.next_state).max(axis=1)


def test_there_are_a_hundred_thousand_transitions_and_many_touch_walls():
    runs = {policy: run(original, policy, EPISODES) for policy in POLICIES}
    assert sum(len(transitions.state) for transitions in runs.values()) >= 100_000
    assert all((transitions.walls == 1).sum() > 100 for transitions in runs.values())
    assert (runs["bang-bang"].walls == 1).mean() > 0.2
    assert (runs["bang-bang"].walls == 2).sum() > 1000
    distance = -point_maze.ground_truth(*runs["goal-seeking"][:3])
    assert distance[-EPISODES:].max() < 0.1


both = pytest.mark.parametrize(
    ("environment", "episodes"), [(original, EPISODES), (large_step, 80)], ids=["small", "large"]
)
every_policy = pytest.mark.parametrize("policy", POLICIES)


@both
@every_policy
def test_a_transition_from_mujocos_own_state_is_mujocos(environment, episodes, policy):
    transitions = run(environment, policy, episodes)
    errors = error(transitions, environment.constants)
    assert errors[transitions.walls == 0].max() < ROUNDING
    assert errors[transitions.walls == 1].max() < ON_CONTACT
    # Between two walls MuJoCo's solver now and then stops a little earlier still.
    assert np.quantile(errors, 0.998) < ON_CONTACT
    assert errors.max() < 10 * ON_CONTACT


@both
@every_policy
def test_a_solver_that_does_not_stop_early_gets_the_same_to_rounding(environment, episodes, policy):
    exact = run(environment, policy, episodes // 4, tolerance=0.0)
    assert exact.walls.any()
    assert error(exact, environment.constants).max() < ROUNDING


@both
def test_what_differs_in_corners_shrinks_with_the_solvers_tolerance(environment, episodes):
    loose, tighter = (
        error(run(environment, "bang-bang", episodes, tolerance), environment.constants).max()
        for tolerance in (reference.SOLVER, reference.SOLVER / 1e4)
    )
    assert loose > 20 * tighter


def test_a_step_is_mujocos_from_anywhere_even_from_inside_walls_and_beyond_them():
    rng = np.random.default_rng(0)
    once = dataclasses.replace(ORIGINAL, frame_skip=1)
    place, velocity = rng.uniform(-0.2, 0.7, (50_000, 2)), rng.uniform(-3, 3, (50_000, 2))
    zero = np.zeros((len(place), 1))
    state = np.concatenate([place, zero, velocity, zero], axis=1)
    action = rng.uniform(-2, 2, (len(place), 2))
    after = reference.single_step(state, action)
    walls = reference.touching(state, reference.compiled())
    assert set(np.unique(walls)) == {0, 1, 2}
    errors = error(Run(state, action, after, walls), once)
    assert errors.max() < ROUNDING


@every_policy
def test_episodes_stay_beside_a_single_simulation_that_runs_freely(policy):
    episodes = 20
    transitions = run(original, policy, EPISODES)
    states = transitions.state.reshape(-1, EPISODES, 6)[:, :episodes]
    actions = transitions.action.reshape(-1, EPISODES, 2)[:, :episodes]
    ours = states[0]
    model = reference.compiled()
    simulations = [mujoco.MjData(model) for _ in range(episodes)]
    for data, state in zip(simulations, reference.physics(ours), strict=True):
        data.qpos[:], data.qvel[:] = state[1:3], state[3:5]
    furthest = 0.0
    for action in actions:
        ours = point_maze.transition(ours, action, None, None)
        for data, control in zip(simulations, action, strict=True):
            data.ctrl[:] = control
            mujoco.mj_step(model, data, nstep=ORIGINAL.frame_skip)
        theirs = np.array([(*data.qpos, *data.qvel) for data in simulations])
        furthest = max(furthest, np.abs(reference.physics(ours)[:, 1:] - theirs).max())
    assert furthest < (1e-4 if policy == "bang-bang" else 1e-9)


@pytest.mark.parametrize(
    "change", [{"margin": -1.0}, {"wall_height": 0.0}, {"contact_impedance": (0.9, 0.9, 0.001)}]
)
def test_a_sphere_without_these_walls_is_found_out(change):
    transitions = run(original, "bang-bang", EPISODES)
    errors = error(transitions, dataclasses.replace(ORIGINAL, **change))
    free = transitions.walls == 0
    assert errors[~free].max() > 1e-3
    if "margin" in change:
        assert errors[free].max() < ROUNDING


def test_ignoring_that_the_forces_of_two_walls_couple_is_found_out(monkeypatch):
    """Outside of a corner both walls push from the same point: their forces share the work."""
    state = np.array([[ORIGINAL.low - 0.02, ORIGINAL.low - 0.02, 0.0, 0.5, 0.5, 0.0]])
    action = np.ones((1, 2))
    transition = Run(state, action, reference.single_step(state, action), np.array([2]))
    once = dataclasses.replace(ORIGINAL, frame_skip=1)
    assert error(transition, once) < ROUNDING
    solve = contacts._solve
    monkeypatch.setattr(contacts, "_solve", lambda d, s, coupling: solve(d, s, 0.0))
    assert error(transition, once) > 1e-2


def test_a_large_step_is_five_small_ones():
    transitions = run(original, "bang-bang", EPISODES).rows(slice(0, 20_000))
    state, action = transitions.state, transitions.action
    far = large_step.transition(state, action, None, None)
    for _ in range(5):
        state = original.transition(state, action, None, None)
    np.testing.assert_array_equal(far, state)
    assert LARGE_STEP.duration == 5 * ORIGINAL.duration
