"""GROUND TRUTH, SHAPED and FEASIBILITY of Bouncing Balls, on transitions made for each case."""

from typing import Any

import numpy as np
import pytest
from tests.envs.bouncing_balls.data import around_relocations, scattered, uniform_policy

from dard.core.noise import standard_normal
from dard.core.transitions import Transitions
from dard.envs.bouncing_balls import (
    actions,
    environment,
    feasibility,
    feasible,
    ground_truth,
    shaped,
    transition_model,
)

ACTION = np.zeros((1, 2))


def state(agent=(0.0, 0.0), goal=(20.0, 0.0)):
    """Return a state whose other balls stand in a row."""
    row = np.zeros((1, 26))
    row[0, :2], row[0, 24:] = agent, goal
    row[0, 2:12] = np.arange(10)
    return row


@pytest.fixture(scope="module")
def data() -> Transitions:
    return uniform_policy(400)


@pytest.fixture(scope="module")
def relocations(data) -> Transitions:
    chosen = around_relocations(data, 100)
    assert len(chosen) == 300
    return chosen


@pytest.mark.parametrize(("distance", "reward"), [(0.0, 1), (1.99, 1), (2.0, 0), (9.0, 0)])
def test_reaching_the_goal_is_rewarded(distance, reward) -> None:
    before, after = state(agent=(10, 0)), state(agent=(20 - distance, 0))
    assert ground_truth(before, ACTION, after) == reward


def test_staying_at_the_goal_is_rewarded_where_a_model_makes_it() -> None:
    at_goal = state(agent=(19, 0))
    assert ground_truth(at_goal, ACTION, at_goal) == 1


def test_a_relocation_is_not_rewarded_even_onto_the_goal() -> None:
    lucky = state(agent=(-10, 3), goal=(-10, 4))
    assert ground_truth(state(agent=(19, 0)), ACTION, lucky) == 0


def test_unrelated_states_are_rewarded_by_the_second() -> None:
    lucky = state(agent=(-10, 3), goal=(-10, 4))
    assert ground_truth(state(), ACTION, lucky) == 1


def test_the_transition_into_the_goal_is_rewarded_and_the_next_one_is_not(relocations) -> None:
    entering, relocating, _ = np.split(ground_truth(*columns(relocations)), 3)
    assert (entering == 1).all()
    assert (relocating == 0).all()


def columns(data):
    return data.state, data.action, data.next_state


def potential(states):
    return -np.sqrt(np.linalg.norm(states[:, 24:] - states[:, :2], axis=1))


def test_shaped_is_the_ground_truth_and_a_potential(data) -> None:
    expected = (
        ground_truth(*columns(data)) + 0.95 * potential(data.next_state) - potential(data.state)
    )
    np.testing.assert_allclose(shaped(*columns(data)), expected, rtol=0, atol=1e-12)


def test_shaping_rewards_the_way_to_the_goal() -> None:
    near, far = state(agent=(1, 0)), state(agent=(-1, 0))
    assert shaped(state(), ACTION, near) > shaped(state(), ACTION, far)


def pairs_of_the_last_term(data: Transitions, seed: int) -> tuple[Any, Any]:
    """Return successors of ``s`` and of ``s'`` under unrelated actions."""
    rng = np.random.default_rng(seed)
    first, second = (actions[rng.integers(0, 64, len(data))] for _ in range(2))
    return transition_model(data.state, first), transition_model(data.next_state, second)


@pytest.mark.parametrize("which", ["data", "relocations"])
def test_whatever_dard_asks_about_is_feasible(which, request) -> None:
    data = request.getfixturevalue(which)
    ahead, beyond = pairs_of_the_last_term(data, 1)
    assert feasible(data.state, data.next_state).all()
    assert feasible(data.state, ahead).all()
    assert feasible(data.next_state, beyond).all()
    assert feasible(ahead, beyond).all()


def test_extreme_states_and_actions_are_feasible() -> None:
    before, action, uniform, normal = scattered(20_000)
    after = environment.transition(before, action, uniform, normal)
    data = Transitions(before, action, after)
    ahead, beyond = pairs_of_the_last_term(data, 2)
    assert feasible(before, after).all()
    assert feasible(ahead, beyond).all()
    assert feasible(after, beyond).all()


def test_pairs_after_a_relocation_need_the_allowance_around_the_goal(relocations) -> None:
    _, relocating, _ = np.split(np.arange(len(relocations)), 3)
    ahead, beyond = pairs_of_the_last_term(relocations[relocating], 3)
    jumped = abs(beyond[:, :2] - ahead[:, :2]).max(axis=1) > 3.9
    left_the_goal = np.hypot(*(ahead[:, 24:] - ahead[:, :2]).T) >= 2
    assert (jumped & left_the_goal).sum() >= 5


@pytest.mark.parametrize("column", [2, 7, 11])
def test_another_ball_that_jumps_is_not_feasible(column) -> None:
    for agent in ((0, 0), (19, 0)):
        before = state(agent=agent)
        for step, possible in ((3.8, True), (-3.8, True), (4.0, False), (-4.0, False)):
            after = before.copy()
            after[0, column] += step
            assert feasible(before, after) == possible


def test_agent_and_goal_jump_only_from_the_goal() -> None:
    elsewhere = state(agent=(-20, -20), goal=(20, 20))
    only_goal, only_agent = state(goal=(20, 0.5)), state(agent=(-10, 0))
    for after in (elsewhere, only_goal, only_agent):
        assert not feasible(state(), after)
    assert feasible(state(agent=(19, 0)), elsewhere)


def test_unrelated_states_are_not_feasible(data) -> None:
    shuffled = np.random.default_rng(4).permutation(data.next_state)
    assert feasible(data.state, shuffled).mean() < 1e-4


def test_feasibility_is_shaped_where_feasible_and_noise_elsewhere(data) -> None:
    np.testing.assert_array_equal(feasibility(*columns(data)), shaped(*columns(data)))
    shuffled = np.random.default_rng(4).permutation(data.next_state)
    values = feasibility(data.state, data.action, shuffled)
    impossible = ~feasible(data.state, shuffled)
    noise = standard_normal(0, data.state, data.action, shuffled)
    np.testing.assert_array_equal(values[impossible], noise[impossible])
    assert values.mean() == pytest.approx(0, abs=0.02)
    assert values.std() == pytest.approx(1, abs=0.02)


def test_another_seed_is_other_noise() -> None:
    far = state(agent=(-10, 0))
    assert feasibility(state(), ACTION, far) == feasibility(state(), ACTION, far)
    assert feasibility(state(), ACTION, far) != feasibility(state(), ACTION, far, seed=1)
