import sys
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, DataError, FileFormatError, MissingExtraError
from dard.core.transitions import Transitions
from dard.data import load_transitions, save_parquet


def write(path: Path, **columns: object) -> Path:
    numbers = [0.0, 1.0, 2.0]
    defaults = {"state": numbers, "action": numbers, "next_state": numbers}
    kept = {name: column for name, column in (defaults | columns).items() if column is not None}
    parquet.write_table(pa.table(kept), path)
    return path


@pytest.mark.parametrize("verify", [False, True])
def test_round_trip(tmp_path: Path, data: Transitions, verify: bool) -> None:
    save_parquet(data, tmp_path / "d.parquet")
    assert_same(load_transitions(tmp_path / "d.parquet", verify=verify), data)


@given(
    st.sampled_from(["<f8", "<f4", "<f2", "|u1", "<i8", "|b1"]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            st.tuples(st.integers(0, 5), st.integers(1, 3), st.integers(1, 3)).flatmap(
                lambda sizes: st.sampled_from([sizes[:1], sizes[:2], sizes])
            ),
        )
    )
)
def test_every_shape_and_type_comes_back(
    tmp_path_factory: pytest.TempPathFactory, column: np.ndarray
) -> None:
    file = tmp_path_factory.mktemp("any") / "d.parquet"
    given_data = Transitions(column, column, column)
    save_parquet(given_data, file)
    assert_same(load_transitions(file), given_data)


def test_several_row_groups(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dard.data.parquet._ROWS_AT_ONCE", 7)
    save_parquet(data, tmp_path / "d.parquet")
    assert parquet.ParquetFile(tmp_path / "d.parquet").num_row_groups == 9
    assert_same(load_transitions(tmp_path / "d.parquet"), data)


def test_saves_any_library(tmp_path: Path) -> None:
    column = torch.arange(6.0).reshape(3, 2).requires_grad_()
    save_parquet(Transitions(column, column, column), tmp_path / "d.parquet")
    found = load_transitions(tmp_path / "d.parquet").state
    np.testing.assert_array_equal(found, column.detach().numpy())


def test_pandas_reads_and_writes_it(tmp_path: Path, data: Transitions) -> None:
    save_parquet(data, tmp_path / "d.parquet")
    frame = pd.read_parquet(tmp_path / "d.parquet")
    np.testing.assert_array_equal(np.stack(list(frame["state"])), data.state)
    frame[frame["episode"] < 2].to_parquet(tmp_path / "part.parquet")
    assert_same(load_transitions(tmp_path / "part.parquet"), data[:20])


def test_flat_columns_are_joined_by_number(tmp_path: Path) -> None:
    flat = {f"state_{k}": [float(k), 100.0 + k] for k in (10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)}
    flat |= {f"next_state_{k}": column for k, column in enumerate(flat.values())}
    file = tmp_path / "d.parquet"
    parquet.write_table(pa.table(flat | {"action_0": [1, 2], "episode": [0, 1]}), file)
    found = load_transitions(file)
    assert found.state.tolist() == [list(range(11)), list(range(100, 111))]
    assert found.action.tolist() == [[1], [2]]
    assert found.episode.tolist() == [0, 1]


def test_discrete_actions_stay_integers(tmp_path: Path) -> None:
    found = load_transitions(write(tmp_path / "d.parquet", action=[2, 0, 1]))
    assert found.action.dtype == np.int64
    assert found.action.shape == (3,)


def test_other_names_and_end_flags(tmp_path: Path) -> None:
    names = {"state": None, "action": None, "next_state": None}
    lists = [[1.0, 2.0]] * 3
    file = write(
        tmp_path / "d.parquet",
        **names,
        obs=lists,
        actions=[0, 1, 0],
        next_obs=lists,
        dones=[False, True, False],
    )
    found = load_transitions(file)
    assert found.state.shape == (3, 2)
    assert found.episode.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"state": [1.0, None, 2.0]}, "state has 1 missing values"),
        ({"state": [[1.0], None, [2.0]]}, "state has 1 missing values"),
        ({"state": [[1.0, None], [1.0, 2.0], [1.0, 2.0]]}, "state has 1 missing values"),
        ({"state": [[1.0], [1.0, 2.0], [1.0]]}, "lists of 1 to 2 values"),
        ({"state": ["a", "b", "c"]}, "type string"),
        ({"state": [{"x": 1.0}] * 3}, "type struct"),
        ({"state": None}, "found no state"),
        ({"state": None, "state_0": [1.0] * 3, "state_2": [1.0] * 3}, "number the parts"),
        ({"state": None, "state_1": [1.0] * 3}, "number the parts"),
        ({"state": None, "state_0": [[1.0]] * 3, "state_1": [[1.0]] * 3}, "hold lists"),
        ({"state": [[1.0]] * 3}, "next_state has"),
    ],
)
def test_content_that_is_no_batch(tmp_path: Path, columns: dict, complaint: str) -> None:
    file = write(tmp_path / "d.parquet", **columns)
    with pytest.raises(DataError) as caught:
        load_transitions(file)
    message = one_line(caught.value)
    assert message.startswith(str(file))
    assert complaint in message


