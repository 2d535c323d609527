import warnings
from collections.abc import Callable

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from dard.core.autoreset import warn_about_autoreset
from dard.core.errors import DataWarning
from dard.core.transitions import Transitions

EPISODES, LENGTH = 40, 50


def walks(rng: np.random.Generator, length: int = LENGTH) -> np.ndarray:
    """Return walks of small steps that start far from each other, (EPISODES, length + 1, 3)."""
    steps = rng.normal(size=(EPISODES, length + 1, 3)) * 0.1
    steps[:, 0] = rng.normal(size=(EPISODES, 3)) * 20
    return steps.cumsum(axis=1)


def batch(state: np.ndarray, next_state: np.ndarray, episode: np.ndarray | None) -> Transitions:
    return Transitions(state, np.zeros((len(state), 1)), next_state, episode)


def right(seed: int = 0) -> Transitions:
    walk = walks(np.random.default_rng(seed))
    episode = np.repeat(np.arange(EPISODES), LENGTH)
    return batch(walk[:, :-1].reshape(-1, 3), walk[:, 1:].reshape(-1, 3), episode)


def same_step(fraction: float = 1.0) -> Transitions:
    """Return walks whose last next state, in a fraction of episodes, is the next one's first."""
    data = right()
    next_state = np.array(data.next_state)
    ends = np.arange(LENGTH - 1, len(data) - 1, LENGTH)
    ends = ends[: round(fraction * len(ends))]
    next_state[ends] = data.state[ends + 1]
    return batch(data.state, next_state, data.episode)


def next_step(reset_row_belongs_to: str) -> Transitions:
    """Return what Gymnasium's default gives: a row of its own from each end to the next start."""
    walk = walks(np.random.default_rng(0))
    line = walk.reshape(-1, 3)
    owner = np.repeat(np.arange(EPISODES), LENGTH + 1)
    if reset_row_belongs_to == "next":
        owner = owner + (np.arange(len(owner)) % (LENGTH + 1) == LENGTH)
    return batch(line[:-1], line[1:], owner[:-1])


