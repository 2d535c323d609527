"""The transition store: a folder of .npy columns and a manifest, memory-mapped."""

import hashlib
import json
import tokenize
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dard.core.errors import ConfigurationError, FileFormatError
from dard.core.transitions import Transitions
from dard.data import atomic, manifest
from dard.data.columns import COLUMNS, on_host
from dard.data.manifest import Column, Manifest, read_manifest
from dard.data.unreadable import not_readable_as, reason

_HEADER_BYTES = 4096


def save_transitions(
    data: Transitions,
    folder: str | PathLike[str],
    *,
    provenance: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Save transitions as a store: a folder of .npy columns and ``manifest.json``.

    The folder appears complete or not at all: columns are written beside it, put on the disk,
    and renamed. An interruption leaves nothing behind.

    Parameters
    ----------
    data : Transitions
        In any array library; PyTorch and JAX columns are copied to the host first.
    folder : path
        The folder to make. Folders above it are made where they are missing.
    provenance : dict, optional
        What to remember of the data's origin (environment, policy, seed, ...): anything that
        JSON can hold. It ends up in the manifest.
    overwrite : bool, default False
        Whether to replace a store that is already there. Nothing but a store is ever replaced.

    See Also
    --------
    load_transitions : the way back.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib, dard
    >>> data = dard.Transitions(np.zeros((3, 2)), np.ones((3, 1)), np.ones((3, 2)))
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "three"
    >>> dard.save_transitions(data, folder, provenance={"policy": "uniform"})
    >>> dard.load_transitions(folder)
    Transitions(n=3, state=(2,) float64, action=(1,) float64, library=numpy)
    """
    target = Path(folder)
    noted = _json_table(provenance or {})
    _check_target(target, overwrite)
    columns = on_host(data)
    needed = sum(column.nbytes + _HEADER_BYTES for column in columns.values())
    with atomic.new_folder(target, needed) as partial:
        written = {name: _write_column(partial, name, array) for name, array in columns.items()}
        text = Manifest(len(data), written, noted).to_json()
        # Last, so that a folder with a manifest has all its columns, even after a kill.
        (partial / manifest.FILE_NAME).write_text(text, encoding="utf-8")


def read_folder(folder: Path, verify: bool) -> Transitions:
    """Return the memory-mapped transitions of a store."""
    if not (folder / manifest.FILE_NAME).is_file():
        raise _no_store(folder)
    columns = read_manifest(folder).columns
    return Transitions(
        **{
            name: _open_column(folder / columns[name].file, columns[name], verify)
            for name in COLUMNS
            if name in columns
        }
    )


class _HashingWriter:
    """Writes into a file and keeps the checksum, so that the bytes are touched once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.checksum.update(content)
        return self._file.write(content)


def _write_column(folder: Path, name: str, array: np.ndarray) -> Column:
    file_name = f"{name}.npy"
    with (folder / file_name).open("xb") as file:
        writer = _HashingWriter(file)
        # Goes through in pieces of 16 MiB: a memory-mapped column is never wholly in memory.
        np.lib.format.write_array(writer, array, allow_pickle=False)
    return Column(file_name, array.dtype.str, array.shape, writer.checksum.hexdigest())


def _open_column(path: Path, expected: Column, verify: bool) -> np.ndarray:
    if not path.is_file():
        raise FileFormatError(f"{path} is missing: copy the store again, with all its files")
    try:
        # Not np.load: it would take an archive too. Neither ever unpickles here.
        column = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OverflowError, tokenize.TokenError) as error:
        raise not_readable_as(".npy", path, error) from error
    found, wanted = (column.dtype.str, column.shape), (expected.dtype, expected.shape)
    if found != wanted:
        raise FileFormatError(
            f"{path} holds {found[0]} {found[1]} but the manifest says {wanted[0]} {wanted[1]}: "
            "the file was swapped or altered; copy the store again from its source"
        )
    whole = int(column.offset) + column.nbytes
    if path.stat().st_size != whole:
        raise FileFormatError(
            f"{path} has {path.stat().st_size} bytes instead of {whole}: copy the store again"
        )
    if verify:
        _verify_checksum(path, expected)
    return column


def _verify_checksum(path: Path, expected: Column) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected.sha256:
        raise FileFormatError(
            f"{path} was altered after it was saved (SHA-256 {found[:12]}... instead of "
            f"{expected.sha256[:12]}...): copy the store again from its source"
        )


def _json_table(provenance: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return json.loads(json.dumps(dict(provenance), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"provenance must be a dictionary that JSON can hold: {reason(error)}"
        ) from error


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir() or not (target / manifest.FILE_NAME).is_file():
        raise ConfigurationError(f"{target} exists and is not a store of dard: choose another name")
    if not overwrite:
        raise ConfigurationError(
            f"{target} exists already: choose another name, or pass overwrite=True to replace it"
        )
    read_manifest(target)  # a manifest.json of somebody else's is no licence to delete


def _no_store(folder: Path) -> FileFormatError:
    if folder.name.endswith(atomic.PARTIAL):
        return FileFormatError(
            f"{folder} was left half-written by a killed process: delete it and save again"
        )
    return FileFormatError(
        f"{folder} has no {manifest.FILE_NAME}, so it is not a store of dard: "
        "make one with dard.save_transitions(data, folder)"
    )
