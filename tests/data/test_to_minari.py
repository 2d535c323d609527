import errno
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pytest
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, DataError, MissingExtraError
from dard.core.transitions import Transitions
from dard.data import load_transitions, save_minari

LENGTHS = (4, 1, 7)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def walks(shape: tuple[int, ...] = (3,), dtype: str = "f4", actions: Any = None) -> Transitions:
    rng = np.random.default_rng(0)
    paths = [(100 * rng.random((length + 1, *shape))).astype(dtype) for length in LENGTHS]
    if actions is None:
        actions = rng.normal(size=(sum(LENGTHS), 2))
    return Transitions(
        np.concatenate([path[:-1] for path in paths]),
        actions,
        np.concatenate([path[1:] for path in paths]),
        episode=np.repeat(np.arange(3), LENGTHS),
    )


@pytest.mark.parametrize(
    "data",
    [
        walks(),
        walks((2, 3), "f8"),
        walks((40, 40), "u1"),
        walks(actions=np.arange(12) % 5 - 2),
        walks(actions=np.arange(12)[:, None]),
    ],
    ids=["plain", "axes", "images", "discrete", "integers"],
)
def test_round_trip(data: Transitions) -> None:
    save_minari(data, "some/space/walk-v3")
    assert_same(load_transitions("minari:some/space/walk-v3"), data)


def test_minari_itself_reads_it(root: Path) -> None:
    data = walks()
    save_minari(data, "walk-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = minari.load_dataset("walk-v0")
    assert (dataset.id, dataset.total_episodes, dataset.total_steps) == ("walk-v0", 3, 12)
    first = next(iter(dataset.iterate_episodes()))
    assert dataset.observation_space.contains(first.observations[0])
    assert dataset.action_space.contains(first.actions[0])
    assert first.truncations.tolist() == [False] * 3 + [True]
    assert not first.terminations.any()
    assert [path.name for path in root.iterdir() if path.is_dir()] == ["walk-v0"]


def test_episode_numbers_may_be_any_and_are_counted_anew() -> None:
    data = walks()
    renamed = Transitions(data.state, data.action, data.next_state, [7, 3, 5][0] - data.episode)
    save_minari(renamed, "walk-v0")
    assert_same(load_transitions("minari:walk-v0"), data)


def shuffled() -> Transitions:
    return walks()[np.array([0, 4, 1, 2])]


def broken() -> Transitions:
    return walks()[np.array([0, 2, 3])]


def without_episodes() -> Transitions:
    data = walks()
    return Transitions(data.state, data.action, data.next_state)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (without_episodes(), "an episode for each"),
        (walks()[:0], "needs rows"),
        (shuffled(), "not beside each other"),
        (broken(), "next_state of row 0 is not the state of row 1"),
    ],
)
def test_what_minari_cannot_hold(root: Path, data: Transitions, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint) as caught:
        save_minari(data, "walk-v0")
    one_line(caught.value)
    assert list(root.iterdir()) == []


def test_existing_dataset_is_kept_unless_told_otherwise() -> None:
    data = walks()
    save_minari(data, "walk-v0")
    with pytest.raises(ConfigurationError, match="overwrite=True"):
        save_minari(data[:3], "walk-v0")
    assert_same(load_transitions("minari:walk-v0"), data)
    save_minari(data[:3], "walk-v0", overwrite=True)
    assert_same(load_transitions("minari:walk-v0"), data[:3])


def interrupted(*_: Any, **__: Any) -> Iterator[Any]:
    raise KeyboardInterrupt


def full(*_: Any, **__: Any) -> Iterator[Any]:
    raise OSError(errno.ENOSPC, "no space")


@pytest.mark.parametrize(
    ("failing", "error"), [(interrupted, KeyboardInterrupt), (full, ConfigurationError)]
)
def test_failure_leaves_the_old_dataset(
    root: Path, monkeypatch: pytest.MonkeyPatch, failing: Any, error: type[BaseException]
) -> None:
    data = walks()
    save_minari(data, "walk-v0")
    monkeypatch.setattr("dard.data.to_minari._buffers", failing)
    with pytest.raises(error):
        save_minari(data[:3], "walk-v0", overwrite=True)
    assert [path.name for path in root.iterdir() if path.is_dir()] == ["walk-v0"]
    assert_same(load_transitions("minari:walk-v0"), data)


@pytest.mark.parametrize("name", ["", "../secret-v0", "a b"])
def test_ids_cannot_lead_out_of_the_datasets_folder(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no dataset id"):
        save_minari(walks(), name)


@pytest.mark.parametrize("package", ["minari", "h5py"])
def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "minari.dataset._storages.hdf5_storage", raising=False)
    with pytest.raises(MissingExtraError, match=rf"needs {package}: pip install 'dard\[io\]'"):
        save_minari(walks(), "walk-v0")
