"""Transitions in a NumPy archive."""

import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from dard.core.errors import FileFormatError
from dard.core.transitions import Transitions
from dard.data.columns import assemble
from dard.data.unreadable import not_readable_as

# Whatever zipfile, zlib and numpy raise on archives that are cut, altered or encrypted.
_DAMAGE = (
    ValueError,
    EOFError,
    KeyError,
    OverflowError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(path: Path) -> Transitions:
    """Return the transitions of an .npz file, whole in memory; zip checks its checksums."""
    with path.open("rb") as file:
        # np.load decides by content and would call a text file "pickled data".
        if not zipfile.is_zipfile(file):
            raise not_readable_as(".npz", path, "it is no zip archive, or not a whole one")
        file.seek(0)
        try:
            archive = np.load(file, allow_pickle=False)
        except _DAMAGE as error:
            raise not_readable_as(".npz", path, error) from error
        return assemble(archive.files, lambda name: _read(path, archive, name))


def _read(path: Path, archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        column = archive[name]
    except _DAMAGE as error:
        if "allow_pickle" in str(error):
            raise FileFormatError(
                f"{path}: {name} holds Python objects, and reading those could run code: "
                "save it again as plain numbers"
            ) from error
        raise not_readable_as(".npz", path, error) from error
    if not isinstance(column, np.ndarray):
        raise not_readable_as(".npz", path, f"{name} is not an array")
    if column.ndim == 0:
        raise FileFormatError(f"{path}: {name} is a single number; expected one row each")
    return column
