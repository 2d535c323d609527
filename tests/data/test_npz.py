from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.helpers import assert_same, one_line

from dard.core.errors import DataError, FileFormatError
from dard.core.transitions import Transitions
from dard.data import load_transitions


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "names",
    [
        ("state", "action", "next_state"),
        ("obs", "acts", "next_obs"),
        ("observations", "actions", "next_observations"),
    ],
)
def test_round_trip_under_every_name(
    tmp_path: Path, data: Transitions, write: Callable, names: tuple[str, ...]
) -> None:
    columns = (data.state, data.action, data.next_state)
    content: dict[str, Any] = dict(zip(names, columns, strict=True)) | {"episode": data.episode}
    write(tmp_path / "d.npz", rewards=np.zeros(60), **content)
    assert_same(load_transitions(tmp_path / "d.npz"), data)


def save(path: Path, **columns: Any) -> Path:
    content: dict[str, Any] = dict.fromkeys(("state", "action", "next_state"), np.arange(5.0))
    np.savez(path, **(content | columns))
    return path


@pytest.mark.parametrize(
    ("flags", "episode"),
    [
        ({}, None),
        ({"terminals": [0, 0, 0, 0, 0]}, None),
        ({"terminals": [0, 1, 0, 0, 1]}, [0, 0, 1, 1, 1]),
        ({"terminals": [0, 1, 0, 0, 0], "timeouts": [0, 0, 1, 0, 0]}, [0, 0, 1, 2, 2]),
        ({"dones": [[1], [0], [0], [1], [0]]}, [0, 1, 1, 1, 2]),
        ({"terminals": [1, 1, 1, 1, 1], "episode": [7, 7, 7, 8, 8]}, [7, 7, 7, 8, 8]),
    ],
)
def test_episodes_from_end_flags(tmp_path: Path, flags: dict, episode: list | None) -> None:
    columns = {name: np.array(flag) for name, flag in flags.items()}
    loaded = load_transitions(save(tmp_path / "d.npz", **columns)).episode
    assert loaded is None if episode is None else loaded.tolist() == episode


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"obs": np.zeros(5)}, "both state and obs"),
        ({"action": np.zeros(4)}, "different lengths"),
        ({"state": np.array(["a"] * 5)}, "real numbers"),
        ({"episode": np.zeros(5)}, "integer ids"),
        ({"terminals": np.zeros((5, 2))}, "one flag per row"),
        ({"terminals": np.zeros(5), "timeouts": np.zeros(4)}, "different lengths"),
        ({"terminals": np.eye(4)[0]}, "expected (5,)"),
    ],
)
def test_content_that_is_no_batch(tmp_path: Path, columns: dict, complaint: str) -> None:
    file = save(tmp_path / "d.npz", **columns)
    with pytest.raises(DataError) as caught:
        load_transitions(file)
    message = one_line(caught.value)
    assert message.startswith(str(file))
    assert complaint in message


def test_missing_columns_are_named_with_those_present(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", observations=np.zeros(3), rewards=np.zeros(3))
    with pytest.raises(DataError) as caught:
        load_transitions(tmp_path / "d.npz")
    message = one_line(caught.value)
    assert "action (or actions or acts), next_state (or next_obs or" in message
    assert "only observations, rewards" in message


def test_pickled_column_is_refused_and_not_executed(tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "executed",))

    file = save(tmp_path / "d.npz", state=np.array([Attack()], dtype=object))
    with pytest.raises(FileFormatError, match="state holds Python objects") as caught:
        load_transitions(file)
    one_line(caught.value)
    assert not (tmp_path / "executed").exists()


def test_pickled_column_that_nobody_needs_is_harmless(tmp_path: Path) -> None:
    file = save(tmp_path / "d.npz", infos=np.array([{}] * 5, dtype=object))
    assert len(load_transitions(file)) == 5


def test_single_number_as_a_column(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="action is a single number"):
        load_transitions(save(tmp_path / "d.npz", action=np.float64(1)))


@given(st.floats(0, 1, exclude_max=True))
def test_truncated_archive(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    file = save(tmp_path_factory.mktemp("cut") / "d.npz")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileFormatError) as caught:
        load_transitions(file)
    one_line(caught.value)


@given(st.data())
def test_altered_archive_is_read_right_or_refused(
    tmp_path_factory: pytest.TempPathFactory, choose: st.DataObject
) -> None:
    file = save(tmp_path_factory.mktemp("flip") / "d.npz")
    intact = load_transitions(file)
    content = bytearray(file.read_bytes())
    content[choose.draw(st.integers(0, len(content) - 1))] ^= choose.draw(st.integers(1, 255))
    file.write_bytes(content)
    try:
        found = load_transitions(file)
    except (FileFormatError, DataError) as error:
        one_line(error)
    else:
        assert_same(found, intact)
