"""Gymnasium's interfaces to the environments."""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from dard.core.errors import ConfigurationError, RewardError
from dard.envs import ENVIRONMENTS, streams, window
from dard.envs.environment import Environment
from dard.envs.gymnasium import DardEnv, DardVectorEnv

IDS = {
    "dard/BouncingBalls-v0": "bouncing-balls",
    "dard/Reacher-v0": "reacher",
    "dard/PointMaze-v0": "point-maze",
    "dard/PointMazeLargeStep-v0": "point-maze-large-step",
}
each_id = pytest.mark.parametrize("name", IDS)
BALLS, REACHER = ENVIRONMENTS["bouncing-balls"], ENVIRONMENTS["reacher"]


class FakeTk(ModuleType):
    """Tk without a screen: remembers what it was asked to show."""

    TclError = RuntimeError

    def __init__(self) -> None:
        super().__init__("tkinter")
        self.pictures: list[bytes] = []
        self.destroyed = 0
        self.on_close: Callable[[], None] = lambda: None

    def Tk(self) -> "FakeTk":  # noqa: N802
        return self

    def Label(self, *_: Any, **__: Any) -> "FakeTk":  # noqa: N802
        return self

    def PhotoImage(self, data: bytes, **_: Any) -> bytes:  # noqa: N802
        return data

    def configure(self, image: bytes) -> None:
        self.pictures.append(image)

    def protocol(self, name: str, function: Callable[[], None]) -> None:
        assert name == "WM_DELETE_WINDOW"
        self.on_close = function

    def destroy(self) -> None:
        self.destroyed += 1

    def title(self, _: str) -> None: ...
    def resizable(self, *_: bool) -> None: ...
    def pack(self) -> None: ...
    def update(self) -> None: ...


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(window, "time", clock)
    return clock


