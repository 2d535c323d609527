import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.helpers import one_line

from dard.core.errors import ConfigurationError, FileFormatError
from dard.data import load_transitions


def refused(path: Path) -> str:
    with pytest.raises(FileFormatError) as caught:
        load_transitions(path)
    return one_line(caught.value)


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".PT"])
def test_pickles_are_refused_by_name(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"d{suffix}"
    file.write_bytes(pickle.dumps({"state": 1}))
    message = refused(file)
    assert "runs whatever code it holds" in message
    assert "dard.save_transitions" in message


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("kind", ["text", "empty", "pickle", "npy", "zip-like"])
def test_files_that_are_not_what_their_name_says(tmp_path: Path, suffix: str, kind: str) -> None:
    file = tmp_path / f"d{suffix}"
    if kind == "npy":
        with file.open("wb") as stream:
            np.save(stream, np.zeros(3))
    else:
        pickled = pickle.dumps([1])
        contents = {"text": b"state,action\n", "empty": b"", "pickle": pickled, "zip-like": b"PK"}
        file.write_bytes(contents[kind])
    assert f"no {suffix} file" in refused(file)


def test_single_column(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.zeros(3))
    assert "one column" in refused(tmp_path / "d.npy")


@pytest.mark.parametrize("name", ["d.csv", "d", "d.hdf5"])
def test_unknown_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1,2")
    assert "unknown suffix" in refused(tmp_path / name)


@pytest.mark.parametrize("name", ["absent", "absent.npz", "absent.pkl"])
def test_missing_source(tmp_path: Path, name: str) -> None:
    assert "does not exist" in refused(tmp_path / name)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_file_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    file = tmp_path / f"d{suffix}"
    file.write_bytes(b"")

    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(f"dard.data.load.read_{suffix[1:]}", forbidden)
    assert "cannot be read (Permission denied)" in refused(file)


@pytest.mark.parametrize("source", [3, None, b"d.npz", ["d.npz"]])
def test_source_that_is_no_path(source: Any) -> None:
    with pytest.raises(ConfigurationError, match="expected a path"):
        load_transitions(source)


def test_heavy_packages_stay_off_the_start_up_path() -> None:
    code = (
        "import sys, dard.data; "
        "heavy = {'pyarrow', 'minari', 'pandas', 'torch', 'jax', 'gymnasium'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
