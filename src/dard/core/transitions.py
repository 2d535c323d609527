"""The batch of transitions that everything else eats."""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class Transitions:
    """A frozen, validated batch of transitions ``(state, action, next_state)``.

    Parameters
    ----------
    state, next_state : array, shape (n, ...)
        States before and after, of one shape, in NumPy, PyTorch or JAX. Lists are converted to
        NumPy. A dictionary of arrays (a dictionary observation) is flattened: keys in sorted
        order, depth first, each leaf reshaped to (n, -1), concatenated along the last axis.
    action : array, shape (n, ...)
        Actions. Discrete actions are integers of shape (n,) or (n, 1).
    episode : array of integers, shape (n,), optional
        Which episode each transition belongs to. Transitions of one episode are dependent, so
        standard errors are computed over whole episodes where these ids are given.

    Notes
    -----
    NumPy columns are held as read-only views: no copy is made, memory-mapped files stay on disk,
    and nothing downstream can write into them.

    Examples
    --------
    >>> import numpy as np
    >>> import dard
    >>> data = dard.Transitions(np.zeros((3, 2)), np.ones((3, 1)), np.ones((3, 2)))
    >>> data
    Transitions(n=3, state=(2,) float64, action=(1,) float64, library=numpy)
    >>> len(data[:2])
    2
    """

    state: Any
    action: Any
    next_state: Any
    episode: Any = None

    def __post_init__(self) -> None:
        columns = {name: _column(getattr(self, name), name) for name in _COLUMNS}
        libraries = {arrays.library_of(column) for column in columns.values()}
        if len(libraries) > 1:
            names = " and ".join(sorted(arrays.type_name[str(name)] for name in libraries))
            raise DataError(f"state, action and next_state mix {names}: convert them to one")
        lengths = {name: int(column.shape[0]) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns have different lengths: {lengths}")
        if columns["state"].shape != columns["next_state"].shape:
            shapes = columns["state"].shape, columns["next_state"].shape
            raise DataError(f"state has shape {shapes[0]} but next_state has {shapes[1]}")
        for name, column in columns.items():
            object.__setattr__(self, name, _read_only(column))
        if self.episode is not None:
            episode = _episode_ids(self.episode, lengths["state"])
            object.__setattr__(self, "episode", _read_only(episode))

    def __len__(self) -> int:
        return int(self.state.shape[0])

    def __getitem__(self, index: Any) -> "Transitions":
        """Return the selected transitions; a single integer selects a batch of one."""
        index = self._normal_index(index)
        episode = None if self.episode is None else _pick(self.episode, _host_index(index))
        columns = (_pick(getattr(self, name), index) for name in _COLUMNS)
        return Transitions(*columns, episode=episode)

    def _normal_index(self, index: Any) -> Any:
        """Return a slice, or an index array that the library of the columns understands."""
        try:
            number = operator.index(index)
        except TypeError:
            if isinstance(index, slice):
                return index
            library = arrays.library_of(index)
            if library is None:
                return np.array(index, None if len(index) else np.intp)
            return index if library == self.library else np.array(arrays.to_numpy(index))
        if not -len(self) <= number < len(self):
            raise IndexError(f"transition {number} of {len(self)}")
        return slice(number, number + 1 or None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild through the constructor, since NumPy forgets on the way what is read-only."""
        return type(self), (self.state, self.action, self.next_state, self.episode)

    def __repr__(self) -> str:
        def describe(column: Any) -> str:
            return f"{tuple(column.shape[1:])} {str(column.dtype).rpartition('.')[2]}"

        episodes = "" if self.episode is None else f", episodes={len(np.unique(self.episode))}"
        return (
            f"Transitions(n={len(self)}, state={describe(self.state)}, "
            f"action={describe(self.action)}, library={self.library}{episodes})"
        )

    @property
    def library(self) -> str:
        """The array library of the columns: ``"numpy"``, ``"torch"`` or ``"jax"``."""
        return str(arrays.library_of(self.state))

    @classmethod
    def concatenate(cls, parts: Sequence["Transitions"]) -> "Transitions":
        """Join batches of one library; episodes of different parts stay different episodes."""
        if not parts:
            raise DataError("nothing to concatenate: parts is empty")
        libraries = {part.library for part in parts}
        if len(libraries) > 1:
            raise DataError(f"parts mix {' and '.join(sorted(libraries))}: convert them to one")
        with_ids = [part.episode is not None for part in parts]
        if any(with_ids) and not all(with_ids):
            raise DataError("some parts have episode ids and some have none: give all or none")
        xp = arrays.namespace(parts[0].state)
        joined = (xp.concat([getattr(part, name) for part in parts]) for name in _COLUMNS)
        return cls(*joined, episode=_joined_episodes(parts) if all(with_ids) else None)


_COLUMNS = ("state", "action", "next_state")


def _column(value: Any, name: str) -> Any:
    array = _flatten(value, name) if isinstance(value, Mapping) else arrays.as_array(value, name)
    if array.ndim == 0:
        raise DataError(f"{name} is a single number; expected a batch of shape (n, ...)")
    return array


def _flatten(tree: Mapping[str, Any], name: str) -> Any:
    """Flatten a dictionary observation: sorted keys, depth first, each leaf as (n, -1)."""
    if not tree:
        raise DataError(f"{name} is an empty dictionary")
    leaves: list[Any] = []
    for key in sorted(tree):
        leaf = _column(tree[key], f"{name}[{key!r}]")
        leaves.append(leaf.reshape((leaf.shape[0], math.prod(leaf.shape[1:]))))
    if len({leaf.shape[0] for leaf in leaves}) > 1:
        sizes = {key: leaf.shape[0] for key, leaf in zip(sorted(tree), leaves, strict=True)}
        raise DataError(f"{name} has parts of different lengths: {sizes}")
    if len({arrays.library_of(leaf) for leaf in leaves}) > 1:
        raise DataError(f"{name} mixes array libraries: convert its parts to one")
    return arrays.namespace(*leaves).concat(leaves, axis=1)


def _episode_ids(value: Any, length: int) -> np.ndarray:
    ids = arrays.to_numpy(arrays.as_array(value, "episode"))
    if ids.shape != (length,):
        raise DataError(f"episode has shape {ids.shape}; expected ({length},)")
    if ids.dtype.kind not in "iu":
        raise DataError(f"episode has dtype {ids.dtype}; expected integer ids")
    return ids


def _read_only(array: Any) -> Any:
    if arrays.library_of(array) == "numpy":
        array = array.view()
        array.flags.writeable = False
    return array


def _pick(column: Any, index: Any) -> Any:
    """Return rows of a column; NumPy's take does it four times as fast as brackets."""
    if not isinstance(column, np.ndarray) or not isinstance(index, np.ndarray):
        return column[index]
    # It would copy the whole of a column that does not lie in memory row by row.
    plain = column.flags.c_contiguous and column.flags.aligned and column.dtype.isnative
    return column.take(index, axis=0) if plain and index.dtype.kind in "iu" else column[index]


def _host_index(index: Any) -> Any:
    return index if arrays.library_of(index) in (None, "numpy") else arrays.to_numpy(index)


def _joined_episodes(parts: Sequence[Transitions]) -> np.ndarray:
    shifted, first_free = [], 0
    for part in parts:
        if len(part):
            ids = part.episode.astype(np.int64)
            shifted.append(ids - ids.min() + first_free)
            first_free = int(shifted[-1].max()) + 1
    return np.concatenate(shifted) if shifted else np.zeros(0, np.int64)