@pytest.fixture
def tk(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> FakeTk:
    fake = FakeTk()
    monkeypatch.setitem(sys.modules, "tkinter", fake)
    return fake


def actions_of(environment: Environment, count: int, steps: int, seed: int = 0) -> np.ndarray:
    """Return random actions: those of one copy do not depend on how many there are."""
    shape = steps, environment.action_size
    rows = [np.random.default_rng((seed, i)).uniform(-1, 1, shape) for i in range(count)]
    return np.stack(rows, axis=1) * np.array(environment.action_high)


def play(env: DardVectorEnv, actions: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return everything that happens in a vector environment, stacked over steps."""
    observation, info = env.reset(seed=seed)
    seen: list[tuple[Any, ...]] = [(observation, info["state"], *np.zeros((3, env.num_envs)))]
    for action in actions:
        observation, *rest, info = env.step(action)
        seen.append((observation, info["state"], *rest))
    names = "observation", "state", "reward", "terminated", "truncated"
    return dict(zip(names, map(np.array, zip(*seen, strict=True)), strict=True))


@pytest.fixture
def only_known_warnings() -> Iterator[None]:
    """Let Gymnasium recommend bounds, which the paper's observations and actions do not have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(infinity|symmetric and normalized).*")
        yield


@each_id
@pytest.mark.usefixtures("only_known_warnings")
def test_gymnasiums_own_check_passes(name: str, tk: FakeTk) -> None:
    check_env(gymnasium.make(name).unwrapped)
    assert tk.pictures
    check_env(DardEnv(IDS[name]), skip_render_check=True)


@each_id
def test_environments_are_registered(name: str) -> None:
    environment = ENVIRONMENTS[IDS[name]]
    env = gymnasium.make(name)
    assert isinstance(env.unwrapped, DardEnv)
    assert env.spec is not None
    assert env.spec.max_episode_steps == environment.horizon
    assert env.observation_space.shape == (environment.observation_size,)
    assert isinstance(env.action_space, gymnasium.spaces.Box)
    assert tuple(env.action_space.low) == environment.action_low
    assert tuple(env.action_space.high) == environment.action_high
    for mode in (None, "vector_entry_point"):
        many = gymnasium.make_vec(name, num_envs=3, vectorization_mode=mode, reward="SHAPED")
        assert isinstance(many, DardVectorEnv)
        assert many.action_space.shape == (3, environment.action_size)
        assert many.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        assert many.reset(seed=0)[0] in many.observation_space


def test_the_module_can_be_named_instead_of_imported() -> None:
    script = "import gymnasium; gymnasium.make('dard.envs.gymnasium:dard/Reacher-v0').reset(seed=0)"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_without_gymnasium_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import dard.envs\n"
        "try:\n    import dard.envs.gymnasium\n"
        "except dard.core.errors.MissingExtraError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", f"import dard.core.errors\n{script}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "needs gymnasium: pip install 'dard[envs]'" in said


@each_id
def test_the_vectorised_environment_is_the_single_one_many_times(name: str) -> None:
    environment = replace(ENVIRONMENTS[IDS[name]], horizon=15)
    single, many = DardEnv(environment), DardVectorEnv(environment, 3)
    actions = actions_of(environment, 3, steps=40)
    seen = play(many, actions, seed=7)
    observation, info = single.reset(seed=7)
    for t, action in enumerate(actions[:, 0]):
        assert np.array_equal(observation, seen["observation"][t, 0])
        assert np.array_equal(info["state"], seen["state"][t, 0])
        observation, reward, terminated, truncated, info = single.step(action)
        assert reward == pytest.approx(seen["reward"][t + 1, 0], rel=1e-12)
        assert (terminated, truncated) == (False, bool(seen["truncated"][t + 1, 0]))
        assert truncated == ((t + 1) % 15 == 0)
        if truncated:
            observation, info = single.reset()


def test_a_copy_does_not_depend_on_how_many_there_are() -> None:
    environment = replace(BALLS, horizon=30)
    seen = {
        count: play(DardVectorEnv(environment, count), actions_of(environment, count, 70), seed=5)
        for count in (8, 320)
    }
    for key, values in seen[8].items():
        assert np.array_equal(values[:, 3], seen[320][key][:, 3]), key
    state = seen[320]["state"]
    assert len(np.unique(state[0, :, 0])) == 320
    assert len(np.unique(state[1, :, 10])) == 320


def test_a_copy_does_not_depend_on_when_others_end() -> None:
    """Episodes that end at a wall, at a different time in each copy, or never."""
    ends = replace(BALLS, terminated=lambda s: s[:, 0] > 20)
    goes_on = replace(BALLS, terminated=lambda s: (s[:, 0] > 20) & (np.arange(len(s)) == 3))
    actions = actions_of(BALLS, 8, steps=200)
    first, second = (play(DardVectorEnv(e, 8), actions, seed=0) for e in (ends, goes_on))
    assert first["terminated"][:, 3].sum() == second["terminated"].sum() > 0
    assert first["terminated"][:, :3].sum() > 3
    assert np.array_equal(first["state"][:, 3], second["state"][:, 3])
    assert not np.array_equal(first["state"][:, 0], second["state"][:, 0])


def test_how_far_ahead_numbers_are_drawn_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = actions_of(BALLS, 2, steps=50)
    first = play(DardVectorEnv(BALLS, 2), actions, seed=0)
    monkeypatch.setattr(streams, "_MOST_STEPS", 7)
    second = play(DardVectorEnv(BALLS, 2), actions, seed=0)
    assert np.array_equal(first["state"], second["state"])


@pytest.mark.parametrize("kind", [DardEnv, DardVectorEnv])
def test_seeds(kind: Callable[..., Any]) -> None:
    def states(env: Any, **options: Any) -> list[list[float]]:
        return [env.reset(**options)[1]["state"].ravel().tolist(), reset_again(env)]

    def reset_again(env: Any) -> list[float]:
        return env.reset()[1]["state"].ravel().tolist()

    first, again = states(kind(BALLS), seed=3), states(kind(BALLS), seed=3)
    assert first == again
    assert first[0] != first[1]
    used = kind(BALLS)
    states(used)
    assert states(used, seed=3) == first
    assert states(kind(BALLS), seed=4) != first
    assert states(kind(BALLS)) != states(kind(BALLS))


def test_the_step_that_ends_an_episode_begins_the_next() -> None:
    """With ends at different times, and the true next state computed by hand."""
    environment = replace(REACHER, horizon=12, terminated=lambda s: s[:, 0] > 0.6)
    env = DardVectorEnv(environment, 16)
    state = env.reset(seed=1)[1]["state"]
    steps = np.zeros(16, int)
    reasons = set()
    for action in actions_of(environment, 16, steps=60):
        nothing = np.empty((16, 0))
        true = REACHER.transition(state, action, nothing, nothing)
        observation, reward, terminated, truncated, info = env.step(action)
        steps += 1
        ended = terminated | truncated
        reasons |= set(zip(terminated.tolist(), truncated.tolist(), strict=True))
        assert np.array_equal(terminated, true[:, 0] > 0.6)
        assert np.array_equal(truncated, steps == 12)
        np.testing.assert_allclose(reward, REACHER.rewards["GT"](state, action, true))
        np.testing.assert_allclose(info["state"][~ended], true[~ended])
        assert np.array_equal(observation, REACHER.observation(info["state"]))
        assert ("final_obs" in info) == ("final_state" in info) == ended.any()
        if ended.any():
            assert np.array_equal(info["_final_obs"], ended)
            assert np.array_equal(info["_final_state"], ended)
            np.testing.assert_allclose(info["final_state"][ended], true[ended])
            assert np.isnan(info["final_state"][~ended]).all()
            assert all(last is None for last in info["final_obs"][~ended])
            last = np.stack(list(info["final_obs"][ended]))
            np.testing.assert_allclose(last, REACHER.observation(true[ended]))
            assert np.abs(info["state"][ended, :2]).max() <= 0.1
        steps[ended] = 0
        state = info["state"]
    assert {(False, False), (True, False), (False, True)} <= reasons


def test_gymnasiums_wrappers_understand_the_episode_ends() -> None:
    environment = replace(REACHER, horizon=10)
    env = RecordEpisodeStatistics(DardVectorEnv(environment, 4))
    env.reset(seed=0)
    total = np.zeros(4)
    for t, action in enumerate(actions_of(environment, 4, steps=20)):
        _, reward, _, _, info = env.step(action)
        total += reward
        if t % 10 == 9:
            np.testing.assert_allclose(info["episode"]["r"], total)
            assert (info["episode"]["l"] == 10).all()
            total[:] = 0


@pytest.mark.parametrize(("options", "end"), [({}, 100), ({"max_episode_steps": 130}, 130)])
def test_make_sets_the_length_of_episodes(options: dict[str, Any], end: int) -> None:
    env = gymnasium.make("dard/PointMaze-v0", **options)
    many = gymnasium.make_vec("dard/PointMaze-v0", num_envs=2, **options)
    env.reset(seed=0)
    many.reset(seed=0)
    for t in range(1, end + 1):
        assert env.step(np.zeros(2))[3] == (t == end)
        assert (many.step(np.zeros((2, 2)))[3] == (t == end)).all()


def test_rewards_by_name_and_of_any_library() -> None:
    def distance(state: Any, action: Any, next_state: Any) -> Any:
        return torch.linalg.norm(next_state[:, 8:10], dim=1, keepdim=True)

    values = {}
    action = actions_of(REACHER, 5, steps=1)[0]
    for name, reward in {"GT": "GT", "SHAPED": "SHAPED", "torch": distance}.items():
        env = DardVectorEnv(REACHER, 5, reward=reward)
        state = env.reset(seed=0)[1]["state"]
        _, values[name], _, _, info = env.step(action)
        if name in REACHER.rewards:
            expected = REACHER.rewards[name](state, action, info["state"])
        else:
            expected = np.linalg.norm(info["state"][:, 8:10], axis=1)
        np.testing.assert_allclose(values[name], expected, rtol=1e-6)
        assert values[name].dtype == np.float64
    assert not np.allclose(values["GT"], values["SHAPED"])
    single = DardEnv(REACHER, reward=distance)
    single.reset(seed=0)
    assert type(single.step(action[0])[1]) is float


def test_rewards_that_cannot_be_used() -> None:
    with pytest.raises(ConfigurationError, match="reward is 'nice'; expected one of GT, SHAPED"):
        DardEnv(REACHER, reward="nice")
    with pytest.raises(RewardError, match=r"returned shape \(32, 11\)"):
        DardEnv(REACHER, reward=lambda s, a, t: s)
    with pytest.raises(RewardError, match="not a callable"):
        DardEnv(REACHER, reward=3)  # pyright: ignore[reportArgumentType]
    late = DardEnv(REACHER, reward=lambda s, a, t: np.where(a[:, 0] == 0.5, np.nan, s[:, 0]))
    late.reset(seed=0)
    late.step(np.array([0.4, 0]))
    with pytest.raises(RewardError, match="returned NaN"):
        late.step(np.array([0.5, 0]))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(3), r"action has shape \(3,\); reacher expects \(2,\)"),
        (np.zeros((1, 2)), r"shape \(1, 2\); reacher expects \(2,\)"),
        (0.5, r"shape \(\); reacher expects"),
        (np.array([0, np.nan]), "action holds NaN"),
        (["left", "right"], "no array of numbers"),
        (None, r"shape \(\)"),
    ],
)
def test_actions_that_cannot_be_taken(action: Any, message: str) -> None:
    env = DardEnv(REACHER)
    before = env.reset(seed=0)[1]["state"]
    with pytest.raises(ConfigurationError, match=message):
        env.step(action)
    after = env.step(np.zeros(2))[4]["state"]
    assert np.abs(after - before).max() < 0.01


