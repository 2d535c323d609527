"""The manifest of a transition store: what its columns are, checked before they are opened."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from dard.core.errors import FileFormatError
from dard.data.unreadable import reason

FORMAT = "dard-transitions"
SCHEMA = 1
FILE_NAME = "manifest.json"


@dataclass(frozen=True)
class Column:
    """One .npy file of a store.

    Parameters
    ----------
    file : str
        Path relative to the store, with forward slashes, never leaving it.
    dtype : str
        NumPy's type string, e.g. ``"<f4"``.
    shape : tuple of int
        Shape of the whole column, transitions first.
    sha256 : str
        Checksum of the whole file, lower-case hexadecimal.
    """

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a store says of itself: its columns, and whatever its writer noted of their origin."""

    transitions: int
    columns: Mapping[str, Column]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the text of ``manifest.json``."""
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "transitions": self.transitions,
            "columns": {name: asdict(column) for name, column in self.columns.items()},
            "provenance": dict(self.provenance),
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the checked manifest of the store in `folder`.

    Keys that this version does not know are ignored: a later one may add remarks within the
    same schema. Whatever changes the meaning of the files has a higher schema, and is refused.
    """
    path = folder / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"it is not JSON text ({reason(error)})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _wrong(path, f'it has no "format": "{FORMAT}"')
    _check_schema(path, content.get("schema"))
    transitions = _rows(path, content.get("transitions"))
    columns, provenance = content.get("columns"), content.get("provenance", {})
    if not isinstance(columns, dict):
        raise _wrong(path, '"columns" is not a table of columns')
    if not isinstance(provenance, dict):
        raise _wrong(path, '"provenance" is not a table')
    checked = {name: _column(path, name, entry, transitions) for name, entry in columns.items()}
    if missing := [name for name in ("state", "action", "next_state") if name not in checked]:
        raise _wrong(path, f"it lists no column {', '.join(missing)}")
    return Manifest(transitions, checked, provenance)


def _check_schema(path: Path, schema: Any) -> None:
    if not _is_count(schema) or schema < 1:
        raise _wrong(path, f'"schema" is {schema!r}, not a version number')
    if schema > SCHEMA:
        raise FileFormatError(
            f"{path} has schema {schema}, written by a newer dard (this one reads up to "
            f"{SCHEMA}): pip install --upgrade dard"
        )


def _rows(path: Path, transitions: Any) -> int:
    if not _is_count(transitions):
        raise _wrong(path, f'"transitions" is {transitions!r}, not a number of rows')
    return transitions


def _column(path: Path, name: str, entry: Any, transitions: int) -> Column:
    if not isinstance(entry, dict):
        raise _wrong(path, f"column {name} is not a table")
    file, dtype, shape, sha256 = (entry.get(key) for key in ("file", "dtype", "shape", "sha256"))
    if not isinstance(file, str) or not _stays_inside(file):
        raise _wrong(path, f"column {name} names the file {file!r}, which is not inside the store")
    if not isinstance(dtype, str):
        raise _wrong(path, f"column {name} has dtype {dtype!r}, not a type string")
    if not isinstance(shape, list) or not shape or not all(_is_count(size) for size in shape):
        raise _wrong(path, f"column {name} has shape {shape!r}, not a list of sizes")
    if shape[0] != transitions:
        raise _wrong(path, f"column {name} has {shape[0]} rows, the store {transitions}")
    if not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise _wrong(path, f"column {name} has no SHA-256 checksum")
    return Column(file, dtype, tuple(shape), sha256)


def _stays_inside(file: str) -> bool:
    """Whether `file` is a relative path without ``..`` on every operating system.

    Links are followed all the same: who makes one in the store has access to its target.
    """
    posix, windows = PurePosixPath(file), PureWindowsPath(file)
    absolute = posix.is_absolute() or bool(windows.anchor)
    return bool(posix.parts) and not absolute and ".." not in windows.parts and "\0" not in file


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _wrong(path: Path, what: str) -> FileFormatError:
    return FileFormatError(
        f"{path} is damaged or not a manifest of dard: {what}; copy the store again from its "
        "source, or save it again with dard.save_transitions"
    )
