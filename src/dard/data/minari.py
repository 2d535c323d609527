"""Transitions of Minari datasets that are on this machine."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError, DataError, FileFormatError, MissingExtraError
from dard.core.transitions import Transitions
from dard.data.unreadable import reason

PREFIX = "minari:"


def read_minari(dataset_id: str) -> Transitions:
    """Return all transitions of a local dataset, in memory, with its episodes.

    The k-th transition of an episode is ``(observations[k], actions[k], observations[k + 1])``;
    Minari keeps an episode's last observation, so next states are never those of a reset.
    """
    minari = require_minari("load_transitions('minari:...')")
    folder = _local_folder(minari, dataset_id)
    _refuse_if_loading_would_run_code(dataset_id, folder / "data" / "metadata.json")
    try:
        dataset = minari.load_dataset(dataset_id, download=False)
        parts = [_episode(number, item) for number, item in enumerate(dataset.iterate_episodes())]
        expected = int(dataset.total_steps)
    except ImportError as error:  # Minari's own backends: h5py for its default format
        package = "h5py" if "h5py" in str(error) else "minari[all]"
        raise MissingExtraError(package, "io", f"{PREFIX}{dataset_id}") from error
    except DataError:
        raise
    except Exception as error:  # its storage formats raise anything on damaged files
        raise FileFormatError(
            f"{PREFIX}{dataset_id} cannot be read ({type(error).__name__}: {reason(error)}): "
            f"delete {folder} and download it again, or update Minari"
        ) from error
    # Minari's Arrow storage loses rows of episodes that are longer than one record batch.
    if (found := sum(map(len, parts))) != expected:
        raise FileFormatError(
            f"{PREFIX}{dataset_id} should have {expected} transitions but {found} were read: "
            f"delete {folder} and download it again"
        )
    return Transitions.concatenate(parts)


def require_minari(purpose: str) -> ModuleType:
    """Return the package, or say which extra brings it."""
    try:
        import minari
    except ImportError as error:
        raise MissingExtraError("minari", "io", purpose) from error
    return minari


def dataset_folder(minari: Any, dataset_id: str) -> Path:
    """Return a dataset's folder; an id is a name, so it cannot lead out of Minari's folder."""
    if not minari.dataset.minari_dataset.DATASET_ID_RE.fullmatch(dataset_id):
        raise ConfigurationError(
            f"{PREFIX}{dataset_id} is no dataset id: write minari:NAMESPACE/NAME-vVERSION"
        )
    return minari.storage.get_dataset_path(dataset_id)


def _local_folder(minari: Any, dataset_id: str) -> Path:
    folder = dataset_folder(minari, dataset_id)
    if not (folder / "data" / "metadata.json").is_file():
        raise FileFormatError(
            f"{PREFIX}{dataset_id} is not on this machine (looked in {folder}): "
            f"run `minari download {dataset_id}` first"
        )
    return folder


def _refuse_if_loading_would_run_code(dataset_id: str, metadata_file: Path) -> None:
    """Check the only place where Minari (0.5) runs what a dataset names while loading it.

    Data is HDF5, Arrow or Parquet; spaces and the environment's specification are JSON, and the
    specification stays data until ``recover_environment``. But where a space is missing from the
    metadata, Minari makes the environment to ask it, and ``gymnasium.make`` imports and calls
    whatever ``module:function`` the specification says.
    """
    try:
        metadata = json.loads(metadata_file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{metadata_file} is not JSON text ({reason(error)}): download the dataset again"
        ) from error
    spaces = ("observation_space", "action_space")
    stated = isinstance(metadata, dict) and all(name in metadata for name in spaces)
    if not stated:
        raise FileFormatError(
            f"{PREFIX}{dataset_id} does not state its spaces, so Minari would run the "
            "environment that it names: convert it with a newer Minari where you trust it"
        )


def _episode(number: int, episode: Any) -> Transitions:
    steps = len(episode)
    state = _rows(episode.observations, slice(None, steps))
    next_state = _rows(episode.observations, slice(1, steps + 1))
    action = _rows(episode.actions, slice(None))
    return Transitions(state, action, next_state, episode=np.full(steps, number))


def _rows(values: Any, rows: slice) -> Any:
    if isinstance(values, Mapping):
        return {name: _rows(part, rows) for name, part in values.items()}
    if isinstance(values, tuple):
        raise DataError("tuple observations or actions have no names to sort by: use a Dict space")
    return np.asarray(values)[rows]
