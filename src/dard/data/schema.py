"""What a manifest holds, and its text: see docs/store.md for the specification."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

FORMAT = "dard-transitions"
SCHEMA = 2
FILE_NAME = "manifest.json"
CHECKSUM = {1: "sha256", 2: "crc32"}
"""How each schema guards the bytes, by the name that it has in the manifest."""


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
    offset : int
        Where in the file checksums begin: behind the header (schema 1: at the header).
    """

    file: str
    dtype: str
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Shard:
    """Consecutive rows of all columns, written and damaged as one.

    Parameters
    ----------
    transitions : int
        Number of rows.
    checksums : mapping of str to str
        For each column, the checksum of its bytes of these rows: CRC-32 as 8 hexadecimal digits
        (schema 1: SHA-256 of the whole file).
    episodes : tuple of int, optional
        Episodes of the first and the last row; the first may have begun in the shard before.
    """

    transitions: int
    checksums: Mapping[str, str]
    episodes: tuple[int, int] | None = None


@dataclass(frozen=True)
class Manifest:
    """What a store says of itself, and whatever its writer noted of its origin."""

    transitions: int
    columns: Mapping[str, Column]
    shards: tuple[Shard, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def written(self) -> int:
        """Number of rows in shards; the rest of the planned rows is still to come."""
        return sum(shard.transitions for shard in self.shards)

    @property
    def complete(self) -> bool:
        """Whether all planned rows are there."""
        return self.written == self.transitions

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of each shard, and the one after its last."""
        start = 0
        for shard in self.shards:
            yield start, start + shard.transitions
            start += shard.transitions

    def to_json(self) -> str:
        """Return the text of ``manifest.json``."""
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "transitions": self.transitions,
            "columns": {name: vars(column) for name, column in self.columns.items()},
            "shards": [
                {
                    "transitions": shard.transitions,
                    CHECKSUM[SCHEMA]: dict(shard.checksums),
                    "episodes": shard.episodes,
                }
                for shard in self.shards
            ],
            "provenance": dict(self.provenance),
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"
