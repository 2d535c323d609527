"""Collection: what is stored, that nothing but the task decides its bytes, and bad policies."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from tests.data.helpers import one_line
from tests.data.world import World, never

from dard.core import random
from dard.core.errors import (
    ConfigurationError,
    DardError,
    DataError,
    MissingExtraError,
    TransitionModelError,
)
from dard.core.transitions import Transitions
from dard.data import collect, collect_splits, load_splits
from dard.data.collect import collected
from dard.data.manifest import read_manifest

ENGINES = ("numpy", "jax")
EPISODES = 10


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dard.data.rollout.SHARD_TRANSITIONS", EPISODES * World.horizon)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def seek(state: Any) -> Any:
    return -0.5 * state


def drawing(state: Any, rng: Any) -> Any:
    return rng.uniform(-0.5, 0.5, state.shape)


def episodes(data: Transitions) -> Iterator[Transitions]:
    for number in np.unique(data.episode):
        yield data[data.episode == number]


def one_by_one(world: World, seed: int, numbers: range) -> Iterator[list[np.ndarray]]:
    """Yield the rows that the NumPy engine has to store, made in the obvious way."""
    low, high = (np.array(b, np.float32) for b in (world.action_low, world.action_high))
    for number in numbers:
        rng = random.stream(seed, "episodes", number)
        start = rng.random((1, 1), np.float32), rng.standard_normal((1, 1), np.float32)
        uniform = rng.random((world.horizon, 2), np.float32)
        normal = rng.standard_normal((world.horizon, 1), np.float32)
        actions = low + (high - low) * rng.random((world.horizon, 2), np.float32)
        state = world.initial_state(*start)
        for t in range(world.horizon):
            action = actions[t : t + 1]
            following = world.transition(state, action, uniform[t : t + 1], normal[t : t + 1])
            yield [state[0], action[0], following[0], np.array(number)]
            if world.terminated(following)[0]:
                break
            state = following


def test_numpy_stores_what_single_episodes_would_give(tmp_path: Path) -> None:
    data = collect(World(), "uniform", 150, tmp_path / "store", seed=3, engine="numpy")
    expected = list(one_by_one(World(), 3, range(60)))[:150]
    columns = (data.state, data.action, data.next_state, data.episode)
    for column, rows in zip(columns, zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(column, np.stack(rows))
    lengths = np.unique(data.episode, return_counts=True)[1]
    assert lengths.min() < World.horizon == lengths.max()


@pytest.mark.parametrize("engine", ENGINES)
def test_episodes_are_whole_and_obey_the_environment(tmp_path: Path, engine: Any) -> None:
    world = replace(World(), transition=lambda s, a, u, n: s + 0.5 * a)
    data = collect(world, "uniform", 500, tmp_path / "store", engine=engine)
    assert {str(x.dtype) for x in (data.state, data.action, data.next_state)} == {"float32"}
    np.testing.assert_allclose(data.next_state, data.state + 0.5 * data.action, atol=1e-6)
    assert (np.diff(data.episode) >= 0).all()
    for episode in list(episodes(data))[:-1]:
        np.testing.assert_array_equal(episode.state[1:], episode.next_state[:-1])
        over = world.terminated(episode.next_state)
        assert not over[:-1].any()
        assert over[-1] or len(episode) == world.horizon
    assert {len(episode) for episode in episodes(data)} > {world.horizon}


@pytest.mark.parametrize("engine", ENGINES)
def test_draws_have_their_distributions(tmp_path: Path, engine: Any) -> None:
    """Means and variances of 6,000 draws, within five standard errors."""
    world = replace(World(), terminated=never)
    data = collect(world, "uniform", 6000, tmp_path / "store", engine=engine)
    low, high = np.array(world.action_low), np.array(world.action_high)
    assert ((data.action >= low) & (data.action <= high)).all()
    wind = data.next_state - data.state - 0.5 * data.action
    for values, mean, variance in (
        (data.action, (low + high) / 2, (high - low) ** 2 / 12),
        (wind, 0.0, 0.25 / 12 + 0.04),
    ):
        assert (np.abs(values.mean(axis=0) - mean) < 5 * np.sqrt(variance / 6000)).all()
        assert (np.abs(values.var(axis=0) / variance - 1) < 5 * np.sqrt(2 / 6000)).all()
    both = np.corrcoef(np.concatenate([data.action, wind], axis=1).T)
    # The two winds share their normal number, nothing else is shared.
    assert (np.abs(both[:2, 2:]) < 0.07).all()
    assert abs(both[0, 1]) < 0.07
    assert both[2, 3] > 0.5


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", ["uniform", seek])
def test_bytes_do_not_depend_on_workers(tmp_path: Path, engine: Any, policy: Any) -> None:
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        collect(World(), policy, 400, folder, engine=engine, workers=workers)
    assert content(tmp_path / "1") == content(tmp_path / "3")
    assert len(read_manifest(tmp_path / "1").shards) > 5


@pytest.mark.parametrize("policy", ["uniform", drawing])
def test_episodes_do_not_depend_on_the_size_of_shards(
    tmp_path: Path, policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten = collect(World(), policy, 300, tmp_path / "ten", engine="numpy")
    monkeypatch.setattr("dard.data.rollout.SHARD_TRANSITIONS", 23 * World.horizon)
    many = collect(World(), policy, 300, tmp_path / "many", engine="numpy")
    # A policy's own draws are keyed by shards: the negative control.
    assert np.array_equal(ten.action, many.action) == (policy == "uniform")
    np.testing.assert_array_equal(ten.state[0], many.state[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_longer_store_begins_with_the_shorter_one(tmp_path: Path, engine: Any) -> None:
    short, long = (
        collect(World(), "uniform", n, tmp_path / str(n), engine=engine) for n in (95, 300)
    )
    assert len(short) == 95
    np.testing.assert_array_equal(short.next_state, long.next_state[:95])
    np.testing.assert_array_equal(short.episode, long.episode[:95])


@pytest.mark.parametrize("engine", ENGINES)
def test_seeds_and_episodes_draw_anew(tmp_path: Path, engine: Any) -> None:
    def start(**options: Any) -> np.ndarray:
        folder = tmp_path / str(options)
        return collect(World(), "uniform", 40, folder, engine=engine, **options).state

    first, other, later = start(), start(seed=1), start(first_episode=EPISODES)
    assert not np.isclose(first[:, 0], other[:, 0]).any()
    assert not np.isclose(first[:, 0], later[:, 0]).any()
    long = collect(World(), "uniform", 100, tmp_path / "long", engine=engine)
    np.testing.assert_array_equal(long.state[long.episode >= EPISODES][:20], later[:20])


def test_the_environment_draws_the_same_whoever_acts(tmp_path: Path) -> None:
    world = replace(World(), terminated=never)
    uniform, seeking = (
        collect(world, policy, 70, tmp_path / str(k), engine="numpy")
        for k, policy in enumerate(("uniform", seek))
    )
    winds = [d.next_state - d.state - 0.5 * d.action for d in (uniform, seeking)]
    np.testing.assert_allclose(winds[0], winds[1], atol=1e-6)
    assert not np.array_equal(uniform.action, seeking.action)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupted_collection_ends_with_the_same_bytes(tmp_path: Path, engine: Any) -> None:
    reports: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        reports.append((done, total))
        if len(reports) == 3:
            raise KeyboardInterrupt

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options: dict[str, Any] = {"engine": engine, "workers": 2}
    collect(World(), "uniform", 400, whole, **options)
    with pytest.raises(KeyboardInterrupt):
        collect(World(), "uniform", 400, broken, progress=report, **options)
    assert collected(broken) == reports[-1][0] < 400
    assert content(broken) != content(whole)
    left = 400 - collected(broken)
    collect(World(), "uniform", 400, broken, progress=report, **options)
    assert content(broken) == content(whole)
    assert reports[-1] == (left, left)


def test_a_finished_collection_is_only_opened(tmp_path: Path) -> None:
    asked: list[int] = []

    def counting(state: np.ndarray) -> np.ndarray:
        asked.append(len(state))
        return np.zeros((len(state), 2))

    options: dict[str, Any] = {"engine": "numpy", "policy_name": "still"}
    first = collect(World(), counting, 100, tmp_path / "store", **options)
    before = len(asked)
    again = collect(World(), counting, 100, tmp_path / "store", **options)
    assert len(asked) == before + 2  # the probe
    np.testing.assert_array_equal(first.state, again.state)
    with pytest.raises(ConfigurationError, match="exists already"):
        collect(World(), counting, 100, tmp_path / "store", resume=False, **options)


def test_the_store_says_where_it_comes_from(tmp_path: Path) -> None:
    collect(World(), seek, 50, tmp_path / "store", seed=5, engine="numpy")
    assert read_manifest(tmp_path / "store").provenance == {
        "environment": "line",
        "constants_hash": "0123456789abcdef",
        "policy": f"{__name__}:seek",
        "seed": 5,
        "engine": "numpy",
        "first_episode": 0,
        "shard_episodes": EPISODES,
    }


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"world": World(constants_hash="other")}, "constants_hash"),
        ({"policy": seek}, "policy"),
        ({"seed": 1}, "seed"),
        ({"engine": "jax"}, "engine"),
        ({"first_episode": 7}, "first_episode"),
        ({"transitions": 101}, "transitions"),
    ],
)
def test_collections_are_not_mixed(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    given = {"world": World(), "policy": "uniform", "transitions": 100, "engine": "numpy"}

    def run(world: World, policy: Any, transitions: int, **options: Any) -> None:
        collect(world, policy, transitions, tmp_path / "store", **options)

    run(**given)
    before = content(tmp_path / "store")
    with pytest.raises(ConfigurationError, match=f"begun with {named} "):
        run(**given | changed)
    assert content(tmp_path / "store") == before


class Net(torch.nn.Module):
    """In training mode, its dropout would be refused as random."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.dropout = torch.nn.Linear(2, 2), torch.nn.Dropout()

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.linear(state))


