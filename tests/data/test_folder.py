import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import hypothesis.extra.numpy as hnp
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, FileFormatError
from dard.core.transitions import Transitions
from dard.data import load_transitions, save_transitions
from dard.data.manifest import read_manifest


@pytest.fixture
def store(tmp_path: Path, data: Transitions) -> Path:
    folder = tmp_path / "store"
    save_transitions(data, folder, provenance={"policy": "uniform", "seed": 3})
    return folder


def edit_manifest(store: Path, **changes: object) -> None:
    file = store / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def edit_column(store: Path, name: str, **changes: object) -> None:
    columns = json.loads((store / "manifest.json").read_text())["columns"]
    columns[name] |= changes
    edit_manifest(store, columns=columns)


def refused(store: Path, verify: bool = False) -> str:
    with pytest.raises(FileFormatError) as caught:
        load_transitions(store, verify=verify)
    return one_line(caught.value)


@pytest.mark.parametrize("verify", [False, True])
def test_round_trip(store: Path, data: Transitions, verify: bool) -> None:
    assert_same(load_transitions(store, verify=verify), data)
    assert_same(load_transitions(str(store), verify=verify), data)


@settings(max_examples=40)
@given(
    st.sampled_from(["<f8", "<f4", "<f2", "|u1", "<i8", "|b1"]).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(max_dims=3, min_side=0, max_side=5))
    )
)
def test_every_shape_and_type_comes_back(
    tmp_path_factory: pytest.TempPathFactory, column: np.ndarray
) -> None:
    folder = tmp_path_factory.mktemp("any") / "store"
    given_data = Transitions(column, column, column)
    save_transitions(given_data, folder)
    assert_same(load_transitions(folder, verify=True), given_data)


def test_columns_stay_on_disk_and_cannot_be_written(store: Path) -> None:
    loaded = load_transitions(store)
    base = loaded.state
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        loaded.state[0] = 1.0


@pytest.mark.parametrize("convert", [torch.from_numpy, jnp.asarray], ids=["torch", "jax"])
def test_saves_any_library(tmp_path: Path, data: Transitions, convert: Callable) -> None:
    columns = [convert(np.array(c, np.float32)) for c in (data.state, data.action, data.next_state)]
    save_transitions(Transitions(*columns, episode=data.episode), tmp_path / "s")
    loaded = load_transitions(tmp_path / "s")
    assert loaded.library == "numpy"
    np.testing.assert_array_equal(loaded.state, np.asarray(data.state, np.float32))


def test_foreign_byte_order_is_saved_as_the_machines_own(tmp_path: Path) -> None:
    column = np.arange(6.0).astype(">f8").reshape(3, 2)
    save_transitions(Transitions(column, column, column), tmp_path / "s")
    loaded = load_transitions(tmp_path / "s").state
    assert loaded.dtype.isnative
    np.testing.assert_array_equal(loaded, column)


def test_manifest_is_what_the_specification_says(store: Path, data: Transitions) -> None:
    manifest = json.loads((store / "manifest.json").read_text())
    assert manifest["format"] == "dard-transitions"
    assert manifest["schema"] == 2
    assert manifest["transitions"] == len(data)
    assert manifest["provenance"] == {"policy": "uniform", "seed": 3}
    assert set(manifest["columns"]) == {"state", "action", "next_state", "episode"}
    (shard,) = manifest["shards"]
    assert (shard["transitions"], shard["episodes"]) == (60, [0, 5])
    for name, column in manifest["columns"].items():
        content = (store / column["file"]).read_bytes()[column["offset"] :]
        array = np.load(store / column["file"], allow_pickle=False)
        assert content == array.tobytes()
        assert shard["crc32"][name] == f"{zlib.crc32(content):08x}", name
        assert (column["dtype"], column["shape"]) == (array.dtype.str, list(array.shape))
    assert read_manifest(store).provenance == {"policy": "uniform", "seed": 3}


def test_same_data_gives_the_same_bytes(tmp_path: Path, store: Path, data: Transitions) -> None:
    save_transitions(data, tmp_path / "again", provenance={"policy": "uniform", "seed": 3})
    for file in store.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_remarks_of_later_versions_are_ignored(store: Path, data: Transitions) -> None:
    edit_manifest(store, constants_hash="abc", note={"a": 1})
    edit_column(store, "state", unit="m")
    assert_same(load_transitions(store), data)


def test_newer_schema_says_to_upgrade(store: Path) -> None:
    edit_manifest(store, schema=3, columns="something else entirely")
    assert "pip install --upgrade dard" in refused(store)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "other"}, "format"),
        ({"schema": "1"}, "schema"),
        ({"schema": True}, "schema"),
        ({"schema": 0}, "schema"),
        ({"transitions": -1}, "transitions"),
        ({"transitions": 59}, "60 rows"),
        ({"columns": []}, "columns"),
        ({"columns": {}}, "no column state, action, next_state"),
        ({"columns": {"state": 3}}, "column state is not a table"),
        ({"provenance": []}, "provenance"),
        ({"shards": {}}, "not a list of shards"),
        ({"shards": [3]}, "shard 0 is not a table"),
        ({"shards": [{"transitions": -1}]}, "not a number of rows"),
        ({"shards": [{"transitions": 60}]}, "no table crc32"),
        ({"shards": [{"transitions": 60, "crc32": {"state": "abc"}}]}, "no crc32 checksum"),
    ],
)
def test_wrong_manifest(store: Path, changes: dict, complaint: str) -> None:
    edit_manifest(store, **changes)
    assert complaint in refused(store)


