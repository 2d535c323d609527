import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, DataError, DataWarning, FileFormatError
from dard.core.transitions import Transitions
from dard.data import StoreWriter, load_transitions, save_transitions, shards
from dard.data.manifest import read_manifest

ORIGIN: dict[str, Any] = {
    "environment": "line",
    "constants_hash": "0123456789abcdef",
    "policy": "uniform",
    "seed": 3,
}


def writer(folder: Path, **changes: Any) -> StoreWriter:
    arguments: dict[str, Any] = ORIGIN | {"transitions": 60} | changes
    return StoreWriter(folder, **arguments)


def write(folder: Path, data: Transitions, stop: int = 60, step: int = 20) -> StoreWriter:
    store = writer(folder)
    for start in range(store.written, stop, step):
        store.append(data[start : start + step])
    return store


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def store(tmp_path: Path, data: Transitions) -> Path:
    write(tmp_path / "store", data).finish()
    return tmp_path / "store"


def test_shards_become_one_store(store: Path, data: Transitions) -> None:
    assert_same(load_transitions(store, verify=True), data)
    manifest = read_manifest(store)
    assert [shard.transitions for shard in manifest.shards] == [20, 20, 20]
    assert [shard.episodes for shard in manifest.shards] == [(0, 1), (2, 3), (4, 5)]
    assert manifest.provenance == ORIGIN


@pytest.mark.parametrize("stopped_at", [0, 20, 40])
def test_continued_store_has_the_same_bytes(
    tmp_path: Path, store: Path, data: Transitions, stopped_at: int
) -> None:
    write(tmp_path / "again", data, stopped_at)
    continued = write(tmp_path / "again", data)
    continued.finish()
    assert (continued.written, continued.shards) == (60, 3)
    assert contents(tmp_path / "again") == contents(store)


# Three shards; the third dies with half of a column written, or before its manifest is in place.
KILLED = """
import os, sys, numpy as np
from dard.data import StoreWriter, atomic, shards, load_transitions
data = load_transitions(sys.argv[1])
store = StoreWriter(sys.argv[2], **eval(sys.argv[3]), transitions=60)
store.append(data[:20])
store.append(data[20:40])
if sys.argv[4] == "column":
    write = shards.write_at
    def dying(path, offset, content):
        write(path, offset, content[:len(content) // 2])
        os._exit(9)
    shards.write_at = dying
else:
    atomic.Path.replace = lambda source, target: os._exit(9)
store.append(data[40:])
"""


@pytest.mark.parametrize("when", ["column", "manifest"])
def test_killed_process_loses_nothing_and_the_rest_follows(
    tmp_path: Path, store: Path, data: Transitions, when: str
) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-c", KILLED, str(store), str(folder), repr(ORIGIN), when]
    assert subprocess.run(command, check=False).returncode == 9
    if when == "manifest":
        assert list(folder.glob(".*.partial"))
    with pytest.raises(FileFormatError, match="40 of 60 transitions") as caught:
        load_transitions(folder)
    assert "skip_damaged=True" in one_line(caught.value)
    with pytest.warns(DataWarning, match="40 of 60"):
        assert_same(load_transitions(folder, skip_damaged=True), data[:40])
    assert writer(folder).written == 40
    write(folder, data).finish()
    assert contents(folder) == contents(store)


def test_shards_that_a_power_cut_lost_are_written_again(
    tmp_path: Path, store: Path, data: Transitions
) -> None:
    write(tmp_path / "cut", data, 40)
    manifest = read_manifest(tmp_path / "cut")
    at = manifest.columns["action"].offset + 30 * 8
    shards.write_at(tmp_path / "cut" / "action.npy", at, np.zeros(8, np.uint8).data)
    assert writer(tmp_path / "cut").written == 20
    write(tmp_path / "cut", data).finish()
    assert contents(tmp_path / "cut") == contents(store)


def test_missing_column_of_an_unfinished_store(tmp_path: Path, data: Transitions) -> None:
    write(tmp_path / "s", data, 40)
    (tmp_path / "s" / "action.npy").unlink()
    with pytest.raises(FileFormatError, match=r"action\.npy is missing"):
        writer(tmp_path / "s")


def test_finished_store_refuses_more(store: Path, data: Transitions) -> None:
    before = contents(store)
    again = writer(store)
    assert again.written == 60
    with pytest.raises(ConfigurationError, match="it is finished") as caught:
        again.append(data[:1])
    one_line(caught.value)
    again.finish()
    assert contents(store) == before


def test_more_than_planned_is_refused(tmp_path: Path, data: Transitions) -> None:
    store = write(tmp_path / "s", data, 40)
    with pytest.raises(ConfigurationError, match="room for 20 of its 60"):
        store.append(data[:21])
    assert store.written == 40


def test_finish_wants_all(tmp_path: Path, data: Transitions) -> None:
    with pytest.raises(ConfigurationError, match="0 of 60"):
        writer(tmp_path / "s").finish()
    with pytest.raises(ConfigurationError, match="40 of 60"):
        write(tmp_path / "s", data, 40).finish()


