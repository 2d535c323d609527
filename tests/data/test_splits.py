from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.helpers import assert_same, one_line

from dard.core.errors import DataError, FileFormatError
from dard.core.transitions import Transitions
from dard.data import (
    PAPER_SPLITS,
    check_same_environment,
    load_splits,
    load_transitions,
    save_transitions,
)
from dard.data.schema import Manifest

SIZES = {"train": 40, "validation": 15, "evaluation": 5}
HASH = {"environment": "line", "constants_hash": "0"}


def save(folder: Path, data: Transitions, **changes: dict[str, Any]) -> None:
    for name, size in SIZES.items():
        save_transitions(data[:size], folder / name, provenance=changes.get(name, HASH))


def test_splits_load_together_and_alone(tmp_path: Path, data: Transitions) -> None:
    save(tmp_path, data)
    splits = load_splits(tmp_path, verify=True)
    assert list(splits) == list(SIZES)
    for name, size in SIZES.items():
        assert_same(splits[name], data[:size])
        assert_same(load_transitions(tmp_path / name), data[:size])


@pytest.mark.parametrize("changes", [{"environment": "plane"}, {"constants_hash": "1"}])
def test_splits_of_different_environments(
    tmp_path: Path, data: Transitions, changes: dict[str, str]
) -> None:
    save(tmp_path, data, validation=HASH | changes)
    (key,) = changes
    with pytest.raises(
        DataError, match=rf"train was made with {key} .* but .*validation"
    ) as caught:
        load_splits(tmp_path)
    one_line(caught.value)


def test_data_of_unknown_origin_may_be_joined(tmp_path: Path, data: Transitions) -> None:
    save(tmp_path, data, train={}, evaluation={"environment": "line"})
    assert list(load_splits(tmp_path)) == list(SIZES)


def test_unknown_origin_does_not_hide_a_difference() -> None:
    origins = {"a": {}, "b": {"environment": "line"}, "c": {"environment": "plane"}}
    stores = {name: Manifest(0, {}, provenance=origin) for name, origin in origins.items()}
    with pytest.raises(DataError, match="b was made with environment 'line' but c with 'plane'"):
        check_same_environment(stores)


def test_missing_split(tmp_path: Path, data: Transitions) -> None:
    save_transitions(data, tmp_path / "train")
    with pytest.raises(FileFormatError, match="no store validation, evaluation"):
        load_splits(tmp_path)


def test_folder_of_splits_says_what_it_holds(tmp_path: Path, data: Transitions) -> None:
    save(tmp_path, data)
    with pytest.raises(FileFormatError, match="holds the stores evaluation, train") as caught:
        load_transitions(tmp_path)
    assert "load_splits" in one_line(caught.value)


def test_sizes_are_the_papers() -> None:
    assert dict(PAPER_SPLITS["reacher"]) == {
        "train": 4_000_000,
        "validation": 1_000_000,
        "evaluation": 1_000_000,
    }
    assert np.sum(list(PAPER_SPLITS["bouncing-balls"].values())) == 3_000_000
