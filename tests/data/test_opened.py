import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, DataWarning, FileFormatError
from dard.core.transitions import Transitions
from dard.data import StoreWriter, load_transitions, save_parquet, save_transitions
from dard.data.manifest import read_manifest

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def store(tmp_path: Path, data: Transitions) -> Path:
    origin: dict[str, Any] = {"environment": "line", "constants_hash": "0", "policy": "uniform"}
    writer = StoreWriter(tmp_path / "store", **origin, seed=0, transitions=60)
    for start in range(0, 60, 10):
        writer.append(data[start : start + 10])
    return tmp_path / "store"


def alter(store: Path, name: str, row: int) -> None:
    column = read_manifest(store).columns[name]
    content = bytearray((store / column.file).read_bytes())
    width = (len(content) - column.offset) // 60
    content[column.offset + row * width] ^= 1
    (store / column.file).write_bytes(content)


def rows(data: Transitions, kept: list[int]) -> Transitions:
    return data[np.concatenate([np.arange(10 * k, 10 * k + 10) for k in kept])]


def is_mapped(column: np.ndarray) -> bool:
    base: object = column
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap)


@pytest.mark.parametrize(
    ("altered", "kept"),
    [
        ({"state": 0}, [1, 2, 3, 4, 5]),
        ({"action": 59}, [0, 1, 2, 3, 4]),
        ({"next_state": 20, "episode": 29}, [0, 1, 3, 4, 5]),
        ({"state": 10, "action": 35}, [0, 2, 4, 5]),
    ],
)
def test_altered_shards_are_named_and_the_others_load(
    store: Path, data: Transitions, altered: dict[str, int], kept: list[int]
) -> None:
    for name, row in altered.items():
        alter(store, name, row)
    load_transitions(store)  # does not look
    with pytest.raises(FileFormatError) as caught:
        load_transitions(store, verify=True)
    message = one_line(caught.value)
    for number in set(range(6)) - set(kept):
        assert f"shard {number} of 0 to 5 (rows {10 * number} to {10 * number + 9})" in message
    for name in altered:
        assert f"{name}.npy" in message
    with pytest.warns(DataWarning, match="those rows are left out"):
        left = load_transitions(store, skip_damaged=True)
    assert_same(left, rows(data, kept))
    in_one_piece = kept[-1] - kept[0] == len(kept) - 1
    assert is_mapped(left.state) == in_one_piece


def test_many_altered_shards_are_counted(store: Path) -> None:
    for row in range(0, 50, 10):
        alter(store, "state", row)
    with pytest.raises(FileFormatError, match="and 2 more"):
        load_transitions(store, verify=True)


def test_intact_store_loads_without_warning(store: Path, data: Transitions) -> None:
    assert_same(load_transitions(store, skip_damaged=True), data)


def test_truncated_column_leaves_the_shards_before(store: Path, data: Transitions) -> None:
    content = (store / "state.npy").read_bytes()
    (store / "state.npy").write_bytes(content[: -25 * 24])
    with pytest.raises(FileFormatError, match="mmap length"):
        load_transitions(store)
    with pytest.warns(DataWarning, match="shard 3"):
        assert_same(load_transitions(store, skip_damaged=True), rows(data, [0, 1, 2]))


def test_damaged_header_costs_no_shard(store: Path, data: Transitions) -> None:
    content = (store / "state.npy").read_bytes()
    (store / "state.npy").write_bytes(b"garbage" + content[7:])
    with pytest.raises(FileFormatError, match=r"no \.npy file"):
        load_transitions(store)
    assert_same(load_transitions(store, skip_damaged=True), data)


@pytest.mark.parametrize("how", ["missing", "cut"])
def test_nothing_left(store: Path, how: str) -> None:
    if how == "missing":
        (store / "state.npy").unlink()
    else:
        (store / "state.npy").write_bytes(b"")
    with pytest.raises(FileFormatError, match="no intact shard among 6") as caught:
        load_transitions(store, skip_damaged=True)
    one_line(caught.value)


def test_wrong_offset_is_noticed_without_checksums(store: Path) -> None:
    file = store / "manifest.json"
    content = json.loads(file.read_text())
    content["columns"]["state"]["offset"] = 64
    file.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match="first row at byte 128"):
        load_transitions(store)


def test_store_without_rows(tmp_path: Path, data: Transitions) -> None:
    save_transitions(data[:0], tmp_path / "none")
    for options in ({}, {"verify": True}, {"skip_damaged": True}):
        assert_same(load_transitions(tmp_path / "none", **options), data[:0])


def test_large_data_is_saved_in_shards(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dard.data.folder._SHARD_BYTES", 20 * 64)
    save_transitions(data, tmp_path / "s")
    assert [shard.transitions for shard in read_manifest(tmp_path / "s").shards] == [20, 20, 20]
    assert_same(load_transitions(tmp_path / "s", verify=True), data)


def test_only_stores_have_shards_to_skip(tmp_path: Path, data: Transitions) -> None:
    save_parquet(data, tmp_path / "d.parquet")
    with pytest.raises(ConfigurationError, match="has no shards"):
        load_transitions(tmp_path / "d.parquet", skip_damaged=True)


def expected_of_the_fixture() -> Transitions:
    row = np.arange(6)
    state = (row[:, None] * [1.0, 0.5]).astype("f4")
    next_state = ((row[:, None] + 1) * [1.0, 0.5]).astype("f4")
    action = np.stack([row / 8, -row / 8], 1).astype("f4")
    return Transitions(state, action, next_state, episode=row // 3)


@pytest.mark.parametrize("options", [{}, {"verify": True}, {"skip_damaged": True}])
def test_schema_1_is_read(options: dict[str, bool]) -> None:
    """Written by dard 0.1 before shards came; never to be written again."""
    store = FIXTURES / "schema-1"
    assert json.loads((store / "manifest.json").read_text())["schema"] == 1
    assert_same(load_transitions(store, **options), expected_of_the_fixture())
    assert read_manifest(store).provenance["environment"] == "reacher"


def test_altered_schema_1_is_noticed(tmp_path: Path) -> None:
    for path in (FIXTURES / "schema-1").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    content = bytearray((tmp_path / "action.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "action.npy").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"action\.npy"):
        load_transitions(tmp_path, verify=True)
    with pytest.raises(FileFormatError, match="no intact shard"):
        load_transitions(tmp_path, skip_damaged=True)


def test_schema_2_is_read_as_it_is_today() -> None:
    """A store of today, kept so that later versions go on reading it."""
    store = FIXTURES / "schema-2"
    assert json.loads((store / "manifest.json").read_text())["schema"] == 2
    assert_same(load_transitions(store, verify=True), expected_of_the_fixture())
