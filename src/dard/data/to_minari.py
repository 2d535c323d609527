"""Transitions as Minari datasets, for other programs."""

import json
import re
import secrets
import shutil
import warnings
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError, DataError, MissingExtraError
from dard.core.transitions import Transitions
from dard.data import atomic
from dard.data.columns import on_host
from dard.data.minari import PREFIX, dataset_folder, require_minari


def save_minari(data: Transitions, dataset_id: str, *, overwrite: bool = False) -> None:
    """Save transitions as a local Minari dataset, for other programs.

    Minari keeps episodes of T actions and T + 1 observations, so the episodes must be known and
    unbroken: each next state is the state of the next row. Rewards are 0, since transitions have
    none, and every episode ends by truncation.

    Parameters
    ----------
    data : Transitions
        In any array library, with `episode`, the rows of an episode beside each other.
    dataset_id : str
        ``NAMESPACE/NAME-vVERSION``, the namespace optional. Minari's settings say in which
        folder its datasets are.
    overwrite : bool, default False
        Whether to replace a dataset that is already there.

    See Also
    --------
    load_transitions : the way back, by ``"minari:NAMESPACE/NAME-vVERSION"``.
    """
    minari = require_minari("save_minari")
    folder = dataset_folder(minari, dataset_id)
    if folder.exists() and not overwrite:
        raise ConfigurationError(
            f"{PREFIX}{dataset_id} exists already: choose another name, or pass overwrite=True"
        )
    columns = on_host(data)
    starts = _starts(columns)
    new_id = f"{re.sub(r'-v[0-9]+$', '', dataset_id)}-partial-v{secrets.randbits(32)}"
    partial = dataset_folder(minari, new_id)
    try:
        with atomic.disk_errors(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of everything that Minari would like to be told
            minari.create_dataset_from_buffers(
                new_id,
                _buffers(columns, starts),
                observation_space=_space(columns["state"]),
                action_space=_space(columns["action"]),
                jpeg_encoding=False,  # which would change the numbers
            )
        file = partial / "data" / "metadata.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"dataset_id": dataset_id}))
        atomic.move_into_place(partial, folder)
    except ImportError as error:
        raise MissingExtraError("h5py", "io", "save_minari") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _starts(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the first row of each episode, and the number of rows."""
    if "episode" not in columns or not len(columns["state"]):
        raise DataError("Minari keeps whole episodes: data needs rows, and an episode for each")
    episode, state, next_state = (columns[name] for name in ("episode", "state", "next_state"))
    inner = episode[1:] == episode[:-1]
    starts = np.concatenate([[0], np.flatnonzero(~inner) + 1, [len(episode)]])
    if len(np.unique(episode)) != len(starts) - 1:
        raise DataError("the rows of an episode are not beside each other: sort data by episode")
    same = (next_state[:-1] == state[1:]).reshape(len(inner), -1).all(1)
    if len(broken := np.flatnonzero(inner & ~same)):
        raise DataError(
            f"next_state of row {broken[0]} is not the state of row {broken[0] + 1}, of the same "
            "episode: Minari cannot hold episodes with gaps; give each part an episode of its own"
        )
    return starts


def _buffers(columns: Mapping[str, np.ndarray], starts: np.ndarray) -> Iterator[Any]:
    from minari.data_collector import EpisodeBuffer

    for start, stop in pairwise(starts.tolist()):
        steps = stop - start
        # Annotated as lists, but taken as arrays and kept as they are.
        last = columns["next_state"][stop - 1 : stop]
        observations: Any = np.concatenate([columns["state"][start:stop], last])
        actions: Any = columns["action"][start:stop]
        yield EpisodeBuffer(
            observations=observations,
            actions=actions,
            rewards=[0.0] * steps,
            terminations=[False] * steps,
            truncations=[False] * (steps - 1) + [True],
        )


def _space(column: np.ndarray) -> Any:
    """Return the space of all values of the column's type; discrete where rows are integers."""
    from gymnasium import spaces

    if column.ndim == 1 and column.dtype.kind in "iu":
        low, high = int(column.min()), int(column.max())
        return spaces.Discrete(high - low + 1, start=low)
    if column.dtype.kind == "f":
        return spaces.Box(-np.inf, np.inf, column.shape[1:], column.dtype)
    if column.dtype.kind == "b":
        return spaces.MultiBinary(column.shape[1:])
    limits = np.iinfo(column.dtype)
    return spaces.Box(limits.min, limits.max, column.shape[1:], column.dtype)
