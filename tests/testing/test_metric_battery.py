"""Every metric of ours passes, and every promise can be broken in a way that is noticed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from dard.core.transitions import Transitions
from dard.metrics.dard import DARD
from dard.metrics.epic import EPIC
from dard.metrics.estimate import distance
from dard.metrics.pearson import Pearson
from dard.metrics.plan import Properties
from dard.testing import SmoothReward, TabularMDP, check_metric

RNG = np.random.default_rng(0)
STATE, ACTION = RNG.normal(size=(300, 2)), RNG.uniform(-1, 1, (300, 2))
DATA = Transitions(STATE, ACTION, STATE + ACTION)
CORNERS = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])


def walk(state: Any, action: Any, rng: Any) -> Any:
    return state + action


def noisy_walk(state: np.ndarray, action: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return state + action + 0.3 * rng.normal(size=state.shape)


METRICS = {
    "Pearson": Pearson(),
    "EPIC paired": EPIC(),
    "EPIC full": EPIC(estimator="full", samples=32),
    "DARD paired": DARD(walk, CORNERS, action_samples=2),
    "DARD full": DARD(walk, CORNERS, estimator="full"),
    "DARD with chance": DARD(noisy_walk, CORNERS, discount=0.8, next_states=2),
}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
def test_our_metrics_pass(metric: Any):
    check_metric(metric, DATA, seed=5)


def test_rewards_of_another_library_pass():
    torch.manual_seed(0)
    modules = [TorchReward(), TorchReward()]
    check_metric(EPIC(), DATA, rewards=modules)
    tensors = [torch.as_tensor(np.array(x)) for x in (DATA.state, DATA.action, DATA.next_state)]
    check_metric(DARD(walk, CORNERS), Transitions(*tensors), rewards=modules)


def test_tabular_problems_pass():
    rng = np.random.default_rng(0)
    mdp = TabularMDP(rng.normal(size=(4, 3, 4)), rng.dirichlet(np.ones(4), size=(4, 3)), 0.9)
    metric = DARD(mdp.transition_model(), np.arange(3), discount=0.9)
    check_metric(metric, mdp.transitions(400))


class TorchReward(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
        )

    def forward(self, state, action, next_state):
        return self.layers(next_state)


# Broken metrics


class Unseeded(EPIC):
    def plan(self, data: Transitions, seed: int) -> Any:
        return super().plan(data, int(np.random.default_rng().integers(2**32)))


class PromisesShaping(Pearson):
    properties = Properties(shaping_invariant=True)
    discount = 0.95


class PromisesShapingOfNothing(Pearson):
    properties = Properties(shaping_invariant=True)


class WrongDiscount(EPIC):
    def plan(self, data: Transitions, seed: int) -> Any:
        return EPIC(discount=0.5).plan(data, seed)


class CubicCanonical(Pearson):
    def canonicalize(self, reward: Callable, data: Transitions, seed: int = 0) -> np.ndarray:
        return reward(data.state, data.action, data.next_state) ** 3


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Unseeded(), "not the same for the same seed"),
        (PromisesShaping(), r"not invariant to shaping \(discount 0.95\) of reward 1"),
        (WrongDiscount(), r"not invariant to shaping \(discount 0.95\) of reward 1"),
        (PromisesShapingOfNothing(), "promises shaping invariance, but has no discount"),
        (CubicCanonical(), "canonicalize is not linear"),
    ],
)
def test_broken_metrics_fail(metric: Any, message: str):
    with pytest.raises(AssertionError, match=message):
        check_metric(metric, DATA)


# Broken distances: each changes the true one, but never 0 or 1.


def values(reward: Callable) -> np.ndarray:
    return reward(DATA.state, DATA.action, DATA.next_state)


def spread(reward: Callable) -> float:
    """Changes with scale alone."""
    return float(np.std(values(reward)))


def level(reward: Callable) -> float:
    """Changes with shift alone."""
    return abs(float(np.mean(values(reward)))) / spread(reward)


def skewness(reward: Callable) -> float:
    """Changes with neither."""
    return float(np.mean((values(reward) - np.mean(values(reward))) ** 3)) / spread(reward) ** 3


def lopsided(one: float, other: float) -> float:
    return 1.0 if one > other else 0.9


def ratio(one: float, other: float) -> float:
    return min(one, other) / max(one, other)


def changed(factor: Callable[[Callable, Callable], float]) -> Callable[..., float]:
    def broken(one: Callable, other: Callable, *rest: Any, seed: int) -> float:
        true = float(distance(one, other, *rest, seed=seed))
        return true if true < 0.01 or true > 0.99 else true * factor(one, other)

    return broken


BROKEN = {
    "to its negative is 0; expected 1": lambda *pair, seed: 0.0,
    "to itself is 1; expected 0": lambda *pair, seed: 1.0,
    "a distance is undefined on this data: it is NaN": lambda *pair, seed: np.nan,
    r"outside its range \[0, 1\]": changed(lambda one, other: 3),
    "not symmetric": changed(lambda one, other: lopsided(skewness(one), skewness(other))),
    "not invariant to scale": changed(lambda one, other: ratio(spread(one), spread(other))),
    "not invariant to shift": changed(lambda one, other: ratio(level(one), level(other))),
}


@pytest.mark.parametrize(("message", "broken"), BROKEN.items(), ids=BROKEN.keys())
def test_broken_distances_fail(message: str, broken: Callable[..., float]):
    check_metric(Pearson(), DATA, distance=changed(lambda one, other: 1.0))
    with pytest.raises(AssertionError, match=message):
        check_metric(Pearson(), DATA, distance=broken)


def test_squared_distances_break_the_triangle():
    def squared(*pair: Any, seed: int) -> float:
        return float(distance(*pair, seed=seed)) ** 2

    first, last = SmoothReward(0), SmoothReward(1)
    rewards = [first, lambda *columns: first(*columns) + last(*columns), last]
    check_metric(Pearson(), DATA, rewards=rewards)
    with pytest.raises(AssertionError, match="triangle inequality fails: rewards 0 and 2 are"):
        check_metric(Pearson(), DATA, rewards=rewards, distance=squared)


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        ("symmetric", BROKEN["not symmetric"]),
        ("scale_invariant", BROKEN["not invariant to scale"]),
        ("shift_invariant", BROKEN["not invariant to shift"]),
    ],
)
def test_promises_that_are_not_made_are_not_checked(promise: str, broken: Callable[..., float]):
    class Modest(Pearson):
        properties = replace(
            Properties(shaping_invariant=False, triangle=False), **{promise: False}
        )

    check_metric(Modest(), DATA, distance=broken)


def test_constant_rewards_and_single_rewards_are_refused():
    def constant(state: np.ndarray, action: np.ndarray, next_state: np.ndarray) -> np.ndarray:
        return np.full(len(state), 0.1)

    with pytest.raises(AssertionError, match=r"undefined on this data: .* no variance"):
        check_metric(Pearson(), DATA, rewards=[SmoothReward(0), constant])
    with pytest.raises(AssertionError, match="rewards has 1 entries"):
        check_metric(Pearson(), DATA, rewards=[SmoothReward(0)])
