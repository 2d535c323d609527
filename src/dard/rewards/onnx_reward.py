"""A reward in an ONNX file, evaluated by ONNX Runtime."""

from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError, FileFormatError, RewardError
from dard.rewards.files import read_bytes
from dard.rewards.inputs import COLUMNS, as_rows, checked_columns
from dard.rewards.onnx_file import open_session, runtime_message

_DTYPES = {
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
    "tensor(int32)": np.dtype(np.int32),
    "tensor(int64)": np.dtype(np.int64),
}


class _Input(NamedTuple):
    """One input of the graph: its sizes after the batch axis, None or a name where any will do."""

    name: str
    dtype: np.dtype[Any]
    sizes: tuple[int | str | None, ...]


class OnnxReward:
    """A reward in an ONNX file, evaluated by ONNX Runtime on the CPU.

    The graph has either three inputs (taken by their names if these are ``state``, ``action`` and
    ``next_state``, otherwise in this order) or one, the three flattened and concatenated along the
    last axis; a batch axis of any length; and one output of shape (n,) or (n, 1). The file is
    read once; no code in it is run, and no other file is.

    Parameters
    ----------
    file : str or path
        The file. Models that keep tensors in other files are refused.
    threads : int, optional
        Threads for one evaluation; by default ONNX Runtime takes one per core.

    Attributes
    ----------
    library : str
        ``"numpy"``: arrays of other libraries are converted, values are NumPy.

    Notes
    -----
    Inputs are converted to the dtypes that the graph declares. Pickling carries the model itself,
    so that a worker on another machine needs no file, and gets the same one.
    """

    library = "numpy"

    def __init__(self, file: str | PathLike[str], *, threads: int | None = None) -> None:
        self._open(fspath(file), read_bytes(file, "an .onnx file"), threads)

    def _open(self, file: str, model: bytes, threads: int | None) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ConfigurationError(f"threads is {threads!r}; expected a positive integer")
        self._file, self._model, self._threads = file, model, threads
        self._session = open_session(file, model, threads)
        self._inputs = _inputs(file, self._session.get_inputs())
        _check_output(file, self._session.get_outputs())

    def __call__(self, state: Any, action: Any, next_state: Any, /) -> np.ndarray:
        """Return the rewards, shape (n,), as a NumPy array."""
        columns = [arrays.to_numpy(c) for c in checked_columns(state, action, next_state)]
        if len(self._inputs) == 1:
            (only,) = self._inputs
            joined = np.concatenate([as_rows(column) for column in columns], axis=1)
            feed = {only.name: self._fit(joined, only, "state, action and next_state together")}
        else:
            named = zip(columns, self._inputs, COLUMNS, strict=True)
            feed = {put.name: self._fit(column, put, name) for column, put, name in named}
        try:
            (values,) = self._session.run(None, feed)
        except Exception as error:
            raise RewardError(f"{self._file}: {runtime_message(error)}") from error
        length = len(columns[0])
        if values.shape not in ((length,), (length, 1)):
            raise RewardError(
                f"{self._file}: gave shape {values.shape} for {length} transitions; expected "
                f"({length},) or ({length}, 1)"
            )
        return values.reshape(length)

    def _fit(self, column: np.ndarray, expected: _Input, name: str) -> np.ndarray:
        """Return `column` in the shape and dtype that the graph declares."""
        rank = len(expected.sizes) + 1
        fitted = as_rows(column) if rank == 2 else column
        if rank == 1 and fitted.ndim == 2 and fitted.shape[1] == 1:
            fitted = fitted[:, 0]
        sizes = fitted.shape[1:]
        if len(sizes) != len(expected.sizes) or any(
            isinstance(wanted, int) and wanted != came
            for wanted, came in zip(expected.sizes, sizes, strict=True)
        ):
            raise RewardError(
                f"{self._file}: input {expected.name!r} expects rows of shape "
                f"{_show(expected.sizes)}; {name} came with {_show(sizes)}"
            )
        if not np.can_cast(fitted.dtype, expected.dtype, "same_kind"):
            raise RewardError(
                f"{self._file}: input {expected.name!r} is {expected.dtype}; {name} came as "
                f"{fitted.dtype}: convert it to integers"
            )
        return np.ascontiguousarray(fitted, expected.dtype)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{put.name}={_show(put.sizes)}" for put in self._inputs)
        return f"OnnxReward({self._file!r}, {inputs})"

    def __getstate__(self) -> tuple[str, bytes, int | None]:
        """Carry the model itself: the worker may have no such file."""
        return self._file, self._model, self._threads

    def __setstate__(self, state: tuple[str, bytes, int | None]) -> None:
        self._open(*state)


def _inputs(file: str, declared: list[Any]) -> list[_Input]:
    """Return the graph's inputs in the order of state, action, next state."""
    if len(declared) not in (1, 3):
        names = [put.name for put in declared]
        raise FileFormatError(
            f"{file}: has {len(declared)} inputs {names}; expected state, action and next_state, "
            "or one that is their concatenation"
        )
    for put in declared:
        if put.type not in _DTYPES:
            expected = ", ".join(_DTYPES)
            raise FileFormatError(
                f"{file}: input {put.name!r} is {put.type}; expected one of {expected}"
            )
        if not put.shape or isinstance(put.shape[0], int):
            raise FileFormatError(
                f"{file}: input {put.name!r} has shape {put.shape}; expected a batch axis of any "
                "length first: export with a dynamic batch axis"
            )
    if len(declared) == 1 and len(declared[0].shape) != 2:
        (only,) = declared
        raise FileFormatError(
            f"{file}: its only input {only.name!r} has shape {only.shape}; expected (n, columns), "
            "for state, action and next_state concatenated"
        )
    inputs = [_Input(put.name, _DTYPES[put.type], tuple(put.shape[1:])) for put in declared]
    by_name = {put.name: put for put in inputs}
    return [by_name[name] for name in COLUMNS] if by_name.keys() == set(COLUMNS) else inputs


def _check_output(file: str, declared: list[Any]) -> None:
    if len(declared) != 1:
        names = [output.name for output in declared]
        raise FileFormatError(f"{file}: has {len(declared)} outputs {names}; expected one")
    (output,) = declared
    width = output.shape[1] if len(output.shape) == 2 else 1
    if len(output.shape) > 2 or (isinstance(width, int) and width != 1):
        raise FileFormatError(
            f"{file}: output {output.name!r} has shape {output.shape}; expected (n,) or (n, 1)"
        )


def _show(sizes: tuple[int | str | None, ...]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in sizes)})"
