"""The columns of a call of a reward, checked and flattened to rows."""

import math
from typing import Any

from dard.core import arrays
from dard.core.errors import RewardError

COLUMNS = ("state", "action", "next_state")


def checked_columns(state: Any, action: Any, next_state: Any) -> list[Any]:
    """Return the three columns as arrays of one library and one length.

    Raises
    ------
    RewardError
        If they mix libraries or lengths, or if one is a single number.
    """
    columns = [
        arrays.as_array(column, name)
        for column, name in zip((state, action, next_state), COLUMNS, strict=True)
    ]
    libraries = sorted({str(arrays.library_of(column)) for column in columns})
    if len(libraries) > 1:
        names = " and ".join(arrays.type_name[library] for library in libraries)
        raise RewardError(f"state, action and next_state mix {names}: convert them to one library")
    shapes = {name: tuple(column.shape) for name, column in zip(COLUMNS, columns, strict=True)}
    if not all(shapes.values()) or len({shape[0] for shape in shapes.values()}) > 1:
        came = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise RewardError(f"expected three batches of one length, shape (n, ...); came {came}")
    return columns


def as_rows(column: Any) -> Any:
    """Return `column` of shape (n, ...) as (n, width)."""
    return column.reshape((column.shape[0], math.prod(column.shape[1:])))
