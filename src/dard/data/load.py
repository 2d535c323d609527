"""One function that reads transitions from wherever they are."""

from os import PathLike
from pathlib import Path

from dard.core.errors import ConfigurationError, DataError, FileFormatError
from dard.core.transitions import Transitions
from dard.data.minari import PREFIX, read_minari
from dard.data.npz import read_npz
from dard.data.opened import read_folder
from dard.data.parquet import read_parquet
from dard.data.unreadable import reason

_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib")


def load_transitions(
    source: str | PathLike[str], *, verify: bool = False, skip_damaged: bool = False
) -> Transitions:
    """Read transitions from a store, an archive, a Parquet file or a Minari dataset.

    Reading never runs code from the file, and never goes to the network.

    Parameters
    ----------
    source : path or str
        One of

        - a folder that :func:`save_transitions` made. Its columns are memory-mapped: opening
          takes milliseconds, whatever the size, and the data stays on disk;
        - ``file.npz``;
        - ``file.parquet``, with list columns or flat ones (``state_0, state_1, ...``);
        - ``"minari:NAMESPACE/NAME-v0"``, a dataset that Minari has on this machine.

        Columns of .npz and Parquet files are ``state``, ``action``, ``next_state`` and,
        optionally, ``episode``. Also understood are ``obs`` or ``observations``, ``actions`` or
        ``acts``, ``next_obs`` or ``next_observations``; and where there is no ``episode``,
        flags on the last row of each episode under any of ``terminals``, ``terminations``,
        ``timeouts``, ``truncations``, ``dones``.
    verify : bool, default False
        Whether to compare checksums too, which reads every byte. Without it, a store's schema,
        types, shapes and file sizes are compared, so truncated and swapped files are found
        anyway. Parquet files have the checksums that their writer put in; .npz files are always
        checked. Minari datasets have none, so asking for it is an error.
    skip_damaged : bool, default False
        Whether to leave out, with a warning, what is missing or altered, and load the other
        shards of a store. Compares checksums too. Only stores come in shards, so asking for it
        elsewhere is an error.

    Returns
    -------
    Transitions
        With NumPy columns.

    Raises
    ------
    FileFormatError
        A source that is missing, truncated, not what its name says, or from a newer version.
    DataError
        A readable source whose content is not a batch of transitions.

    See Also
    --------
    save_transitions, dard.data.save_parquet, dard.data.save_minari, dard.data.load_splits
    """
    if not isinstance(source, str | PathLike):
        raise ConfigurationError(
            f"source is {type(source).__name__}; expected a path or 'minari:DATASET'"
        )
    try:
        return _read(source, verify, skip_damaged)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    except OSError as error:
        why = error.strerror or reason(error)
        raise FileFormatError(
            f"{source} cannot be read ({why}): check its name and permissions"
        ) from error


def _read(source: str | PathLike[str], verify: bool, skip_damaged: bool) -> Transitions:
    if isinstance(source, str) and source.startswith(PREFIX):
        if verify or skip_damaged:
            raise ConfigurationError(
                "verify=True and skip_damaged=True compare checksums, and Minari datasets have "
                "none: leave them out"
            )
        return read_minari(source.removeprefix(PREFIX))
    path = Path(source)
    if path.is_dir():
        return read_folder(path, verify, skip_damaged)
    if not path.exists():
        raise FileFormatError(f"{path} does not exist: check the path")
    if skip_damaged:
        raise ConfigurationError(
            f"skip_damaged=True loads the intact shards of a store, and {path} has no shards: "
            "leave it out"
        )
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return read_npz(path)
    if suffix == ".parquet":
        return read_parquet(path, verify)
    raise _unknown(path, suffix)


def _unknown(path: Path, suffix: str) -> FileFormatError:
    if suffix in _PICKLES:
        return FileFormatError(
            f"{path} is a pickle, and reading one runs whatever code it holds: load it yourself "
            "where you trust it, then dard.save_transitions(dard.Transitions(...), folder)"
        )
    if suffix == ".npy":
        return FileFormatError(
            f"{path} is one column: load state, action and next_state with numpy and "
            "put them into dard.Transitions"
        )
    return FileFormatError(
        f"{path} has the unknown suffix {suffix!r}: expected a folder made by "
        "dard.save_transitions, .npz, .parquet, or 'minari:DATASET'"
    )