def test_lists_that_differ_between_row_groups(tmp_path: Path) -> None:
    column = pa.array([[1.0], [1.0], [1.0, 2.0], [1.0, 2.0]])
    table = pa.table({"state": column, "action": [1.0] * 4, "next_state": column})
    parquet.write_table(table, tmp_path / "d.parquet", row_group_size=2)
    with pytest.raises(DataError, match=r"different lengths|lists of 1 to 2"):
        load_transitions(tmp_path / "d.parquet")


@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_file(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    file = write(tmp_path_factory.mktemp("cut") / "d.parquet")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileFormatError) as caught:
        load_transitions(file)
    one_line(caught.value)


def test_altered_numbers_are_found_by_checksum_only(tmp_path: Path) -> None:
    column = np.arange(1000.0).reshape(500, 2)
    file = tmp_path / "d.parquet"
    plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    table = pa.table({name: list(column) for name in ("state", "action", "next_state")})
    parquet.write_table(table, file, **plain)
    content = bytearray(file.read_bytes())
    at = content.index(np.float64(501.0).tobytes())
    content[at] ^= 1
    file.write_bytes(content)
    assert not np.array_equal(load_transitions(file).state, column)
    with pytest.raises(FileFormatError) as caught:
        load_transitions(file, verify=True)
    one_line(caught.value)


def test_our_own_files_carry_checksums(tmp_path: Path, data: Transitions) -> None:
    file = tmp_path / "d.parquet"
    save_parquet(data, file)
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileFormatError):
        load_transitions(file, verify=True)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    file = write(tmp_path / "d.parquet", note=[1, 2, 3])
    file.write_bytes(file.read_bytes().replace(b"note", b"\xffote"))
    with pytest.raises(FileFormatError, match="utf-8") as caught:
        load_transitions(file)
    one_line(caught.value)


def test_existing_file_is_kept_unless_told_otherwise(tmp_path: Path, data: Transitions) -> None:
    file = tmp_path / "d.parquet"
    save_parquet(data, file)
    with pytest.raises(ConfigurationError, match="overwrite=True"):
        save_parquet(data[:3], file)
    assert_same(load_transitions(file), data)
    save_parquet(data[:3], file, overwrite=True)
    assert_same(load_transitions(file), data[:3])
    with pytest.raises(ConfigurationError, match="exists"):
        save_parquet(data, tmp_path, overwrite=True)


def test_columns_without_values_cannot_be_written(tmp_path: Path) -> None:
    empty = np.zeros((3, 0))
    with pytest.raises(DataError, match="no values"):
        save_parquet(Transitions(empty, np.zeros(3), empty), tmp_path / "d.parquet")
    assert list(tmp_path.iterdir()) == []


def test_missing_pyarrow_names_the_extra(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "d.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"dard\[io\]"):
        load_transitions(file)
    with pytest.raises(MissingExtraError, match=r"dard\[io\]"):
        save_parquet(data, tmp_path / "other.parquet")