def warned(data: Transitions) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_about_autoreset(data)
    assert all(issubclass(warning.category, DataWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def test_same_step_reset_is_noticed() -> None:
    (message,) = warned(same_step())
    assert "at 39 of 39 episode ends" in message
    assert "final_obs" in message
    assert "\n" not in message


@pytest.mark.parametrize("owner", ["previous", "next"])
def test_next_step_reset_is_noticed_whoever_owns_its_row(owner: str) -> None:
    assert len(warned(next_step(owner))) == 1


def test_right_data_is_silent() -> None:
    assert warned(right()) == []


def test_one_trajectory_cut_into_pieces_is_silent() -> None:
    line = (np.random.default_rng(0).normal(size=(2001, 3)) * 0.1).cumsum(axis=0)
    data = batch(line[:-1], line[1:], np.repeat(np.arange(40), 50))
    assert np.array_equal(data.next_state[49], data.state[50]), "the first sign is there"
    assert warned(data) == []


def test_cut_trajectories_with_heavy_tails_are_hardly_ever_suspected() -> None:
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(100):
        line = rng.standard_t(2, size=(501, 3)).cumsum(axis=0)
        count += len(warned(batch(line[:-1], line[1:], np.repeat(np.arange(10), 50))))
    assert count <= 1


def test_a_jump_of_a_small_feature_is_not_hidden_by_a_large_one() -> None:
    data = same_step()
    noise = np.random.default_rng(1).normal(size=(len(data) + 1, 1)) * 1e4
    noise[LENGTH::LENGTH] = noise[LENGTH - 1 : -1 : LENGTH]
    state = np.concatenate([data.state, noise[:-1]], axis=1)
    next_state = np.concatenate([data.next_state, noise[1:]], axis=1)
    assert len(warned(batch(state, next_state, data.episode))) == 1


def test_a_goal_that_changes_only_with_the_episode_gives_resets_away() -> None:
    goal = np.repeat(np.arange(40.0), 50)
    line = np.stack([np.random.default_rng(0).normal(size=2000), goal], axis=1)
    (message,) = warned(batch(line[:-1], line[1:], goal[:-1].astype(int)))
    assert "a jump unlike" in message


def test_states_that_are_not_finite_are_left_to_others() -> None:
    data = same_step()
    for value in (np.nan, np.inf):
        state = np.array(data.state)
        state[::3] = value
        assert warned(batch(state, state, data.episode)) == []


def gymnasium_data(mode: AutoresetMode, right: bool) -> Transitions:
    """Record CartPole as people do: naively, or with care at the ends of episodes."""
    envs = gym.make_vec("CartPole-v1", 1, "sync", {"autoreset_mode": mode})
    envs.action_space.seed(0)
    rows: list[tuple] = []
    state, _ = envs.reset(seed=0)
    number, just_ended = 0, False
    for _ in range(500):
        action = envs.action_space.sample()
        observation, _, terminated, truncated, info = envs.step(action)
        ended = bool(terminated[0] or truncated[0])
        in_info = right and ended and mode is AutoresetMode.SAME_STEP
        next_state = info["final_obs"] if in_info else observation
        if not (right and just_ended and mode is AutoresetMode.NEXT_STEP):
            rows.append((state[0].copy(), action[0], next_state[0].copy(), number))
        state, just_ended, number = observation.copy(), ended, number + ended
    envs.close()
    return Transitions(*(np.array(column) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_gymnasium_recorded_naively_is_noticed_and_as_advised_is_not(mode: AutoresetMode) -> None:
    assert len(warned(gymnasium_data(mode, right=False))) == 1
    assert warned(gymnasium_data(mode, right=True)) == []


@pytest.mark.parametrize(("fraction", "count"), [(0.4, 0), (0.6, 1)])
def test_half_of_the_ends_decide(fraction: float, count: int) -> None:
    assert len(warned(same_step(fraction))) == count


def test_without_episodes_nothing_can_be_said() -> None:
    data = same_step()
    assert warned(batch(data.state, data.next_state, None)) == []


@pytest.mark.parametrize("convert", [torch.from_numpy, jnp.asarray], ids=["torch", "jax"])
@pytest.mark.parametrize(("make", "count"), [(same_step, 1), (right, 0)])
def test_every_library(convert: Callable, make: Callable, count: int) -> None:
    data = make()
    columns = [convert(np.array(c)) for c in (data.state, data.action, data.next_state)]
    assert len(warned(Transitions(*columns, episode=data.episode))) == count


def test_unsigned_states_do_not_wrap_around() -> None:
    walk = np.arange(2000) % 50
    state = np.stack([walk, 200 - walk], axis=1).astype(np.uint8)
    reset = batch(state[:-1], state[1:], np.repeat(np.arange(40), 50)[:-1])
    assert len(warned(reset)) == 1
    onward = state + np.array([1, -1]).astype(np.uint8)
    assert warned(batch(state, onward, np.repeat(np.arange(40), 50))) == []


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_too_little_data_is_silent(length: int) -> None:
    assert warned(same_step()[:length]) == []


def test_episodes_of_one_or_two_steps_are_silent() -> None:
    column = np.random.default_rng(0).normal(size=(101, 2))
    assert warned(batch(column[:-1], column[1:], np.arange(100))) == []
    assert warned(batch(column[:-1], column[1:], np.arange(100) // 2)) == []


def test_no_more_rows_are_read_than_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_read: list[int] = []
    select = Transitions.__getitem__

    def counting(data: Transitions, index: object) -> Transitions:
        part = select(data, index)
        rows_read.append(len(part))
        return part

    monkeypatch.setattr(Transitions, "__getitem__", counting)
    line = np.arange(200_001.0)[:, None]
    warn_about_autoreset(batch(line[:-1], line[1:], np.arange(200_000) // 20))
    assert sum(rows_read) <= 4_000 + 4 * 1_000
