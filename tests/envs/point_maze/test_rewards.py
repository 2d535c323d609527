"""The rewards of the maze."""

import numpy as np
import pytest
from tests.envs.point_maze.reference import TARGET, run

import dard
from dard.core.noise import standard_normal
from dard.envs.point_maze import feasible, ground_truth, large_step, original, shaped

both = pytest.mark.parametrize("environment", [original, large_step], ids=lambda e: e.name)


def distances(state):
    return np.sqrt(np.sum((state[:, :3] - [*TARGET, 0]) ** 2, axis=1))


def test_the_ground_truth_is_the_distance_before_the_step_and_effort():
    state, action, next_state, _ = run(original, "goal-seeking", 20)
    expected = -distances(state) - 0.001 * (action[:, 0] ** 2 + action[:, 1] ** 2)
    np.testing.assert_allclose(ground_truth(state, action, next_state), expected, rtol=1e-13)
    elsewhere = ground_truth(state, action, next_state[::-1])
    np.testing.assert_array_equal(elsewhere, ground_truth(state, action, next_state))


def test_shaping_adds_the_difference_of_potentials():
    state, action, next_state, _ = run(original, "goal-seeking", 20)
    added = shaped(state, action, next_state) - ground_truth(state, action, next_state)
    expected = 10 * distances(state) - 0.99 * 10 * distances(next_state)
    np.testing.assert_allclose(added, expected, atol=1e-13)


@both
@pytest.mark.parametrize("policy", ["uniform", "bang-bang", "goal-seeking"])
def test_what_dard_asks_about_is_feasible(environment, policy):
    data = run(environment, policy, 80)
    assert feasible(data.state, data.next_state, environment.constants).all()
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(data.state), 20_000)
    state = data.state[rows]
    first, second = (
        environment.transition(state, action, None, None)
        for action in (data.action[rows], rng.choice([-1.0, 1.0], (len(rows), 2)))
    )
    pairs = [(state, first), (state, second), (first, second), (second, first)]
    for before, after in pairs:
        assert feasible(before, after, environment.constants).all()
        action = rng.uniform(-1, 1, (len(rows), 2))
        rewards = environment.rewards
        np.testing.assert_array_equal(
            rewards["FEASIBILITY"](before, action, after), rewards["SHAPED"](before, action, after)
        )


def test_impossible_transitions_get_noise_that_is_a_function_of_them():
    state, action, next_state, _ = run(original, "goal-seeking", 80)
    far = np.random.default_rng(0).permutation(next_state)
    jumps = ~feasible(state, far)
    assert jumps.mean() > 0.2
    values = original.rewards["FEASIBILITY"](state, action, far)
    np.testing.assert_array_equal(values[jumps], standard_normal(0, state, action, far)[jumps])
    np.testing.assert_array_equal(values[~jumps], shaped(state, action, far)[~jumps])


@both
@pytest.mark.filterwarnings("ignore::dard.core.errors.VarianceWarning")
@pytest.mark.filterwarnings("ignore::dard.core.errors.RoundingWarning")
def test_dard_sees_through_shaping_and_impossible_transitions_and_epic_does_not(environment):
    run_ = run(environment, "uniform", 30)
    data = dard.Transitions(run_.state, run_.action, run_.next_state)
    metric = dard.DARD(environment.transition_model, environment.actions, environment.discount)
    rewards = environment.rewards
    comparison = dard.compare(rewards, data, {"DARD": metric, "Pearson": dard.Pearson()})
    dard_of, pearson = comparison["DARD"], comparison["Pearson"]
    assert dard_of.estimate("GT", "SHAPED").value < 1e-9
    assert dard_of.estimate("GT", "FEASIBILITY").value < 1e-9
    assert pearson.estimate("GT", "SHAPED").value > 0.1
    epic = dard.EPIC(environment.discount)
    assert dard.distance(rewards["GT"], rewards["FEASIBILITY"], data, epic).value > 0.05
