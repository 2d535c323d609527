"""The rewards of Reacher, and the two distances that identify them."""

import numpy as np
import pytest
from tests.envs.reacher.reference import HORIZON, POLICIES, episodes, start, step

import dard
from dard.core.errors import RoundingWarning
from dard.envs import reacher

actions = reacher.environment.actions


def collected(policy, count, seed=0):
    """Return the transitions of an environment that ends episodes when a joint is too fast."""
    run = episodes(policy, count, seed=seed)
    states = run.states
    ended = np.logical_or.accumulate(reacher.terminated(states[:, :-1]), axis=1).ravel()
    before, after = (x.reshape(-1, 11)[~ended] for x in (states[:, :-1], states[:, 1:]))
    return before, run.actions.reshape(-1, 2)[~ended], after


def test_values_by_hand():
    state, after = np.zeros((2, 11)), np.zeros((2, 11))
    state[:, 8:10] = [(0.03, -0.04 + 1e-9), (0.03, -0.04 - 1e-9)]
    after[:, 8:10] = [(0.12, 0.16), (0, 0)]
    action = np.array([[0.5, -1.0], [0.0, 0.0]])
    truth = reacher.ground_truth(state, action, after)
    np.testing.assert_allclose(truth, [1 - 0.05 - 1.25, -0.05], atol=1e-8)
    shaping = [10 * (0.95 * 0.2 - 0.05), -10 * 0.05]
    np.testing.assert_allclose(reacher.shaped(state, action, after) - truth, shaping, atol=1e-7)


def test_feasibility_is_shaped_or_noise():
    state, action, after = collected("uniform", 50)
    other = np.roll(after, 7 * HORIZON, axis=0)
    np.testing.assert_array_equal(
        reacher.feasibility(state, action, after), reacher.shaped(state, action, after)
    )
    noise = reacher.feasibility(state, action, other)
    assert not reacher.feasible(state, other).any()
    np.testing.assert_array_equal(noise, reacher.feasibility(state, action, other))
    assert abs(noise.mean()) < 0.06
    assert abs(noise.std() - 1) < 0.06
    assert abs(np.corrcoef(noise, reacher.shaped(state, action, other))[0, 1]) < 0.06


@pytest.mark.parametrize("policy", POLICIES)
def test_every_transition_that_dard_asks_for_is_feasible(policy):
    """Dataset transitions, their successors under every action, and the pairs (S', S'')."""
    state, _, after = collected(policy, 30)
    assert reacher.feasible(state, after).all()
    corners = actions[[0, 3, 12, 15]]
    first = [step(state, np.broadcast_to(a, (len(state), 2))) for a in corners]
    second = [step(after, np.broadcast_to(a, (len(state), 2))) for a in corners]
    for successor in first:
        assert reacher.feasible(state, successor).all()
        for next_successor in second:
            assert reacher.feasible(successor, next_successor).all()
    for successor in second:
        assert reacher.feasible(after, successor).all()


def test_what_the_arm_cannot_do_is_infeasible():
    state, _, after = collected("uniform", 20)
    for column, amount in ((0, 20.0), (1, 20.0), (2, 0.02), (3, -0.02), (4, 60.0), (6, 0.02)):
        impossible = after.copy()
        impossible[:, column] += amount
        assert not reacher.feasible(state, impossible).any()
    # The elbow may be thrown back by its limit, at rest it may not.
    resting = np.zeros((1, 11))
    fast = resting.copy()
    fast[:, 5] = 50.0
    assert not reacher.feasible(resting, fast).any()
    assert reacher.feasible(fast, resting).all()


def test_dard_does_not_see_what_is_infeasible_and_epic_does():
    data = dard.Transitions(*collected("uniform", 100))
    rewards = reacher.environment.rewards
    metrics = {
        "DARD": dard.DARD(reacher.transition_model, actions),
        "EPIC": dard.EPIC(),
        "Pearson": dard.Pearson(),
    }
    comparison = dard.compare(rewards, data, metrics)
    values = {name: comparison[name].estimate for name in metrics}
    assert values["DARD"]("GT", "FEASIBILITY").value < 1e-9
    assert values["DARD"]("GT", "SHAPED").value < 1e-9
    # The paper's numbers, for which 10,000 transitions have a standard error of about 0.005.
    assert abs(values["Pearson"]("GT", "SHAPED").value - 0.3697) < 0.015
    assert abs(values["EPIC"]("GT", "FEASIBILITY").value - 0.5278) < 0.02


def test_dard_of_feasibility_is_rounding_in_single_precision():
    transitions = (x.astype(np.float32) for x in collected("uniform", 10))
    metric = dard.DARD(reacher.transition_model, actions.astype(np.float32))
    rewards = reacher.environment.rewards
    with pytest.warns(RoundingWarning):
        distance = dard.distance(
            rewards["GT"], rewards["FEASIBILITY"], dard.Transitions(*transitions), metric
        )
    assert distance.value < 1e-5


def test_fast_starts_next_to_the_limit_are_feasible_too():
    rng = np.random.default_rng(0)
    state = start(4000, rng)
    state[:, 1] = rng.choice([-1, 1], 4000) * rng.uniform(1.5, 3.05, 4000)
    state[:, 4:6] = rng.uniform(-50, 50, (4000, 2))
    for action in actions[[0, 5, 15]]:
        after = step(state, np.broadcast_to(action, (4000, 2)))
        assert reacher.feasible(state, after).all()
        for branch in actions[[0, 3, 12, 15]]:
            first = step(state, np.broadcast_to(branch, (4000, 2)))
            for last in actions[[0, 3, 12, 15]]:
                second = step(after, np.broadcast_to(last, (4000, 2)))
                assert reacher.feasible(first, second).all()
