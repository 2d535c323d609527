"""`dard render`: episodes as a film."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import numpy as np
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
from dard.cli.movie import writer_for
from dard.cli.progress import progress
from dard.core.errors import ConfigurationError

EXAMPLES = """
\b
Examples:
  An episode with random actions:
    dard render reacher --out reacher.gif
  A policy of yours, three episodes, for a talk:
    dard render bouncing-balls --policy policies.py:seek --episodes 3 \\
      --size 720 --out seek.mp4
  Single pictures, in a folder:
    dard render point-maze --steps 20 --out frames
"""

Episodes = Annotated[int, typer.Option(metavar="N", min=1, help="Episodes to show.")]
Steps = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Stop after N steps, in whatever episode."),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Seed of the environment and of random actions.")
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="A .gif or .mp4 file, or a new folder for .png files.",
        show_default=False,
    ),
]
Size = Annotated[
    int, typer.Option(metavar="PIXELS", min=64, max=4096, help="Width and height of the film.")
]
FramesPerSecond = Annotated[
    int, typer.Option(metavar="N", min=1, max=100, help="Steps shown in a second.")
]


def render(
    environment: EnvironmentName,
    *,
    out: Out,
    policy: PolicyName = UNIFORM,
    episodes: Episodes = 1,
    steps: Steps = None,
    seed: Seed = 0,
    size: Size = 480,
    fps: FramesPerSecond = 20,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
) -> int:
    """Draw what a policy does, as a GIF, an MP4 or single pictures.

    There is a picture of the first state of each episode, and one after each step.
    """
    # Slow to import, and needed by this command only.
    from dard.cli.episodes import acting, states_of

    write = writer_for(out)
    with redirect_stdout(sys.stderr):
        world = find_environment(environment)
        act = acting(find_policy(policy), world, seed)
        states = states_of(world, act, episodes, steps, seed)
        longest = episodes * (world.horizon + 1)
        total = longest if steps is None else min(longest, steps + episodes)
        with progress({world.name: total}, quiet, "frames") as report:

            def frames() -> Iterator[np.ndarray]:
                for number, state in enumerate(states, start=1):
                    yield world.render(state, size)
                    if report is not None:
                        report(world.name, number, total)

            try:
                write(out, frames(), fps)
            except OSError as error:
                reason = error.strerror or error
                raise ConfigurationError(f"--out {out} cannot be written: {reason}") from error
    if not quiet:
        say(f"written to {out}")
    return 0
