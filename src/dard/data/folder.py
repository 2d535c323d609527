"""Saving transitions that exist as a whole."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from dard.core.errors import ConfigurationError
from dard.core.transitions import Transitions
from dard.data import atomic, schema, shards
from dard.data.columns import on_host
from dard.data.manifest import read_manifest, refuse_foreign
from dard.data.provenance import json_table
from dard.data.schema import Manifest

_SHARD_BYTES = 1 << 26


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
    dard.data.StoreWriter : for data that is made bit by bit.

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
    noted = json_table(provenance or {})
    _check_target(target, overwrite)
    columns = on_host(data)
    with atomic.new_folder(target, shards.total_bytes(columns, len(data))) as partial:
        empty = shards.allocate(partial, columns, len(data))
        # Piece by piece: a memory-mapped column is never wholly in memory.
        size = max(_SHARD_BYTES // max(shards.total_bytes(columns, 1), 1), 1)
        pieces = (
            (start, {name: array[start : start + size] for name, array in columns.items()})
            for start in range(0, len(data), size)
        )
        written = [shards.write_shard(partial, empty, start, rows) for start, rows in pieces]
        manifest = Manifest(len(data), empty.columns, tuple(written), noted)
        # Last, so that a folder with a manifest has all its columns, even after a kill.
        (partial / schema.FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    refuse_foreign(target)
    if not overwrite:
        raise ConfigurationError(
            f"{target} exists already: choose another name, or pass overwrite=True to replace it"
        )
    read_manifest(target)  # a manifest.json of somebody else's is no licence to delete