def test_actions_of_a_batch_that_cannot_be_taken() -> None:
    env = DardVectorEnv(BALLS, 4)
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match=r"\(3, 2\); bouncing-balls expects \(4, 2\)"):
        env.step(np.zeros((3, 2)))
    with pytest.raises(ConfigurationError, match="NaN"):
        env.step(np.full((4, 2), np.nan))


def test_actions_outside_the_bounds_are_clipped_for_the_reward_too() -> None:
    results = []
    for action in ([1, -1], [1e9, -np.inf]):
        env = DardEnv(REACHER)
        env.reset(seed=0)
        observation, reward, *_ = env.step(np.array(action))
        results.append((*observation, reward))
    assert results[0] == results[1]
    assert results[0][-1] > -3


def test_what_is_returned_belongs_to_the_caller() -> None:
    for name in ENVIRONMENTS:
        careless, careful = (DardVectorEnv(replace(ENVIRONMENTS[name], horizon=4), 3) for _ in "ab")
        for env in (careless, careful):
            env.reset(seed=0)
        for action in actions_of(ENVIRONMENTS[name], 3, steps=9):
            observation, *_, info = careless.step(action)
            expected, *_, untouched = careful.step(action)
            assert np.array_equal(observation, expected)
            assert np.array_equal(info["state"], untouched["state"])
            observation[:] = info["state"][:] = 99.0
            for key in ("final_state", "_final_obs"):
                if key in info:
                    info[key][:] = 1


