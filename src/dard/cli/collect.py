"""`dard collect`: transitions of a policy in an environment."""

import sys
from contextlib import redirect_stdout
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dard.cli import options as ask
from dard.cli.environments import (
    UNIFORM,
    EnvironmentName,
    PolicyName,
    find_environment,
    find_policy,
)
from dard.cli.failures import say
from dard.cli.progress import progress
from dard.core.errors import ConfigurationError
from dard.data.collect import collect as collect_store
from dard.data.collect import collect_splits, collected
from dard.data.splits import PAPER_SPLITS, SPLITS

EXAMPLES = """
\b
Examples:
  Four million transitions of the uniform policy:
    dard collect reacher --transitions 4000000 --out data/reacher
  The paper's training, validation and evaluation data:
    dard collect reacher --split --out data/reacher
  A policy of your own; 'dard compare' takes what it made as --data:
    dard collect bouncing-balls --policy policies.py:seek --transitions 100000 --out data/seek

\b
Stopped, even killed, it has lost nothing but the last second or two: the same command
goes on, and ends with the same bytes.
"""


class EngineOption(StrEnum):
    """The engines by their names on the command line."""

    AUTO = "auto"
    JAX = "jax"
    NUMPY = "numpy"


Transitions = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=1 << 30,
        help="How many; with --split those to train with, and a quarter as many for each of the "
        "others.  (default with --split: the paper's numbers)",
    ),
]
Folder = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The folder to make, or to go on with.", show_default=False),
]
Split = Annotated[
    bool,
    typer.Option("--split", help="Make three folders in DIR: train, validation and evaluation."),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random numbers.")]
Workers = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Threads that simulate; data do not depend on it."),
]
Engine = Annotated[
    EngineOption,
    typer.Option(
        help="'jax' compiles whole episodes, 'numpy' takes step after step; 'auto' takes JAX where "
        "it is installed and can trace the policy. Their random numbers differ."
    ),
]


def collect(
    environment: EnvironmentName,
    *,
    out: Folder,
    transitions: Transitions = None,
    policy: PolicyName = UNIFORM,
    split: Split = False,
    seed: Seed = 0,
    workers: Workers = 1,
    engine: Engine = EngineOption.AUTO,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> int:
    """Let a policy act in an environment, and store the transitions.

    The folder can be read by 'dard compare --data' and dard.load_transitions.
    """
    world = find_environment(environment)
    sizes = _sizes(world.name, transitions, split)
    folders = {name: out / name if split else out for name in sizes}
    remaining = {name: size - collected(folders[name]) for name, size in sizes.items()}
    options: dict[str, Any] = {"seed": seed, "workers": workers, "engine": engine.value}
    # What the user's own code prints is no result.
    with redirect_stdout(sys.stderr):
        options["policy_name"], acting = policy, find_policy(policy)
        with progress(remaining, quiet, "transitions") as report:
            if split:
                collect_splits(world, acting, sizes, out, progress=report, **options)
            else:
                reported = None if report is None else partial(report, world.name)
                collect_store(world, acting, sizes[world.name], out, progress=reported, **options)
    if not quiet:
        for name, size in sizes.items():
            say(
                f"written to {folders[name]}: {size:,} transitions of {world.name}, "
                f"policy {policy}, seed {seed}"
            )
    return 0


def _sizes(name: str, transitions: int | None, split: bool) -> dict[str, int]:
    """Return how many transitions to make, by the name that progress gives them."""
    if not split:
        if transitions is None:
            raise ConfigurationError("say how many transitions: --transitions N, or --split")
        return {name: transitions}
    if transitions is not None:
        return dict(zip(SPLITS, (transitions, *[max(1, transitions // 4)] * 2), strict=True))
    if name not in PAPER_SPLITS:
        raise ConfigurationError(
            f"the paper gives no sizes for {name}: add --transitions N for its training data"
        )
    return dict(PAPER_SPLITS[name])
