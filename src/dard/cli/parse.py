"""Names of rewards, and sets of actions, as they are written on the command line."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dard.core.actions import action_grid
from dard.core.attribute import load_attribute
from dard.core.errors import ConfigurationError, FileFormatError
from dard.core.transitions import Transitions

GRID = "grid:"
MOST_ACTIONS = 10**6
SUGGESTED_ACTIONS = 1000
REWARD_FILES = (".onnx", ".safetensors")


def name_rewards(arguments: Sequence[str]) -> dict[str, str]:
    """Return the source of each reward by its name, in the order given.

    ``name=source`` names a reward. Otherwise the stem of its file or its attribute does, or,
    where two rewards would share that, the source as it was written.
    """
    if len(arguments) < 2:
        raise ConfigurationError(
            f"{len(arguments)} reward given: a comparison needs at least two, "
            "e.g. 'dard compare first.onnx second.onnx --data data.npz'"
        )
    given = [_split(argument) for argument in arguments]
    short = [name or _short_name(source) for name, source in given]
    uses = Counter(short)
    names = [
        brief if name or uses[brief] == 1 else source
        for (name, source), brief in zip(given, short, strict=True)
    ]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ConfigurationError(
            f"two rewards have the name {twice[0]!r}: name them apart, e.g. "
            f"first={given[names.index(twice[0])][1]}"
        )
    return dict(zip(names, (source for _, source in given), strict=True))


def _split(argument: str) -> tuple[str | None, str]:
    name, equals, source = argument.partition("=")
    # A path may hold an equals sign too: runs/lr=0.1/net.onnx.
    if not equals or set(name) & set("/\\:") or Path(argument).exists():
        return None, argument
    if not name or not source:
        raise ConfigurationError(f"reward {argument!r}: expected NAME=SOURCE, neither empty")
    return name, source


def _short_name(source: str) -> str:
    path = Path(source)
    return path.stem if path.suffix.lower() in REWARD_FILES else source.rpartition(":")[2]


def read_actions(text: str, data: Transitions) -> Any:
    """Return the array or the sampler that ``--actions`` names."""
    if text.startswith(GRID):
        return _grid(text, data)
    if Path(text).suffix.lower() == ".npy":
        return _read_npy(text)
    if ":" not in text:
        raise ConfigurationError(
            f"--actions {text!r}: expected {GRID}LOW,HIGH,POINTS, file.npy or module:attribute"
        )
    return load_attribute(text, "actions")


def suggest_grid(data: Transitions) -> str:
    """Return the ``grid:...`` that spans the actions in the data."""
    actions = np.asarray(data.action).reshape((len(data), -1))
    low, high = actions.min(axis=0), actions.max(axis=0)
    if actions.dtype.kind in "iub":
        points = ":".join(str(int(b) - int(a) + 1) for a, b in zip(low, high, strict=True))
    else:
        points = str(min(8, max(2, int(SUGGESTED_ACTIONS ** (1 / max(actions.shape[1], 1))))))
    bounds = (":".join(f"{x:.4g}" for x in bound.astype(float)) for bound in (low, high))
    return f"{GRID}{','.join(bounds)},{points}"


def _grid(text: str, data: Transitions) -> np.ndarray:
    dimensions = math.prod(data.action.shape[1:])
    parts = text.removeprefix(GRID).split(",")
    if len(parts) != 3:
        raise _bad_grid(text, f"{len(parts)} parts between commas")
    low, high = (_each(part, float, dimensions, text) for part in parts[:2])
    points = _each(parts[2], int, dimensions, text)
    if math.prod(points) > MOST_ACTIONS:
        raise ConfigurationError(
            f"--actions {text!r} has {math.prod(points):,} actions, more than {MOST_ACTIONS:,}: "
            "take fewer points, or a sampler (module:attribute)"
        )
    actions = action_grid(low, high, points)
    if data.action.dtype.kind not in "iu":
        return actions
    whole = np.round(actions).astype(data.action.dtype)
    if not np.array_equal(whole, actions):
        raise ConfigurationError(
            f"--actions {text!r} is not all integers, but the data's actions are "
            f"{data.action.dtype}: {suggest_grid(data)} spans them"
        )
    return whole


def _each(part: str, kind: Callable[[str], Any], dimensions: int, text: str) -> list[Any]:
    """Return one number for each dimension; a single one stands for all."""
    try:
        numbers = [kind(number) for number in part.split(":")]
    except ValueError:
        wanted = "whole number" if kind is int else "number"
        raise _bad_grid(text, f"{part!r} is not a {wanted}") from None
    if len(numbers) not in (1, dimensions):
        raise _bad_grid(text, f"{part!r} has {len(numbers)} numbers for {dimensions} dimensions")
    return numbers * dimensions if len(numbers) == 1 else numbers


def _bad_grid(text: str, found: str) -> ConfigurationError:
    return ConfigurationError(
        f"--actions {text!r}: {found}; expected {GRID}LOW,HIGH,POINTS, e.g. grid:-1,1,8 or, for "
        "two dimensions, grid:-1:-2,1:2,8"
    )


def _read_npy(name: str) -> np.ndarray:
    try:
        with Path(name).open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise FileFormatError(
            f"--actions {name}: {error.strerror}; expected a .npy file"
        ) from error
    except (ValueError, EOFError) as error:
        raise FileFormatError(
            f"--actions {name} is damaged or no .npy file of numbers ({error}): save it again "
            "with numpy.save"
        ) from error
