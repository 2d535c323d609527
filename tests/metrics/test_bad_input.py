"""Bad input ends in one line that says what is wrong, where, and what to do."""

import itertools
from typing import Any

import numpy as np
import pytest

import dard
from dard.core.errors import (
    ConfigurationError,
    DardError,
    DataError,
    DataWarning,
    DeviceMemoryError,
    GroupingWarning,
    RewardError,
    TransitionModelError,
)
from dard.testing import SmoothReward

REWARD, OTHER = SmoothReward(1), SmoothReward(2)
ACTIONS = dard.action_grid([-1, -1], [1, 1], 3)


def model(state: Any, action: Any, rng: Any) -> Any:
    return 0.7 * state + 0.5 * action


def steps(n: int = 1000, episode: Any = None) -> dard.Transitions:
    rng = np.random.default_rng(0)
    state, action = rng.normal(size=(n, 2)), rng.uniform(-1, 1, (n, 2))
    return dard.Transitions(state, action, model(state, action, rng), episode)


METRICS = {
    "Pearson": dard.Pearson(),
    "EPIC": dard.EPIC(),
    "full EPIC": dard.EPIC(estimator="full", samples=32),
    "DARD": dard.DARD(model, ACTIONS),
    "full DARD": dard.DARD(model, ACTIONS, estimator="full"),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def refused(error: type[DardError], text: str) -> Any:
    """Expect an error of one line."""
    return pytest.raises(error, match=rf"\A(?=.*{text})[^\n]+\Z")


# Rewards


@every_metric
def test_a_reward_that_raises_is_named_with_its_block_and_cause(metric):
    data = steps(30_000)
    odd = np.array_split(data.state[:, 0], 30)[-1].max()  # late in the data

    def broken(state: Any, action: Any, next_state: Any) -> Any:
        if odd in state[:, 0]:
            raise KeyError("no such\nplace")
        return REWARD(state, action, next_state)

    with refused(RewardError, r"reward 'bad' raised in block \d+: KeyError: .*place") as caught:
        dard.compare({"good": OTHER, "bad": broken}, data, metric)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_reward_that_raises_at_once_keeps_its_cause():
    with refused(RewardError, "'reward_a' raised on the first transitions: Zero") as caught:
        dard.distance(lambda s, a, s2: 1 / 0, OTHER, steps(), dard.Pearson())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (None, "reward 'reward_a' is a NoneType, not a callable"),
        (lambda s, a, s2: REWARD(s, a, s2)[:-1], r"returned shape \(31,\) for 32 transitions"),
        (lambda s, a, s2: np.zeros((len(s), 2)), r"shape \(32, 2\) for 32 .* whole batches"),
        (lambda s, a, s2: 1.0, r"returned shape \(\)"),
        (lambda s, a, s2: None, "values of dtype object; expected an array of 32 real"),
        (lambda s, a, s2: s[:, 0].astype(object), "values of dtype object"),
        (lambda s, a, s2: s[:, 0] + 1j, "values of dtype complex128"),
        (lambda s, a, s2: ["high"] * len(s), "values of dtype <U4"),
        (lambda s, a, s2: s.__imul__(2)[:, 0], "writes into its inputs"),
    ],
)
def test_rewards_that_return_nonsense(broken, text):
    with refused(RewardError, text):
        dard.distance(broken, OTHER, steps(), dard.Pearson())


def test_rewards_that_keep_state_or_draw_random_numbers():
    calls, rng = itertools.count(), np.random.default_rng(0)
    for broken in (
        lambda s, a, s2: REWARD(s, a, s2) + next(calls),
        lambda s, a, s2: REWARD(s, a, s2) + rng.normal(size=len(s)),
    ):
        with refused(RewardError, "'reward_a' is not a function: .* keeps state, draws random"):
            dard.distance(broken, OTHER, steps(), dard.Pearson())


def test_pytorch_rewards_that_write_into_their_inputs():
    torch = pytest.importorskip("torch")
    state = torch.zeros(50, 2, dtype=torch.float64)
    data = dard.Transitions(state, state, state)
    with refused(RewardError, "'reward_a' writes into its inputs"):
        dard.distance(lambda s, a, s2: s.add_(1)[:, 0], OTHER, data, dard.Pearson())


