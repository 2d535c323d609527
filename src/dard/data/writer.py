"""Stores that are written shard by shard, and go on where a killed process stopped."""

import operator
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError, DataError
from dard.core.transitions import Transitions
from dard.data import atomic, shards
from dard.data.columns import on_host
from dard.data.manifest import read_manifest, refuse_foreign
from dard.data.opened import open_column
from dard.data.provenance import IDENTITY, json_table
from dard.data.schema import FILE_NAME, Manifest


class StoreWriter:
    """Writes a store of a known number of transitions, one shard after the other.

    Each shard is there as a whole or not at all: its bytes are written first, then the manifest
    that names it is replaced at once. Opening an unfinished store again, with the same
    parameters, goes on behind its last intact shard; check `written` to know from where.

    Parameters
    ----------
    folder : path
        The store to make or to continue.
    environment, constants_hash : str
        What the transitions are of: ``Environment.name`` and ``Environment.constants_hash``.
    policy : str
        What chose the actions.
    seed : int
        What the random numbers came from.
    transitions : int
        How many there will be.
    provenance : dict, optional
        What else to note: anything that JSON can hold.
    like : Transitions, optional
        A batch of any length with the columns to come. With it files are made, and the space on
        the disk is checked, at once rather than at the first `append`.

    Notes
    -----
    One writer at a time: nothing keeps two processes from writing into one folder.

    A killed process loses nothing that `append` returned from. After a power cut some of that may
    be missing, since only `finish` waits until everything is on the disk: shards are compared with
    their checksums when the store is opened to continue.

    See Also
    --------
    save_transitions : for data that exists as a whole.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib, dard
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "six"
    >>> origin = {"environment": "line", "constants_hash": "0", "policy": "right", "seed": 0}
    >>> shard = dard.Transitions(np.zeros((3, 1)), np.ones((3, 1)), np.ones((3, 1)))
    >>> dard.data.StoreWriter(folder, **origin, transitions=6).append(shard)
    >>> writer = dard.data.StoreWriter(folder, **origin, transitions=6)
    >>> writer.written
    3
    >>> writer.append(shard)
    >>> writer.finish()
    >>> len(dard.load_transitions(folder))
    6
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        environment: str,
        constants_hash: str,
        policy: str,
        seed: int,
        transitions: int,
        provenance: Mapping[str, Any] | None = None,
        like: Transitions | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._transitions = _count(transitions)
        identity = dict(zip(IDENTITY, (environment, constants_hash, policy, seed), strict=True))
        self._provenance = json_table(identity | _without_identity(json_table(provenance or {})))
        self._manifest: Manifest | None = None
        if self.folder.exists():
            self._manifest = self._resumed()
        if like is not None:
            self._opened(on_host(like))

    @property
    def written(self) -> int:
        """Number of transitions in whole shards: where to go on."""
        return 0 if self._manifest is None else self._manifest.written

    @property
    def shards(self) -> int:
        """Number of whole shards."""
        return 0 if self._manifest is None else len(self._manifest.shards)

    def append(self, data: Transitions) -> None:
        """Write one shard; when this returns, a killed process no longer loses it.

        Parameters
        ----------
        data : Transitions
            With the columns, shapes and types of the shards before. Rather a million rows than a
            thousand: the manifest grows with each shard, and is written again for each.
        """
        rows = on_host(data)
        room = self._transitions - self.written
        if len(data) > room:
            raise ConfigurationError(
                f"data has {len(data):,} transitions but {self.folder} has room for {room:,} of "
                f"its {self._transitions:,}: "
                + ("it is finished" if not room else "append fewer, or plan for more")
            )
        manifest = self._opened(rows)
        if not len(data):
            return
        needed = shards.total_bytes(rows, room)
        advice = (
            f"which needs another {needed:,} bytes: make room and run this again; its "
            f"{len(manifest.shards)} whole shards are kept"
        )
        with atomic.disk_errors(self.folder, advice):
            shard = shards.write_shard(self.folder, manifest, manifest.written, rows)
            longer = replace(manifest, shards=(*manifest.shards, shard))
            atomic.replace_text(self.folder / FILE_NAME, longer.to_json())
        self._manifest = longer

    def finish(self) -> None:
        """Check that all transitions are there, and put them on the disk."""
        if self._manifest is None or not self._manifest.complete:
            raise ConfigurationError(
                f"{self.folder} has {self.written:,} of {self._transitions:,} transitions: append "
                "the others before finish()"
            )
        atomic.sync_content(self.folder)
        atomic.sync(self.folder.resolve().parent)

    def _opened(self, rows: Mapping[str, np.ndarray]) -> Manifest:
        """Return the manifest; columns that are not there yet are made, those there compared."""
        if self._manifest is None:
            needed = shards.total_bytes(rows, self._transitions)
            with atomic.new_folder(self.folder, needed, durable=False) as partial:
                allocated = shards.allocate(partial, rows, self._transitions)
                manifest = replace(allocated, provenance=self._provenance)
                (partial / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
            self._manifest = manifest
        columns = self._manifest.columns
        wanted = {name: (column.dtype, column.shape[1:]) for name, column in columns.items()}
        found = {name: (array.dtype.str, array.shape[1:]) for name, array in rows.items()}
        if found != wanted:
            raise DataError(f"data has columns {found} but {self.folder} has {wanted}")
        return self._manifest

    def _resumed(self) -> Manifest:
        """Return the manifest of a store to continue, without shards that are not intact."""
        refuse_foreign(self.folder)
        manifest = read_manifest(self.folder)
        wanted = self._provenance | {"transitions": self._transitions}
        found = dict(manifest.provenance) | {"transitions": manifest.transitions}
        for key in (*wanted, *found):
            if wanted.get(key) != found.get(key):
                raise ConfigurationError(
                    f"{self.folder} was begun with {key} {found.get(key)!r}, not "
                    f"{wanted.get(key)!r}: continue with the same, or choose another folder"
                )
        if manifest.complete:
            return manifest
        atomic.remove_partial(self.folder)
        for column in manifest.columns.values():
            open_column(self.folder, column)
        intact = min(shards.damage(self.folder, manifest), default=len(manifest.shards))
        return replace(manifest, shards=manifest.shards[:intact])


def _count(transitions: Any) -> int:
    try:
        count = operator.index(transitions)
    except TypeError:
        count = 0
    if count < 1:
        raise ConfigurationError(f"transitions is {transitions!r}; expected a positive integer")
    return count


def _without_identity(provenance: dict[str, Any]) -> dict[str, Any]:
    if twice := [key for key in IDENTITY if key in provenance]:
        raise ConfigurationError(f"provenance has {', '.join(twice)}: give them once, by keyword")
    return provenance
