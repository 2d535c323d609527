import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.data.helpers import assert_same, one_line

from dard.core.errors import ConfigurationError, FileFormatError
from dard.core.transitions import Transitions
from dard.data import load_transitions, save_parquet, save_transitions, shards


def raise_on_second_column(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    write = shards.write_at
    calls = []

    def interrupted(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise error
        write(*arguments)

    monkeypatch.setattr(shards, "write_at", interrupted)


def test_ctrl_c_leaves_nothing(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    raise_on_second_column(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        save_transitions(data, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_replacing_leaves_the_old_store(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_transitions(data, tmp_path / "store")
    raise_on_second_column(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        save_transitions(data[:3], tmp_path / "store", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert_same(load_transitions(tmp_path / "store", verify=True), data)


def test_failed_swap_puts_the_old_store_back(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_transitions(data, tmp_path / "store")
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.name.endswith(".partial"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        save_transitions(data[:3], tmp_path / "store", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert_same(load_transitions(tmp_path / "store", verify=True), data)


def test_what_a_kill_leaves_is_not_loaded(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A killed process cleans nothing up: no rmtree.
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    raise_on_second_column(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        save_transitions(data, tmp_path / "store")
    (left,) = tmp_path.iterdir()
    with pytest.raises(FileFormatError, match="half-written by a killed process"):
        load_transitions(left)


@pytest.mark.parametrize("save", [save_transitions, save_parquet])
def test_too_small_a_disk_is_noticed_first(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch, save: Callable[..., None]
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(ConfigurationError, match="100 free") as caught:
        save(data, tmp_path / "target")
    one_line(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_disk_that_fills_up_all_the_same(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    raise_on_second_column(monkeypatch, OSError(code, "no space"))
    with pytest.raises(ConfigurationError, match="the disk filled up"):
        save_transitions(data, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_other_errors_of_the_disk_pass_through(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    raise_on_second_column(monkeypatch, OSError(errno.EIO, "broken disk"))
    with pytest.raises(OSError, match="broken disk"):
        save_transitions(data, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_folders_above_are_made_and_permissions_are_ordinary(
    tmp_path: Path, data: Transitions
) -> None:
    target = tmp_path / "runs" / "today" / "store"
    save_transitions(data, target)
    assert target.stat().st_mode == target.parent.stat().st_mode


def test_interrupted_parquet_leaves_the_old_file(
    tmp_path: Path, data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "d.parquet"
    save_parquet(data, file)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dard.data.atomic.sync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_parquet(data[:3], file, overwrite=True)
    assert list(tmp_path.iterdir()) == [file]
    assert_same(load_transitions(file), data)