class SmallDevice:
    """A reward on a device that holds `room` transitions at a time."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.largest = 0

    def __call__(self, state: Any, action: Any, next_state: Any) -> Any:
        if len(state) > self.room:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        self.largest = max(self.largest, len(state))
        return REWARD(state, action, next_state)


@every_metric
def test_a_device_that_runs_out_of_memory_gets_smaller_batches(metric):
    data, small = steps(5000), SmallDevice(300)
    found = dard.distance(small, OTHER, data, metric)
    expected = dard.distance(REWARD, OTHER, data, metric)
    assert small.largest == 256
    assert found.evaluations == expected.evaluations
    assert float(found) == pytest.approx(float(expected), abs=1e-14)


@every_metric
@pytest.mark.parametrize("room", [0, 200])
def test_a_device_that_is_too_small_is_named(metric, room):
    with refused(DeviceMemoryError, "'reward_a' ran out of memory with .* free memory") as caught:
        dard.distance(SmallDevice(room), OTHER, steps(5000), metric)
    assert isinstance(caught.value.__cause__, RuntimeError)


# Transition models and action samplers


def wrong_when_far(state: Any, action: Any, rng: Any) -> Any:
    if len(state) > 64:
        raise OSError("simulator\ncrashed")
    return model(state, action, rng)


@pytest.mark.parametrize("estimator", ["paired", "full"])
@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (lambda s, a, rng: s[:, 0], r"model returned shape \(\d+,\); expected \(\d+, 2\)"),
        (lambda s, a, rng: s[:-1], "model returned shape"),
        (lambda s, a, rng: None, "the transition model returned NoneType.* expected an array"),
        (lambda s, a, rng: s / 0 * 0, "model returned NaN or infinity for .* in block 0"),
        (lambda s, a, rng: s @ np.ones(3), "raised on the first transitions: ValueError"),
        (wrong_when_far, "the transition model raised.*: OSError: simulator crashed"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_transition_models_that_fail(estimator, broken, text):
    with refused(TransitionModelError, text):
        dard.distance(REWARD, OTHER, steps(), dard.DARD(broken, ACTIONS, estimator=estimator))


def test_transition_models_with_randomness_of_their_own():
    own = np.random.default_rng(0)
    metric = dard.DARD(lambda s, a, rng: s + own.normal(size=s.shape), ACTIONS)
    with refused(TransitionModelError, "gave two results .* rng that is passed in"):
        dard.distance(REWARD, OTHER, steps(), metric)


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (lambda s, rng: 1 / 0, "the action sampler raised on the first"),
        (lambda s, rng: np.zeros((len(s), 3)), r"sampler returned shape .* expected \(\d+, 2\)"),
        (
            lambda s, rng: s if len(s) < 64 else 1 / 0,
            "the action sampler raised.*: ZeroDivisionError",
        ),
    ],
)
def test_action_samplers_that_fail(broken, text):
    with refused(TransitionModelError, text):
        dard.distance(REWARD, OTHER, steps(), dard.DARD(model, broken))


# Configuration


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: dard.EPIC(1.01), "discount is 1.01; expected a number in .0, 1."),
        (lambda: dard.EPIC(float("nan")), "discount is nan"),
        (lambda: dard.EPIC("high"), "discount is 'high'"),  # type: ignore[arg-type]
        (lambda: dard.DARD(model, ACTIONS, -0.1), "discount is -0.1"),
        (lambda: dard.EPIC(estimator="exact"), "estimator is 'exact'"),  # type: ignore[arg-type]
        (lambda: dard.EPIC(samples=0), "samples is 0; expected at least 1"),
        (lambda: dard.EPIC(states=np.zeros((0, 2))), "states is empty"),
        (lambda: dard.EPIC(actions=np.array([[np.nan, 0]])), "actions has NaN or infinite"),
        (lambda: dard.DARD(None, ACTIONS), "transition_model is a NoneType"),  # type: ignore[arg-type]
        (lambda: dard.DARD(model, ACTIONS[:0]), "actions is empty"),
        (lambda: dard.DARD(model, []), "actions is empty"),
        (lambda: dard.DARD(model, ACTIONS * np.inf), "actions has NaN or infinite entries"),
        (lambda: dard.DARD(model, ACTIONS, next_states=0), "next_states is 0"),
        (lambda: dard.DARD(model, ACTIONS, action_samples=10), "there are 9 actions"),
        (
            lambda: dard.DARD(model, ACTIONS, estimator="full", action_samples=4),
            "action_samples has no meaning",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_metrics_that_make_no_sense(make, text):
    with refused(ConfigurationError, text):
        make()


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (dard.DARD(model, np.zeros((4, 3))), r"actions has shape \(4, 3\), but .* \(N_A, 2\)"),
        (dard.EPIC(states=np.zeros((4, 3))), r"states has rows of shape \(3,\), but .* \(2,\)"),
    ],
)
def test_metrics_that_do_not_fit_the_data(metric, text):
    with refused(ConfigurationError, text):
        dard.distance(REWARD, OTHER, steps(), metric)


def test_calls_that_make_no_sense():
    with refused(ConfigurationError, "workers is 0; expected at least 1"):
        dard.distance(REWARD, OTHER, steps(), dard.Pearson(), workers=0)
    with refused(ConfigurationError, "seed is -1"):
        dard.distance(REWARD, OTHER, steps(), dard.EPIC(), seed=-1)
    with refused(ConfigurationError, "1 reward given; a comparison needs at least two"):
        dard.compare({"a": REWARD}, steps(), dard.Pearson())
    with refused(ConfigurationError, "no metrics given"):
        dard.compare({"a": REWARD, "b": OTHER}, steps(), {})


# Data


@every_metric
@pytest.mark.parametrize("column", ["state", "action", "next_state"])
@pytest.mark.parametrize("row", [3, 29_000])
def test_nan_in_the_data_is_named_with_column_and_row(metric, column, row):
    columns = {
        name: getattr(steps(30_000), name).copy() for name in ("state", "action", "next_state")
    }
    columns[column][row, 1] = np.nan
    with refused(DataError, f"{column} is not finite in transition {row}: remove"):
        dard.distance(REWARD, OTHER, dard.Transitions(**columns), metric)


@every_metric
def test_memory_mapped_data(metric, tmp_path):
    data = steps(9000)
    mapped = []
    for name in ("state", "action", "next_state"):
        np.save(tmp_path / f"{name}.npy", getattr(data, name))
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    found = dard.distance(REWARD, OTHER, dard.Transitions(*mapped), metric)
    assert found == dard.distance(REWARD, OTHER, data, metric)


@every_metric
def test_fewer_than_ten_episodes_are_cut_into_blocks(metric):
    nine = np.arange(900) // 100
    with pytest.warns(GroupingWarning, match="holds 9 episodes; .* over blocks of consecutive"):
        found = dard.distance(REWARD, OTHER, steps(900, nine), metric)
    assert found.standard_error > 0
    ten = np.arange(900) // 90
    assert dard.distance(REWARD, OTHER, steps(900, ten), metric).groups == 10


@every_metric
@pytest.mark.filterwarnings("ignore::dard.core.errors.UndefinedDistanceWarning")
def test_two_transitions_have_no_error(metric):
    with pytest.warns(GroupingWarning, match="2 transitions are too few to leave groups out"):
        found = dard.distance(lambda s, a, s2: 9 * a[:, 0], OTHER, steps(40)[9:11], metric)
    assert np.isnan(found.standard_error)
    assert np.isnan(found.interval()).all()


def test_data_recorded_across_automatic_resets():
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(20, 1, 2)) * 30 + rng.normal(size=(20, 50, 2)).cumsum(axis=1) / 10
    state = walks.reshape(-1, 2)
    naive = np.concatenate([state[1:], state[:1]])
    data = dard.Transitions(state, state, naive, np.arange(1000) // 50)
    with pytest.warns(DataWarning, match="recorded across automatic resets"):
        dard.distance(REWARD, OTHER, data, dard.Pearson())
