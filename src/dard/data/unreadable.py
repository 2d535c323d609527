"""How the readers of this room say that a file cannot be used: one line, with what to do."""

from pathlib import Path

from dard.core.errors import FileFormatError

_LONG = 160


def reason(error: BaseException) -> str:
    """Return what `error` says, on one line of bearable length, or its type if it says nothing."""
    lines = str(error).strip().splitlines()
    said = lines[0].rstrip(".") if lines else type(error).__name__
    return said if len(said) <= _LONG else said[:_LONG] + "..."


def not_readable_as(kind: str, path: Path, error: BaseException | str) -> FileFormatError:
    """Return the error for a file that is not what its name says, or not whole."""
    why = error if isinstance(error, str) else reason(error)
    return FileFormatError(
        f"{path} is damaged or no {kind} file ({why}): copy it again from its source, or rename it"
    )
