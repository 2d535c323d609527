"""The columns of a batch: those of ours to write, and those of foreign files to recognise."""

from collections.abc import Callable, Collection

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError, DataError
from dard.core.transitions import Transitions

COLUMNS = ("state", "action", "next_state", "episode")

_ALIASES = {
    "state": ("obs", "observations"),
    "action": ("actions", "acts"),
    "next_state": ("next_obs", "next_observations"),
    "episode": (),
}
_ENDS = ("terminals", "terminations", "timeouts", "truncations", "dones")


def on_host(data: Transitions) -> dict[str, np.ndarray]:
    """Return the columns that `data` has, as NumPy arrays in the machine's byte order."""
    if not isinstance(data, Transitions):
        raise ConfigurationError(
            f"data is {type(data).__name__}; expected dard.Transitions(state, action, next_state)"
        )
    present = {name: getattr(data, name) for name in COLUMNS}
    host = {name: arrays.to_numpy(array) for name, array in present.items() if array is not None}
    return {
        name: array.astype(array.dtype.newbyteorder("="), copy=False)
        for name, array in host.items()
    }


def assemble(names: Collection[str], read: Callable[[str], np.ndarray]) -> Transitions:
    """Return the transitions of a file with the columns `names`, read one at a time."""
    chosen = {role: _choose(role, names) for role in COLUMNS}
    missing = [role for role in ("state", "action", "next_state") if chosen[role] is None]
    if missing:
        wanted = ", ".join(f"{role} (or {' or '.join(_ALIASES[role])})" for role in missing)
        found = ", ".join(sorted(names)) or "nothing"
        raise DataError(f"found no {wanted}, only {found}: rename or add the columns")
    columns = {role: read(name) for role, name in chosen.items() if name is not None}
    if "episode" not in columns:
        episode = _episodes_from_ends({name: read(name) for name in _ENDS if name in names})
        if episode is not None:
            columns["episode"] = episode
    return Transitions(**columns)


def _choose(role: str, names: Collection[str]) -> str | None:
    present = [name for name in (role, *_ALIASES[role]) if name in names]
    if len(present) > 1:
        raise DataError(f"found both {' and '.join(present)}: keep one as the {role}")
    return present[0] if present else None


def _episodes_from_ends(ends: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return episode numbers, given flags on the last row of each.

    Without a single flag nothing is known of the episodes, which is not the same as knowing
    that all rows are one.
    """
    flags: list[np.ndarray] = []
    for name, column in ends.items():
        if column.dtype.kind not in "biuf" or column.size != len(column):
            raise DataError(f"{name} has shape {column.shape}; expected one flag per row")
        flags.append(column.reshape(-1).astype(bool))
    if len({flag.size for flag in flags}) > 1:
        raise DataError(f"{' and '.join(ends)} have different lengths")
    if not flags:
        return None
    last = np.logical_or.reduce(flags)
    return np.cumsum(last) - last if last.any() else None
