"""`dard info`: what is installed, and what a file holds."""

import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import dard
from dard.cli import options as ask
from dard.cli.parse import REWARD_FILES, suggest_grid
from dard.data import load_transitions
from dard.data.manifest import read_manifest
from dard.rewards import load_reward

EXAMPLES = """
\b
Examples:
  dard info
  dard info transitions.npz
  dard info net.onnx
"""

# Bundles of other extras, and what only the developers of dard need.
_NO_FEATURES = {"all", "dev", "experiments"}
_REQUIREMENT = re.compile(r"""^([\w.-]+)[^;]*;.*extra\s*==\s*['"](\w+)['"]""")

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="Transitions (as for --data of 'dard compare'), or a .onnx or .safetensors reward; "
        "without it, versions are printed.",
    ),
]


def info(source: Source = None, debug: ask.Debug = False) -> int:
    """Print versions and installed extras, or describe transitions or a reward file.

    Nothing in a file is run.
    """
    if source is None:
        rows = _versions()
    elif Path(source).suffix.lower() in REWARD_FILES:
        rows = [("reward", source), ("kind", repr(load_reward(source)))]
    else:
        rows = _describe(source)
    rows = list(rows)
    width = max(len(label) for label, _ in rows)
    print("\n".join(f"{label:{width}}  {value}" for label, value in rows))
    return 0


def _versions() -> Iterator[tuple[str, str]]:
    yield "dard", dard.__version__
    yield "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "numpy", np.__version__
    yield "torch", _version("torch") or "not installed (needed only for rewards in PyTorch)"
    for package, extra in sorted(_optional_packages().items()):
        yield package, _version(package) or f"not installed: pip install 'dard[{extra}]'"


def _optional_packages() -> dict[str, str]:
    """Return the extra that brings each optional package, from the metadata of dard itself."""
    found = (_REQUIREMENT.match(line) for line in metadata.requires("dard") or ())
    pairs = (match.groups() for match in found if match)
    return {name: extra for name, extra in pairs if extra not in _NO_FEATURES and name != "dard"}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _describe(source: str) -> Iterator[tuple[str, str]]:
    data = load_transitions(source)
    yield "data", source
    yield "transitions", f"{len(data):,}"
    for name in ("state", "action", "next_state"):
        column = getattr(data, name)
        yield name, f"{tuple(column.shape[1:])} {column.dtype}"
    if len(data):
        yield "actions", f"within {suggest_grid(data)}"
    yield "episodes", "not recorded" if data.episode is None else _episodes(data.episode)
    if Path(source).is_dir():
        for key, value in read_manifest(Path(source)).provenance.items():
            yield f"provenance.{key}", str(value)


def _episodes(episode: np.ndarray) -> str:
    lengths = np.unique(episode, return_counts=True)[1]
    if not len(lengths):
        return "0"
    return f"{len(lengths):,}, of {lengths.min():,} to {lengths.max():,} transitions"