@pytest.mark.parametrize("kind", [DardEnv, DardVectorEnv])
def test_settings_that_make_no_sense(kind: Callable[..., Any]) -> None:
    with pytest.raises(ConfigurationError, match="environment is 'chess'; expected one of bounc"):
        kind("chess")
    with pytest.raises(ConfigurationError, match="render_mode is 'ascii'; expected None, rgb_arr"):
        kind(REACHER, render_mode="ascii")
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        kind(REACHER).step(np.zeros(2))
    with pytest.raises(ConfigurationError, match="reset takes no options here, but got angle"):
        kind(REACHER).reset(options={"angle": 3})


def test_numbers_that_make_no_sense() -> None:
    for wrong in (0, -1, 2.0):
        with pytest.raises(ConfigurationError, match="num_envs is"):
            DardVectorEnv(REACHER, wrong)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ConfigurationError, match="max_episode_steps is"):
            DardVectorEnv(REACHER, 1, max_episode_steps=wrong)  # pyright: ignore[reportArgumentType]


def test_frames() -> None:
    env = DardEnv(REACHER, render_mode="rgb_array", size=100)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()
    state = env.reset(seed=0)[1]["state"]
    frame = env.render()
    assert frame is not None
    assert np.array_equal(frame, REACHER.render(state, 100))
    many = DardVectorEnv(REACHER, 3, render_mode="rgb_array", size=80)
    states = many.reset(seed=0)[1]["state"]
    frames = many.render()
    assert frames is not None
    assert np.array_equal(np.stack(frames), [REACHER.render(s, 80) for s in states])
    silent = DardVectorEnv(REACHER, 3)
    silent.reset(seed=0)
    assert silent.render() is None


def test_a_window_shows_every_state_at_an_even_pace(tk: FakeTk, clock: Clock) -> None:
    env = DardEnv(REACHER, render_mode="human", size=64)
    env.reset(seed=0)
    state = env.step(np.ones(2))[4]["state"]
    assert len(tk.pictures) == 2
    assert env.render() is None
    header, pixels = tk.pictures[-1][:13], tk.pictures[-1][13:]
    assert header == b"P6 64 64 255\n"
    assert pixels == REACHER.render(state, 64).tobytes()
    for _ in range(19):
        env.step(np.ones(2))
    assert clock.slept == pytest.approx(1)
    env.close()
    env.close()
    assert tk.destroyed == 1


def test_a_window_that_the_user_closed_stays_closed(tk: FakeTk) -> None:
    env = DardEnv(REACHER, render_mode="human", size=64)
    env.reset(seed=0)
    tk.on_close()
    env.step(np.ones(2))
    env.close()
    assert (len(tk.pictures), tk.destroyed) == (1, 1)


def test_where_no_window_can_be_opened(tk: FakeTk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise FakeTk.TclError("no display")

    monkeypatch.setattr(tk, "Tk", fail)
    with pytest.raises(ConfigurationError, match=r"cannot open a window \(no display\)"):
        DardEnv(REACHER, render_mode="human").reset(seed=0)
    monkeypatch.setitem(sys.modules, "tkinter", None)
    with pytest.raises(ConfigurationError, match="needs tkinter"):
        DardEnv(REACHER, render_mode="human").reset(seed=0)
