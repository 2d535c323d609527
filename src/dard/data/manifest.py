"""Reading the manifest of a transition store: everything is checked before a file is opened."""

import json
import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeGuard

import numpy as np

from dard.core.errors import ConfigurationError, FileFormatError
from dard.data.schema import CHECKSUM, FILE_NAME, FORMAT, SCHEMA, Column, Manifest, Shard
from dard.data.unreadable import reason

_CHECKSUMS = {"sha256": re.compile("[0-9a-f]{64}"), "crc32": re.compile("[0-9a-f]{8}")}


def read_manifest(folder: Path) -> Manifest:
    """Return the checked manifest of the store in `folder`.

    Keys that this version does not know are ignored: a later one may add remarks within the
    same schema. Whatever changes the meaning of the files has a higher schema, and is refused.
    """
    path = folder / FILE_NAME
    content = _content(path)
    schema = _schema(path, content.get("schema"))
    transitions = content.get("transitions")
    if not _is_count(transitions):
        raise _wrong(path, f'"transitions" is {transitions!r}, not a number of rows')
    entries, provenance = content.get("columns"), content.get("provenance", {})
    if not isinstance(entries, dict):
        raise _wrong(path, '"columns" is not a table of columns')
    if not isinstance(provenance, dict):
        raise _wrong(path, '"provenance" is not a table')
    columns = {
        name: _column(path, name, entry, transitions, schema) for name, entry in entries.items()
    }
    if missing := [name for name in ("state", "action", "next_state") if name not in columns]:
        raise _wrong(path, f"it lists no column {', '.join(missing)}")
    shards = content.get("shards") if schema > 1 else [_only_shard(entries, transitions)]
    if not isinstance(shards, list):
        raise _wrong(path, '"shards" is not a list of shards')
    checked = tuple(
        _shard(path, number, entry, columns, schema) for number, entry in enumerate(shards)
    )
    manifest = Manifest(transitions, columns, checked, provenance, schema)
    if manifest.written > transitions:
        raise _wrong(path, f"its shards have {manifest.written} rows, the store {transitions}")
    return manifest


def refuse_foreign(target: Path) -> None:
    """Refuse to write where something that is no store is."""
    if not target.is_dir() or not (target / FILE_NAME).is_file():
        raise ConfigurationError(f"{target} exists and is not a store of dard: choose another name")


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"it is not JSON text ({reason(error)})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _wrong(path, f'it has no "format": "{FORMAT}"')
    return content


def _schema(path: Path, schema: Any) -> int:
    if not _is_count(schema) or schema < 1:
        raise _wrong(path, f'"schema" is {schema!r}, not a version number')
    if schema > SCHEMA:
        raise FileFormatError(
            f"{path} has schema {schema}, written by a newer dard (this one reads up to "
            f"{SCHEMA}): pip install --upgrade dard"
        )
    return schema


def _column(path: Path, name: str, entry: Any, transitions: int, schema: int) -> Column:
    if not isinstance(entry, dict):
        raise _wrong(path, f"column {name} is not a table")
    file, dtype, shape = (entry.get(key) for key in ("file", "dtype", "shape"))
    offset = entry.get("offset") if schema > 1 else 0
    if not isinstance(file, str) or not _stays_inside(file):
        raise _wrong(path, f"column {name} names the file {file!r}, which is not inside the store")
    if not isinstance(dtype, str) or not _is_numeric(dtype):
        raise _wrong(path, f"column {name} has dtype {dtype!r}, not a type of numbers")
    if not isinstance(shape, list) or not shape or not all(_is_count(size) for size in shape):
        raise _wrong(path, f"column {name} has shape {shape!r}, not a list of sizes")
    if shape[0] != transitions:
        raise _wrong(path, f"column {name} has {shape[0]} rows, the store {transitions}")
    if not _is_count(offset):
        raise _wrong(path, f"column {name} has offset {offset!r}, not a number of bytes")
    return Column(file, dtype, tuple(shape), offset)


def _only_shard(columns: dict[str, Any], transitions: int) -> dict[str, Any]:
    """Return what schema 1 says of its checksums, one for each whole file, as a single shard."""
    return {
        "transitions": transitions,
        "sha256": {name: column.get("sha256") for name, column in columns.items()},
    }


def _shard(path: Path, number: int, entry: Any, columns: dict[str, Column], schema: int) -> Shard:
    if not isinstance(entry, dict):
        raise _wrong(path, f"shard {number} is not a table")
    kind = CHECKSUM[schema]
    transitions, checksums, episodes = map(entry.get, ("transitions", kind, "episodes"))
    if not _is_count(transitions):
        raise _wrong(path, f"shard {number} has {transitions!r} transitions, not a number of rows")
    if not isinstance(checksums, dict):
        raise _wrong(path, f"shard {number} has no table {kind} of checksums")
    for name in columns:
        checksum = checksums.get(name)
        if not isinstance(checksum, str) or not _CHECKSUMS[kind].fullmatch(checksum):
            raise _wrong(path, f"shard {number} has no {kind} checksum of column {name}")
    if episodes is not None and not _are_ends(episodes):
        raise _wrong(path, f"shard {number} has episodes {episodes!r}, not a first and a last one")
    return Shard(transitions, checksums, None if episodes is None else (episodes[0], episodes[1]))


def _are_ends(episodes: Any) -> bool:
    return (
        isinstance(episodes, list)
        and len(episodes) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in episodes)
    )


def _is_numeric(dtype: str) -> bool:
    try:
        return np.dtype(dtype).kind in "biuf"
    except (TypeError, ValueError, SyntaxError):
        return False


def _stays_inside(file: str) -> bool:
    """Whether `file` is a relative path without ``..`` on every operating system.

    Links are followed all the same: who makes one in the store has access to its target.
    """
    posix, windows = PurePosixPath(file), PureWindowsPath(file)
    absolute = posix.is_absolute() or bool(windows.anchor)
    return bool(posix.parts) and not absolute and ".." not in windows.parts and "\0" not in file


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _wrong(path: Path, what: str) -> FileFormatError:
    return FileFormatError(
        f"{path} is damaged or not a manifest of dard: {what}; copy the store again from its "
        "source, or save it again with dard.save_transitions"
    )
