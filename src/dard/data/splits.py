"""Data sets in three parts: to learn from, to stop learning by, and to measure on."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from dard.core.errors import FileFormatError
from dard.core.transitions import Transitions
from dard.data import schema
from dard.data.load import load_transitions
from dard.data.manifest import read_manifest
from dard.data.provenance import check_same_environment

SPLITS = ("train", "validation", "evaluation")

PAPER_SPLITS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "bouncing-balls": dict(zip(SPLITS, (2_000_000, 500_000, 500_000), strict=True)),
        "reacher": dict(zip(SPLITS, (4_000_000, 1_000_000, 1_000_000), strict=True)),
    }
)
"""Transitions in each split of the paper's data sets (appendix, table of data set sizes)."""


def load_splits(folder: str | PathLike[str], *, verify: bool = False) -> dict[str, Transitions]:
    """Load the stores ``train``, ``validation`` and ``evaluation`` of one folder.

    Each is a store of its own, which :func:`load_transitions` loads by ``folder/train``. Loading
    all three makes sure that they are of one environment, with the same constants.

    Parameters
    ----------
    folder : path
        A folder with the three stores.
    verify : bool, default False
        Whether to compare checksums too.

    Returns
    -------
    dict of str to Transitions
        By name, in the order above.

    Raises
    ------
    FileFormatError
        A store that is missing or damaged.
    DataError
        Stores of different environments, or of different constants.
    """
    paths = {name: Path(folder) / name for name in SPLITS}
    missing = [name for name, path in paths.items() if not (path / schema.FILE_NAME).is_file()]
    if missing:
        raise FileFormatError(f"{folder} has no store {', '.join(missing)}: collect it")
    check_same_environment({str(path): read_manifest(path) for path in paths.values()})
    return {name: load_transitions(path, verify=verify) for name, path in paths.items()}
