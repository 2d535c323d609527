"""Shaping, scale and shift change nothing, to rounding, however few inner draws are taken."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dard
from dard.metrics.plan import Part, Properties
from dard.testing import (
    ShapedReward,
    SmoothPotential,
    SmoothReward,
    TabularMDP,
    TabularReward,
    potentials,
    rewards,
    tabular_mdps,
    transitions,
)

DISCOUNT = 0.9
ACTIONS = np.linspace(-1, 1, 5)

pytestmark = pytest.mark.filterwarnings("ignore::dard.core.errors.DardWarning")


def steady(state: Any, action: Any, rng: Any) -> Any:
    return 0.9 * state + np.tanh(action.sum(axis=1, keepdims=True))


def noisy(state: Any, action: Any, rng: Any) -> Any:
    return steady(state, action, rng) + 0.3 * rng.normal(size=state.shape)


def continuous_metrics(width: int) -> list[Any]:
    """Return every estimator, for actions of `width` components."""
    actions = np.repeat(ACTIONS[:, None], width, axis=1)

    def sampler(state: Any, rng: Any) -> Any:
        return rng.normal(size=(len(state), width)) + state[:, :1]

    return [
        dard.EPIC(DISCOUNT, samples=2),
        dard.EPIC(DISCOUNT, estimator="full", samples=5),
        dard.DARD(steady, actions, DISCOUNT, action_samples=1),
        dard.DARD(noisy, actions, DISCOUNT, next_states=3, action_samples=2),
        dard.DARD(noisy, actions, DISCOUNT, next_states=2, estimator="full"),
        dard.DARD(noisy, sampler, DISCOUNT, next_states=2, action_samples=3),
        dard.DARD(noisy, sampler, DISCOUNT, estimator="full", action_samples=4),
    ]


def tabular_metrics(mdp: TabularMDP) -> list[Any]:
    actions, model = np.arange(mdp.n_actions), mdp.transition_model()
    return [
        dard.EPIC(mdp.discount, samples=3),
        dard.EPIC(mdp.discount, estimator="full", samples=4),
        dard.DARD(model, actions, mdp.discount, next_states=2, action_samples=1),
        dard.DARD(model, actions, mdp.discount, next_states=2, estimator="full"),
    ]


def canonical(metric: Any, reward: Any, data: dard.Transitions) -> np.ndarray:
    return metric.canonicalize(reward, data, seed=4)


def assert_same_distances(metric: Any, reward: Any, changed: Any, other: Any, data: Any) -> None:
    """Check that `changed` is `reward` to the metric, also where they are compared."""
    before, after = (dard.distance(x, other, data, metric, seed=4) for x in (reward, changed))
    # Where inner noise makes a canonical variance negative there is no distance to compare.
    assume(before.undefined is None and after.undefined is None)
    # A squared distance is divided by both variances: near 0 they magnify rounding.
    assume(min(before.variance_share + after.variance_share) > 1e-3)
    assert after.squared == pytest.approx(before.squared, abs=1e-10)
    assert after.squared_error == pytest.approx(before.squared_error, abs=1e-10, nan_ok=True)
    own = dard.distance(reward, changed, data, metric, seed=4)
    assert float(own) <= min(own.rounding_floor, 1e-10)
    assert own.interval()[0] == 0 or np.isnan(own.squared_error)


@settings(max_examples=25)
@given(
    data=transitions(min_size=40, max_size=60, max_dimensions=2),
    reward=rewards(),
    other=rewards(),
    potential=potentials(),
)
def test_continuous_problems(data, reward, other, potential):
    changed = ShapedReward(reward, potential, DISCOUNT, scale=3.7, shift=5.0)
    for metric in continuous_metrics(data.action.shape[1]):
        expected = 3.7 * canonical(metric, reward, data)  # The shift cancels: 1 + g - 1 - g = 0.
        np.testing.assert_allclose(canonical(metric, changed, data), expected, rtol=0, atol=1e-10)
        assert_same_distances(metric, reward, changed, other, data)


@settings(max_examples=25)
@given(mdp=tabular_mdps(max_states=6), seed=st.integers(0, 1000))
def test_tabular_problems(mdp, seed):
    rng = np.random.default_rng(seed)
    changed = TabularReward(2.5 * mdp.shaped(10 * rng.normal(size=mdp.n_states)).R - 7)
    other = TabularReward(rng.normal(size=mdp.R.shape))
    data = mdp.transitions(80, seed)
    for metric in tabular_metrics(mdp):
        expected = 2.5 * canonical(metric, mdp.reward(), data)
        np.testing.assert_allclose(canonical(metric, changed, data), expected, rtol=0, atol=1e-10)
        assert_same_distances(metric, mdp.reward(), changed, other, data)


# Negative controls


@dataclass(frozen=True)
class Fresh:
    """A metric whose terms do not share their draws: each of DARD's has a seed of its own."""

    metric: Any
    properties = Properties(shaping_invariant=False)

    def plan(self, data: Any, seed: int) -> Any:
        return FreshPlan([self.metric.plan(data, seed + k) for k in range(3)])