@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (seek, "jax"),
        (drawing, "numpy"),
        (np.tanh, "numpy"),
        (lambda state: jnp.tanh(state), "jax"),  # noqa: PLW0108 (is_compiled would decide)
        (Net(), "numpy"),
        (lambda state, rng=None: -state, "jax"),
        (lambda state: np.asarray(state).clip(0, 1), "numpy"),
    ],
    ids=["arithmetic", "drawing", "ufunc", "jax", "torch", "optional rng", "host only"],
)
def test_policies_run_where_they_can(tmp_path: Path, policy: Any, engine: str) -> None:
    data = collect(World(), policy, 100, tmp_path / "store")
    assert read_manifest(tmp_path / "store").provenance["engine"] == engine
    assert len(np.unique(data.action)) > 50


def test_a_policy_draws_from_a_key_when_compiled(tmp_path: Path) -> None:
    import jax

    def noisy(state: Any, rng: Any) -> Any:
        return jax.random.uniform(rng, state.shape, minval=-0.5, maxval=0.5)

    data = collect(World(), noisy, 300, tmp_path / "store", engine="jax")
    assert len(np.unique(data.action)) == data.action.size


@pytest.mark.parametrize("engine", ENGINES)
def test_actions_are_stored_as_executed(tmp_path: Path, engine: Any) -> None:
    data = collect(World(), lambda state: 1e4 * state, 200, tmp_path / "store", engine=engine)
    assert set(np.unique(data.action[:, 0])) == {-1.0, 0.5}


