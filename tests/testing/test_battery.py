"""The checks pass what is right and, above all, fail what is wrong."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from dard.core.transitions import Transitions
from dard.testing import (
    SmoothReward,
    TabularMDP,
    check_reward,
    check_transition_model,
    rewards,
    tabular_mdps,
    transitions,
)

RNG = np.random.default_rng(0)
DATA = Transitions(RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2)), RNG.normal(size=(40, 3)))
TORCH_DATA = Transitions(*(torch.tensor(x) for x in (DATA.state, DATA.action, DATA.next_state)))


class TorchReward(torch.nn.Module):
    """A single-precision network with dropout, which only evaluation mode makes a function."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1)
        )

    def forward(self, state, action, next_state):
        return self.layers(next_state)


class CountingReward:
    """Keeps state: the tenth call and the first give different values."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, state, action, next_state):
        self.calls += 1
        return next_state[:, 0] + self.calls


def writing_reward(state, action, next_state):
    next_state -= state
    return next_state[:, 0]


def nan_reward(state, action, next_state):
    return np.where(np.arange(len(state)) == 7, np.nan, state[:, 0])


def noisy_reward(state, action, next_state):
    return state[:, 0] + np.random.default_rng().normal(size=len(state))


def normalised_reward(state, action, next_state):
    return state[:, 0] - state[:, 0].mean()


def cumulative_reward(state, action, next_state):
    return np.cumsum(state[:, 0])


def positional_reward(state, action, next_state):
    return state[:, 0] + (np.arange(len(state)) == 0)


class LaterNanReward:
    """Is fine when it is looked at for the first two times only."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, state, action, next_state):
        self.calls += 1
        return state[:, 0] if self.calls < 3 else state[:, 0] * np.nan


def raising_reward(state, action, next_state):
    raise KeyError("weights")


# Rewards


@given(reward=rewards(), data=transitions())
@settings(max_examples=20)
def test_smooth_rewards_pass(reward: SmoothReward, data: Transitions):
    check_reward(reward, data)


@pytest.mark.parametrize("data", [DATA, TORCH_DATA], ids=["numpy", "torch"])
def test_a_torch_module_passes_and_stays_in_training_mode(data: Transitions):
    reward = TorchReward().train()
    check_reward(reward, data)
    assert reward.training
    with torch.no_grad():
        inputs = [torch.as_tensor(np.array(DATA.next_state), dtype=torch.float32)] * 3
        assert not torch.equal(reward(*inputs), reward(*inputs)), "dropout is not at work"


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (CountingReward(), "second time"),
        (noisy_reward, "second time"),
        (LaterNanReward(), "second time"),
        (writing_reward, "writes into its input next_state"),
        (nan_reward, "1 values that are NaN or infinite, the first for transition 7"),
        (lambda s, a, z: z, r"returned shape \(40, 3\) for 40 transitions"),
        (lambda s, a, z: 0.0, r"returned shape \(\) for 40 transitions"),
        (lambda s, a, z: ["one"] * len(s), "expected an array of 40 real numbers"),
        (normalised_reward, "depends on the rest of the batch"),
        (cumulative_reward, "depends on the order of the batch"),
        (positional_reward, "depends on the order of the batch"),
        (raising_reward, "the reward raised: KeyError: 'weights'"),
        ("reward", "the reward is a str, not a callable"),
    ],
)
def test_broken_rewards_fail(reward: object, message: str):
    with pytest.raises(AssertionError, match=message):
        check_reward(reward, DATA)


def test_a_reward_that_writes_into_tensors_fails():
    with pytest.raises(AssertionError, match="writes into its input next_state"):
        check_reward(writing_reward, TORCH_DATA)


def test_one_transition_is_too_few():
    with pytest.raises(AssertionError, match="data has 1 transitions"):
        check_reward(SmoothReward(0), DATA[:1])
    with pytest.raises(AssertionError, match="data has 1 transitions"):
        check_transition_model(lambda s, a, rng: s, DATA[:1])


# Transition models


def drift(state, action, rng):
    return state + 0.1 * action[:, :1]


def noisy_drift(state, action, rng):
    return state + 0.1 * rng.normal(size=state.shape)


def torch_noisy_drift(state, action, rng):
    return state + 0.1 * torch.randn(state.shape, generator=rng, dtype=state.dtype)


def unseeded_drift(state, action, rng):
    return state + np.random.default_rng().normal(size=state.shape)


def writing_drift(state, action, rng):
    state += 0.1
    return state


def centring_drift(state, action, rng):
    return state - state.mean(axis=0)


def infinite_drift(state, action, rng):
    return np.where(np.arange(len(state))[:, None] == 3, np.inf, state)


@pytest.mark.parametrize("model", [drift, noisy_drift])
@pytest.mark.parametrize("actions", [None, np.array([[0.0, 1], [1, 0], [2, 2]])])
def test_models_pass(model: Callable, actions: np.ndarray | None):
    check_transition_model(model, DATA, actions)


def test_a_torch_model_passes():
    check_transition_model(torch_noisy_drift, TORCH_DATA, torch.ones(4, 2))


@given(mdp=tabular_mdps())
@settings(max_examples=20)
def test_tabular_models_pass(mdp: TabularMDP):
    check_transition_model(mdp.transition_model(), mdp.transitions(30), np.arange(mdp.n_actions))
    check_reward(mdp.reward(), mdp.transitions(30))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda s, a, rng: s[:, :2], r"shape \(40, 2\) for states of shape \(40, 3\)"),
        (lambda s, a, rng: s.astype(int), "dtype int64 for states of float64"),
        (lambda s, a, rng: s.tolist(), "returned list; expected an array"),
        (infinite_drift, "1 next states with NaN or infinity, the first for transition 3"),
        (unseeded_drift, "two results for generators of one seed"),
        (writing_drift, "writes into its input state"),
        (centring_drift, "depends on the rest of the batch"),
        (lambda s, a, rng: np.cumsum(s, axis=0), "depends on the order of the batch"),
        (lambda s, a: s, "the transition model raised: TypeError"),
        (None, "the transition model is a NoneType, not a callable"),
    ],
)
def test_broken_models_fail(model: object, message: str):
    with pytest.raises(AssertionError, match=message):
        check_transition_model(model, DATA)


def test_actions_are_the_ones_that_were_given():
    def refuses_large_actions(state, action, rng):
        return np.where(np.abs(action[:, :1]) > 10, np.nan, state)

    check_transition_model(refuses_large_actions, DATA)
    with pytest.raises(AssertionError, match=r"20 next states .* transition 1"):
        check_transition_model(refuses_large_actions, DATA, np.array([[0.0, 0], [20, 0]]))
