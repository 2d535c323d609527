"""Reading whole files with errors of one line, and writing them whole or not at all."""

from os import PathLike
from pathlib import Path

from dard.core.errors import FileFormatError
from dard.data.atomic import new_file


def read_bytes(file: str | PathLike[str], expected: str) -> bytes:
    """Return the content of `file`, or say in one line why it cannot be read."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileFormatError(f"{file}: {reason}; expected {expected}") from error


def write_bytes(file: str | PathLike[str], content: bytes) -> None:
    """Write or replace `file`, whole or not at all."""
    with new_file(Path(file), len(content)) as partial:
        partial.write_bytes(content)
