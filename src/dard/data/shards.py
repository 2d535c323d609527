"""The bytes of a store: column files at their full length, and shards written into them."""

import errno
import hashlib
import math
import os
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np

from dard.data.schema import Column, Manifest, Shard

_PIECE = 1 << 22


def allocate(folder: Path, columns: Mapping[str, np.ndarray], transitions: int) -> Manifest:
    """Make a .npy file of `transitions` rows for each of `columns`, still without content.

    The files are as long as they will ever be, and their room on the disk is reserved: later
    writes are faster, and do not run out of it.
    """
    return Manifest(
        transitions,
        {
            name: _allocate(folder / f"{name}.npy", array.dtype, (transitions, *array.shape[1:]))
            for name, array in columns.items()
        },
    )


def _allocate(path: Path, dtype: np.dtype, shape: tuple[int, ...]) -> Column:
    description = np.lib.format.dtype_to_descr(dtype)
    header = {"descr": description, "fortran_order": False, "shape": shape}
    with path.open("xb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        offset = file.tell()
        _reserve(file, offset + row_bytes(shape, dtype) * shape[0])
    return Column(path.name, dtype.str, shape, offset)


def _reserve(file: BinaryIO, length: int) -> None:
    file.truncate(length)
    if not hasattr(os, "posix_fallocate"):  # Windows, macOS
        return
    try:
        os.posix_fallocate(file.fileno(), 0, length)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise  # the disk is full; other file systems cannot reserve


def row_bytes(shape: Iterable[int], dtype: np.dtype) -> int:
    """Return the bytes of one row of a column, whose shape begins with the number of rows."""
    _, *rest = shape
    return math.prod(rest) * dtype.itemsize


def total_bytes(columns: Mapping[str, np.ndarray], transitions: int) -> int:
    """Return the bytes of `transitions` rows of the given columns, without headers."""
    return transitions * sum(row_bytes(array.shape, array.dtype) for array in columns.values())


def write_shard(
    folder: Path, manifest: Manifest, start: int, rows: Mapping[str, np.ndarray]
) -> Shard:
    """Write rows into the columns from row `start` on, and return what the manifest says of them.

    Each column has a thread of its own: checksums and the system's copying both use a whole core.
    """
    with ThreadPoolExecutor() as pool:
        written = {
            name: pool.submit(_write, folder, manifest.columns[name], start, array)
            for name, array in rows.items()
        }
    checksums = {name: column.result() for name, column in written.items()}
    episode = rows.get("episode")
    ends = None if episode is None else (int(episode[0]), int(episode[-1]))
    return Shard(len(rows["state"]), checksums, ends)


def _write(folder: Path, column: Column, start: int, rows: np.ndarray) -> str:
    content = np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data
    offset = column.offset + start * row_bytes(column.shape, np.dtype(column.dtype))
    write_at(folder / column.file, offset, content)
    return f"{zlib.crc32(content):08x}"


def write_at(path: Path, offset: int, content: memoryview) -> None:
    """Overwrite part of a file."""
    # Not array.tofile, nor a memory map: they do not say that the disk is full.
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def damage(folder: Path, manifest: Manifest) -> dict[int, list[str]]:
    """Return the shards whose bytes have other checksums, with the columns concerned."""
    tasks = [
        (number, name, start)
        for number, (start, _) in enumerate(manifest.ranges())
        for name in manifest.columns
    ]
    with ThreadPoolExecutor() as pool:
        intact = pool.map(lambda task: _is_intact(folder, manifest, *task), tasks)
        found: dict[int, list[str]] = {}
        for (number, name, _), whole in zip(tasks, intact, strict=True):
            if not whole:
                found.setdefault(number, []).append(name)
    return found


def _is_intact(folder: Path, manifest: Manifest, number: int, name: str, start: int) -> bool:
    column, shard = manifest.columns[name], manifest.shards[number]
    path = folder / column.file
    if not path.is_file():
        return False
    if manifest.schema == 1:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == shard.checksums[name]
    size = row_bytes(column.shape, np.dtype(column.dtype))
    remaining, checksum = shard.transitions * size, 0
    with path.open("rb") as file:
        file.seek(column.offset + start * size)
        while remaining and (piece := file.read(min(remaining, _PIECE))):
            checksum = zlib.crc32(piece, checksum)
            remaining -= len(piece)
    return not remaining and f"{checksum:08x}" == shard.checksums[name]