@pytest.mark.parametrize(
    "file",
    [
        "/etc/passwd",
        "../state.npy",
        "a/../../state.npy",
        "..\\state.npy",
        "C:\\s.npy",
        "",
        "a\0",
        3,
    ],
)
def test_paths_that_leave_the_store_are_refused(store: Path, file: object) -> None:
    shutil.copy(store / "state.npy", store.parent / "state.npy")
    edit_column(store, "state", file=file)
    assert "not inside the store" in refused(store)


def test_paths_into_subfolders_are_fine(store: Path, data: Transitions) -> None:
    (store / "shard-0").mkdir()
    shutil.move(store / "state.npy", store / "shard-0" / "state.npy")
    edit_column(store, "state", file="shard-0/state.npy")
    assert_same(load_transitions(store), data)


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": 8},
        {"dtype": "f9"},
        {"dtype": "O"},
        {"shape": []},
        {"shape": [60, "3"]},
        {"offset": None},
        {"offset": -1},
    ],
)
def test_wrong_column_entry(store: Path, changes: dict) -> None:
    edit_column(store, "state", **changes)
    assert "column state has" in refused(store)


@pytest.mark.parametrize("text", ["", "[", "{}", "3", "[" * 100_000, '"\ud800"'])
def test_manifest_that_is_not_json_of_ours(store: Path, text: str) -> None:
    (store / "manifest.json").write_text(text, errors="surrogatepass")
    assert "manifest.json is damaged" in refused(store)


def test_missing_column_file(store: Path) -> None:
    (store / "action.npy").unlink()
    assert "action.npy is missing" in refused(store)


def test_swapped_columns_are_found_without_checksums(store: Path) -> None:
    shutil.copy(store / "action.npy", store / "state.npy")
    assert "swapped" in refused(store)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True))
def test_truncated_columns_are_found_without_checksums(store: Path, share: float) -> None:
    file = store / "state.npy"
    intact = file.read_bytes()
    file.write_bytes(intact[: int(share * len(intact))])
    refused(store)
    file.write_bytes(intact)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 127), st.integers(0, 255)), min_size=1, max_size=3))
def test_altered_header_is_read_right_or_refused(
    store: Path, data: Transitions, changes: list[tuple[int, int]]
) -> None:
    file = store / "state.npy"
    intact = file.read_bytes()
    altered = bytearray(intact)
    for at, byte in changes:
        altered[at] = byte
    file.write_bytes(altered)
    try:
        found = load_transitions(store)
    except FileFormatError as error:
        one_line(error)
    else:
        assert_same(found, data)
    file.write_bytes(intact)


def test_header_that_python_cannot_even_tokenise(store: Path) -> None:
    content = (store / "state.npy").read_bytes()
    (store / "state.npy").write_bytes(content.replace(b"}", b"(", 1))
    assert "no .npy file" in refused(store)


def test_trailing_bytes_are_found_without_checksums(store: Path) -> None:
    with (store / "state.npy").open("ab") as file:
        file.write(b"more")
    assert "bytes instead of" in refused(store)


def test_altered_numbers_are_found_by_checksum_only(store: Path, data: Transitions) -> None:
    content = bytearray((store / "state.npy").read_bytes())
    content[-3] ^= 1
    (store / "state.npy").write_bytes(content)
    altered = load_transitions(store)
    assert not np.array_equal(altered.state, data.state)
    assert "altered after it was saved" in refused(store, verify=True)


def test_pickled_column_is_not_executed(store: Path, tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "executed",))

    np.save(store / "state.npy", np.array([Attack()], dtype=object), allow_pickle=True)
    refused(store)
    assert not (tmp_path / "executed").exists()
    np.load(store / "state.npy", allow_pickle=True)
    assert (tmp_path / "executed").exists(), "negative control: the attack works"


def test_folder_without_manifest(tmp_path: Path) -> None:
    np.save(tmp_path / "state.npy", np.zeros(3))
    assert "dard.save_transitions" in refused(tmp_path)


def test_existing_store_is_kept_unless_told_otherwise(store: Path, data: Transitions) -> None:
    with pytest.raises(ConfigurationError, match="overwrite=True"):
        save_transitions(data[:5], store)
    assert_same(load_transitions(store), data)
    save_transitions(data[:5], store, overwrite=True)
    assert_same(load_transitions(store, verify=True), data[:5])
    assert [path.name for path in store.parent.iterdir()] == ["store"]


def test_store_can_replace_the_one_it_was_loaded_from(store: Path, data: Transitions) -> None:
    loaded = load_transitions(store)
    save_transitions(loaded[::2], store, overwrite=True)
    assert_same(load_transitions(store, verify=True), data[::2])
    assert_same(loaded, data)


@pytest.mark.parametrize("foreign", ["empty", "file", "folder", "manifest"])
def test_nothing_but_a_store_is_ever_replaced(
    tmp_path: Path, data: Transitions, foreign: str
) -> None:
    target = tmp_path / "precious"
    if foreign == "file":
        target.write_text("thesis")
    else:
        target.mkdir()
    if foreign == "folder":
        (target / "thesis.tex").write_text("thesis")
    if foreign == "manifest":
        (target / "manifest.json").write_text('{"name": "a web page"}')
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((ConfigurationError, FileFormatError)) as caught:
        save_transitions(data, target, overwrite=True)
    one_line(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bad", [{"model": object()}, {"loss": float("nan")}, [1, 2]])
def test_provenance_that_json_cannot_hold(tmp_path: Path, data: Transitions, bad: Any) -> None:
    with pytest.raises(ConfigurationError, match="provenance"):
        save_transitions(data, tmp_path / "s", provenance=bad)
    assert not (tmp_path / "s").exists()


def test_only_transitions_are_saved(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="data is tuple"):
        save_transitions(cast(Any, (1, 2, 3)), tmp_path / "s")