def different(state: Any) -> Any:
    return np.random.default_rng().uniform(size=state.shape)


def raising(state: Any) -> Any:
    raise RuntimeError("no\nidea")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (lambda state: state[:, :1], r"policy returned shape \(\d+, 1\) for \d+ states"),
        (lambda state: (state - state) / 0 * state, "policy returned NaN in step 0 of episode 0"),
        (different, "policy gave two results"),
        (raising, "policy raised on the first transitions: RuntimeError: no idea"),
        (3, "policy is a int, not a callable"),
    ],
    ids=["shape", "nan", "no function", "raising", "number"],
)
@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")
def test_bad_policies(tmp_path: Path, engine: Any, policy: Any, said: str) -> None:
    with pytest.raises(DardError, match=said) as caught:
        collect(World(), policy, 100, tmp_path / "store", engine=engine)
    one_line(caught.value)
    assert not (tmp_path / "store").exists() or collected(tmp_path / "store") == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_nan_is_found_where_it_begins(tmp_path: Path, engine: Any) -> None:
    def lost_root(state: Any) -> Any:
        return (1.5 - abs(state)) ** 0.5 - 0.5

    with pytest.raises(TransitionModelError, match=r"NaN in step [1-6] of episode"):
        collect(World(), lost_root, 5000, tmp_path / "store", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_environment_that_is_not_finite_is_named(tmp_path: Path, engine: Any) -> None:
    world = replace(World(), transition=lambda s, a, u, n: s * 1e30, terminated=never)
    with pytest.raises(DataError, match="transition is not finite in step 1 of episode 0"):
        collect(world, "uniform", 100, tmp_path / "store", engine=engine)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"policy": "expert"}, "policy is 'expert'"),
        ({"engine": "torch"}, "engine is 'torch'"),
        ({"transitions": 0}, "transitions is 0"),
        ({"transitions": 1e3}, "transitions is 1000.0"),
        ({"workers": 0}, "workers is 0"),
        ({"first_episode": -1}, "first_episode is -1"),
        ({"first_episode": 1 << 32}, "another seed"),
        ({"seed": -1}, "seed is -1"),
        ({"policy": np.asarray, "engine": "jax"}, "JAX cannot trace"),
    ],
)
def test_parameters_that_make_no_sense(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    given = {"policy": "uniform", "transitions": 10} | changed
    with pytest.raises(ConfigurationError, match=said) as caught:
        collect(World(), folder=tmp_path / "store", **given)
    one_line(caught.value)
    assert not (tmp_path / "store").exists()


def test_without_jax_numpy_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    collect(World(), "uniform", 20, tmp_path / "store")
    assert read_manifest(tmp_path / "store").provenance["engine"] == "numpy"
    with pytest.raises(MissingExtraError, match="learn"):
        collect(World(), "uniform", 20, tmp_path / "other", engine="jax")


def test_a_disk_that_is_too_small_is_found_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(ConfigurationError, match="1,000 free"):
        collect(World(), "uniform", 100, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_splits_have_no_episode_in_common(tmp_path: Path) -> None:
    reports: list[str] = []
    sizes = {"train": 80, "validation": 20, "evaluation": 30}
    report: Callable[..., None] = lambda name, *_: reports.append(name)  # noqa: E731
    made = collect_splits(World(), "uniform", sizes, tmp_path, progress=report, engine="numpy")
    assert {name: len(data) for name, data in made.items()} == sizes
    assert list(dict.fromkeys(reports)) == list(sizes)
    seen = [np.unique(data.episode) for data in load_splits(tmp_path).values()]
    assert len(np.unique(np.concatenate(seen))) == sum(map(len, seen))
    starts = [data.state[0, 0] for data in made.values()]
    assert len(set(starts)) == 3
    with pytest.raises(ConfigurationError, match="no split test"):
        collect_splits(World(), "uniform", {"test": 10}, tmp_path)