class FreshPlan:
    def __init__(self, plans: list[Any]) -> None:
        self.plans = plans

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plans[0], name)

    def block(self, number: int, *, whole: bool = False) -> Any:
        blocks = [plan.block(number) for plan in self.plans]
        own, *terms = blocks[0].terms
        if len(terms) == 1:
            fresh = [self.fresh_batch(terms[0])]
        else:
            fresh = [block.terms[k] for k, block in enumerate(blocks, 1)]
        return replace(blocks[0], terms=(own, *fresh))

    def fresh_batch(self, means: Any) -> Any:
        """Give each state of EPIC pairs (u, x) of its own."""
        pairs = self.marginals.draw(np.random.default_rng(0), means.queries)
        shape = (means.outer, means.per)
        action, state = (Part(x.reshape((*shape, *x.shape[1:]))) for x in pairs)
        return replace(means, action=action, next_state=state)


def example() -> tuple[dard.Transitions, Any, Any]:
    data = dard.Transitions(*np.random.default_rng(0).normal(size=(3, 500, 1)))
    reward = SmoothReward(1)
    return data, reward, ShapedReward(reward, SmoothPotential(2), DISCOUNT)


@pytest.mark.parametrize(
    "metric",
    [
        dard.EPIC(DISCOUNT, estimator="full", samples=8),
        dard.EPIC(DISCOUNT),
        dard.DARD(noisy, ACTIONS[:, None], DISCOUNT),
        dard.DARD(noisy, ACTIONS[:, None], DISCOUNT, estimator="full"),
    ],
    ids=["full EPIC", "EPIC", "DARD", "full DARD"],
)
def test_fresh_draws_for_each_term_break_the_identity(metric):
    data, reward, shaped = example()
    assert float(dard.distance(reward, shaped, data, metric)) < 1e-10
    # Paired: still unbiased, but no longer exact. Full: biased, even a long way off.
    found = dard.distance(reward, shaped, data, Fresh(metric)).squared
    assert abs(found) > (1e-3 if metric.estimator == "paired" else 0.02)


def test_pearson_and_other_discounts_break_the_identity():
    data, reward, shaped = example()
    assert float(dard.distance(reward, shaped, data, dard.Pearson())) > 0.1
    for metric in (dard.EPIC(0.5), dard.DARD(noisy, ACTIONS[:, None], 0.5)):
        assert float(dard.distance(reward, shaped, data, metric)) > 0.01


def test_a_reward_and_its_negative_are_as_far_apart_as_can_be():
    data, reward, shaped = example()
    for metric in (dard.Pearson(), *continuous_metrics(1)):
        opposite = ShapedReward(reward, scale=-2.0, shift=3.0)
        assert float(dard.distance(reward, opposite, data, metric)) == pytest.approx(1, abs=1e-10)
        assert float(dard.distance(reward, reward, data, metric)) == 0.0
        if not isinstance(metric, dard.Pearson):
            opposite = ShapedReward(shaped, scale=-2.0)
            found = dard.distance(reward, opposite, data, metric)
            assert float(found) == pytest.approx(1, abs=1e-10)
