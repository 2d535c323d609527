"""Opening a transition store: its columns, memory-mapped, or the shards that are intact."""

import tokenize
import warnings
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from dard.core.errors import DataWarning, FileFormatError
from dard.core.transitions import Transitions
from dard.data import atomic, schema, shards
from dard.data.columns import COLUMNS
from dard.data.manifest import read_manifest
from dard.data.schema import Column, Manifest
from dard.data.unreadable import not_readable_as


def read_folder(folder: Path, verify: bool, skip_damaged: bool) -> Transitions:
    """Return the memory-mapped transitions of a store."""
    if not (folder / schema.FILE_NAME).is_file():
        raise _no_store(folder)
    manifest = read_manifest(folder)
    if skip_damaged:
        return _read_intact(folder, manifest)
    if not manifest.complete:
        raise FileFormatError(
            f"{_incomplete(folder, manifest)}, since its writer was stopped or is still running: "
            "run that again to resume, or load what is there with skip_damaged=True"
        )
    columns = {name: open_column(folder, manifest.columns[name]) for name in _present(manifest)}
    if verify and (found := shards.damage(folder, manifest)):
        raise FileFormatError(
            f"{_altered(folder, manifest, found)}: copy the store again from its source, or load "
            "the other shards with skip_damaged=True"
        )
    return Transitions(**columns)


def _read_intact(folder: Path, manifest: Manifest) -> Transitions:
    """Return the rows of all shards whose checksums match, and warn when that is not all."""
    found = shards.damage(folder, manifest)
    ranges = list(manifest.ranges())
    intact = [rows for number, rows in enumerate(ranges) if number not in found]
    if manifest.transitions and not intact:
        raise FileFormatError(
            f"{folder} has no intact shard among {len(ranges)}: copy the store from its source, or "
            "make it again"
        )
    if found:
        missing = f"{_altered(folder, manifest, found)}; those rows are left out"
        warnings.warn(missing, DataWarning, stacklevel=5)
    if not manifest.complete:
        missing = f"{_incomplete(folder, manifest)}; run its writer again for the rest"
        warnings.warn(missing, DataWarning, stacklevel=5)
    columns = {name: _rows(folder, manifest, name, intact) for name in _present(manifest)}
    return Transitions(**columns)


def _rows(folder: Path, manifest: Manifest, name: str, ranges: list[tuple[int, int]]) -> np.ndarray:
    """Return the rows in `ranges` of a column, memory-mapped where they are one piece.

    Nothing else of the file is touched: neither its header nor its length need be right.
    """
    column = manifest.columns[name]
    if manifest.schema == 1 or not ranges:
        return open_column(folder, column)
    dtype = np.dtype(column.dtype)
    size = shards.row_bytes(column.shape, dtype)
    gaps = [k for k, (left, right) in enumerate(pairwise(ranges), 1) if left[1] != right[0]]
    parts = [
        np.memmap(
            folder / column.file,
            dtype,
            mode="r",
            offset=column.offset + ranges[first][0] * size,
            shape=(ranges[after - 1][1] - ranges[first][0], *column.shape[1:]),
        )
        for first, after in pairwise([0, *gaps, len(ranges)])
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def open_column(folder: Path, expected: Column) -> np.ndarray:
    """Return a memory-mapped column whose header and length are what the manifest says."""
    path = folder / expected.file
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
    if expected.offset and column.offset != expected.offset:
        raise FileFormatError(
            f"{path} has its first row at byte {column.offset} but the manifest says "
            f"{expected.offset}: copy the store again from its source"
        )
    whole = int(column.offset) + column.nbytes
    if path.stat().st_size != whole:
        raise FileFormatError(
            f"{path} has {path.stat().st_size} bytes instead of {whole}: copy the store again, or "
            "load what is left of it with skip_damaged=True"
        )
    return column


def _present(manifest: Manifest) -> list[str]:
    return [name for name in COLUMNS if name in manifest.columns]


def _incomplete(folder: Path, manifest: Manifest) -> str:
    return f"{folder} has {manifest.written:,} of {manifest.transitions:,} transitions"


def _altered(folder: Path, manifest: Manifest, found: Mapping[int, list[str]]) -> str:
    """Name the first three damaged shards."""
    ranges = list(manifest.ranges())
    named = [
        f"shard {number} of 0 to {len(ranges) - 1} (rows {ranges[number][0]:,} to "
        f"{ranges[number][1] - 1:,}) in {', '.join(manifest.columns[name].file for name in names)}"
        for number, names in list(found.items())[:3]
    ]
    more = [f"and {len(found) - len(named)} more"] * (len(found) > len(named))
    return f"{folder} was altered after it was saved: {', '.join(named + more)}"


def _no_store(folder: Path) -> FileFormatError:
    if folder.name.endswith(atomic.PARTIAL):
        return FileFormatError(
            f"{folder} was left half-written by a killed process: delete it and save again"
        )
    if parts := sorted(path.parent.name for path in folder.glob(f"[!.]*/{schema.FILE_NAME}")):
        return FileFormatError(
            f"{folder} holds the stores {', '.join(parts)}: name one of them, such as "
            f"{folder / parts[0]}, or load all with dard.data.load_splits"
        )
    return FileFormatError(
        f"{folder} has no {schema.FILE_NAME}, so it is not a store of dard: "
        "make one with dard.save_transitions(data, folder)"
    )