@pytest.mark.parametrize(
    "changes",
    [
        {"environment": "plane"},
        {"constants_hash": "f" * 16},
        {"policy": "expert"},
        {"seed": 4},
        {"transitions": 61},
        {"provenance": {"note": 1}},
    ],
)
@pytest.mark.parametrize("stop", [40, 60])
def test_other_origins_cannot_be_mixed(
    tmp_path: Path, data: Transitions, stop: int, changes: dict
) -> None:
    write(tmp_path / "s", data, stop)
    before = contents(tmp_path / "s")
    (key,) = changes.get("provenance", changes)
    with pytest.raises(ConfigurationError, match=f"was begun with {key}") as caught:
        writer(tmp_path / "s", **changes)
    one_line(caught.value)
    assert contents(tmp_path / "s") == before


@pytest.mark.parametrize(
    "change",
    [
        lambda d: Transitions(d.state.astype("f4"), d.action, d.next_state.astype("f4"), d.episode),
        lambda d: Transitions(d.state[:, :2], d.action, d.next_state[:, :2], d.episode),
        lambda d: Transitions(d.state, d.action, d.next_state),
    ],
    ids=["dtype", "width", "episode"],
)
def test_shards_have_the_columns_of_the_first(
    tmp_path: Path, data: Transitions, change: Callable[[Transitions], Transitions]
) -> None:
    store = write(tmp_path / "s", data, 20)
    with pytest.raises(DataError, match="data has columns") as caught:
        store.append(change(data[20:40]))
    one_line(caught.value)
    assert store.written == 20


def test_appending_nothing_changes_nothing(tmp_path: Path, data: Transitions) -> None:
    store = write(tmp_path / "s", data, 20)
    before = contents(tmp_path / "s")
    store.append(data[:0])
    assert contents(tmp_path / "s") == before


def with_like(folder: Path, data: Transitions) -> None:
    writer(folder, like=data[:0])


def with_first_shard(folder: Path, data: Transitions) -> None:
    writer(folder).append(data[:1])


@pytest.mark.parametrize("begin", [with_like, with_first_shard])
def test_too_small_a_disk_is_noticed_before_anything_is_made(
    tmp_path: Path,
    data: Transitions,
    monkeypatch: pytest.MonkeyPatch,
    begin: Callable[[Path, Transitions], None],
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(ConfigurationError, match=r"needs 3,840 bytes .* 1,000 free") as caught:
        begin(tmp_path / "s", data)
    one_line(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("where", ["write_at", "replace_text"])
def test_disk_that_fills_up_keeps_whole_shards(
    tmp_path: Path,
    store: Path,
    data: Transitions,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    code: int,
) -> None:
    unfinished = write(tmp_path / "s", data, 40)

    def full(*_: object) -> None:
        raise OSError(code, "no space")

    module = "shards" if where == "write_at" else "atomic"
    monkeypatch.setattr(f"dard.data.{module}.{where}", full)
    with pytest.raises(ConfigurationError, match="needs another 1,280 bytes") as caught:
        unfinished.append(data[40:])
    assert "2 whole shards are kept" in one_line(caught.value)
    monkeypatch.undo()
    unfinished.append(data[40:])  # there is room again
    unfinished.finish()
    assert contents(tmp_path / "s") == contents(store)


def reserve(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def failing(*_: object) -> None:
        raise OSError(code, "cannot reserve")

    monkeypatch.setattr(os, "posix_fallocate", failing, raising=False)


def test_disk_that_has_less_room_than_it_says(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = writer(tmp_path / "s")
    reserve(monkeypatch, errno.ENOSPC)
    with pytest.raises(ConfigurationError, match="disk filled up"):
        store.append(data)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    store.append(data)  # there is room again
    assert_same(load_transitions(tmp_path / "s", verify=True), data)


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL, None])
def test_file_systems_that_cannot_reserve_room(
    tmp_path: Path,
    store: Path,
    data: Transitions,
    monkeypatch: pytest.MonkeyPatch,
    code: int | None,
) -> None:
    if code is None:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    else:
        reserve(monkeypatch, code)
    write(tmp_path / "s", data).finish()
    assert contents(tmp_path / "s") == contents(store)


@pytest.mark.parametrize("transitions", [0, -1, 1.5, "60"])
def test_number_of_transitions_that_is_none(tmp_path: Path, transitions: Any) -> None:
    with pytest.raises(ConfigurationError, match="expected a positive integer"):
        writer(tmp_path / "s", transitions=transitions)


def test_origin_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="provenance has seed"):
        writer(tmp_path / "s", provenance={"seed": 3})


@pytest.mark.parametrize(
    "changes", [{"seed": np.float64("nan")}, {"provenance": {"a": object()}}, {"provenance": [1]}]
)
def test_origin_that_json_cannot_hold(tmp_path: Path, changes: dict) -> None:
    with pytest.raises(ConfigurationError, match="JSON can hold"):
        writer(tmp_path / "s", **changes)


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a store of dard"):
        writer(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_store_that_was_saved_whole_can_be_recognised(tmp_path: Path, data: Transitions) -> None:
    save_transitions(data, tmp_path / "s", provenance=ORIGIN)
    assert writer(tmp_path / "s").written == 60


def test_manifest_with_more_rows_in_shards_than_in_all(store: Path) -> None:
    file = store / "manifest.json"
    content = json.loads(file.read_text())
    content["shards"] *= 2
    file.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match="shards have 120 rows, the store 60"):
        load_transitions(store)
