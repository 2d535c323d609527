"""Transitions in Parquet files, read and written through pyarrow."""

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError, DataError, MissingExtraError
from dard.core.transitions import Transitions
from dard.data import atomic
from dard.data.columns import assemble, on_host
from dard.data.unreadable import not_readable_as

_ROWS_AT_ONCE = 1 << 18


def save_parquet(data: Transitions, file: str | PathLike[str], *, overwrite: bool = False) -> None:
    """Save transitions as one Parquet file, for other programs.

    Columns are ``state``, ``action``, ``next_state`` and, where known, ``episode``: lists of
    fixed length (nested ones for columns of more axes), plain numbers for columns of shape (n,).

    Parameters
    ----------
    data : Transitions
        In any array library.
    file : path
        The file to write; it appears complete or not at all.
    overwrite : bool, default False
        Whether to replace a file that is already there.

    See Also
    --------
    save_transitions : the format to prefer for dard itself; it opens without being read.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib, dard
    >>> data = dard.Transitions(np.zeros((3, 2)), np.ones((3, 1)), np.ones((3, 2)))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "three.parquet"
    >>> dard.data.save_parquet(data, file)
    >>> dard.load_transitions(file)
    Transitions(n=3, state=(2,) float64, action=(1,) float64, library=numpy)
    """
    _, parquet = _pyarrow("save_parquet")
    target = Path(file)
    if target.exists() and (target.is_dir() or not overwrite):
        raise ConfigurationError(
            f"{target} exists already: choose another name, or replace a file with overwrite=True"
        )
    columns = on_host(data)
    needed = sum(column.nbytes for column in columns.values())
    tables = _tables(columns, len(data))
    first = next(tables)
    # Dictionaries of distinct values cost time and save nothing on real-valued columns.
    options: dict[str, Any] = {"use_dictionary": False, "write_page_checksum": True}
    with (
        atomic.new_file(target, needed) as partial,
        parquet.ParquetWriter(partial, first.schema, compression="zstd", **options) as writer,
    ):
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def read_parquet(path: Path, verify: bool) -> Transitions:
    """Return the transitions of a Parquet file: list columns, or flat ``state_0, state_1, ...``.

    Reading runs no code of the file: only plain numbers, and lists of them, are taken. (pyarrow
    before 14.0.1 could unpickle an extension type of the file; the extra asks for a later one.)
    """
    pa, parquet = _pyarrow("load_transitions of a .parquet file")
    try:
        with parquet.ParquetFile(
            path, memory_map=True, page_checksum_verification=verify
        ) as source:
            parts = _grouped(source.schema_arrow.names)
            return assemble(parts, lambda name: _read(source, name, parts[name]))
    except DataError:
        raise
    # ValueError: names that are no UTF-8.
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the file system's, such as a missing permission
        raise not_readable_as(".parquet", path, error) from error


def _pyarrow(purpose: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "io", purpose) from error
    return pa, parquet


def _grouped(names: list[str]) -> dict[str, list[str]]:
    """Map each column to those that it is made of: itself or, failing that, its numbered parts."""
    numbered: dict[str, dict[int, str]] = {}
    for name in names:
        if match := re.fullmatch(r"(.+)_(0|[1-9]\d*)", name):
            numbered.setdefault(match[1], {})[int(match[2])] = name
    parts = {name: [found[k] for k in sorted(found)] for name, found in numbered.items()}
    return parts | {name: [name] for name in names}


def _read(source: Any, name: str, parts: list[str]) -> np.ndarray:
    """Return one column; what Arrow decoded into a single piece is not copied."""
    if parts != [name] and parts != [f"{name}_{k}" for k in range(len(parts))]:
        raise DataError(f"{name} comes as {', '.join(parts)}: number the parts 0, 1, 2, ...")
    found = [_part(source, part) for part in parts]
    if parts == [name]:
        return found[0]
    if any(column.ndim > 1 for column in found):
        raise DataError(f"{name}_0, ... hold lists: use one list column {name}")
    return np.stack(found, axis=1)


def _part(source: Any, name: str) -> np.ndarray:
    # One column at a time, so that those not asked for never enter memory.
    column = source.read(columns=[name]).column(name)
    filled = [chunk for chunk in column.chunks if len(chunk)] or [column.combine_chunks()]
    chunks = [_dense(chunk, name) for chunk in filled]
    if len({chunk.shape[1:] for chunk in chunks}) > 1:
        raise DataError(f"{name} has lists of different lengths: {_PAD}")
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


_PAD = "every transition needs the same number of values; pad or drop them"


def _dense(values: Any, what: str) -> np.ndarray:
    """Return an Arrow array of numbers, or of equal-length lists of them, as a NumPy array."""
    import pyarrow as pa

    if values.null_count:
        raise DataError(f"{what} has {values.null_count} missing values: drop or fill those rows")
    kind = values.type
    if pa.types.is_fixed_size_list(kind):
        length = kind.list_size
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = values.value_lengths().to_numpy()
        length = int(lengths.max(initial=0))
        if (lengths != length).any():
            raise DataError(f"{what} has lists of {lengths.min()} to {length} values: {_PAD}")
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return values.to_numpy()
    elif pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    else:
        raise DataError(f"{what} has type {kind}; expected numbers or lists of numbers")
    inner = _dense(values.flatten(), what)
    return inner.reshape(len(values), length, *inner.shape[1:])


def _tables(columns: dict[str, np.ndarray], rows: int) -> Iterator[Any]:
    """Yield the columns as Arrow tables of a few rows each, at least one table."""
    import pyarrow as pa

    for start in range(0, max(rows, 1), _ROWS_AT_ONCE):
        piece = {
            name: _lists(np.ascontiguousarray(column[start : start + _ROWS_AT_ONCE]))
            for name, column in columns.items()
        }
        yield pa.table(piece)


def _lists(column: np.ndarray) -> Any:
    """Return `column` as an Arrow array, a fixed-size list for each axis after the first."""
    import pyarrow as pa

    if 0 in column.shape[1:]:
        raise DataError(f"a column of shape {column.shape} has no values: Parquet cannot hold it")
    values = pa.array(column.reshape(-1))
    for size in reversed(column.shape[1:]):
        values = pa.FixedSizeListArray.from_arrays(values, size)
    return values
