"""The arguments and options of `dard compare`, as annotated types."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class MetricName(StrEnum):
    """The metrics by their names on the command line."""

    PEARSON = "pearson"
    EPIC = "epic"
    DARD = "dard"


class EstimatorName(StrEnum):
    """The estimators of DARD and EPIC."""

    PAIRED = "paired"
    FULL = "full"


Rewards = Annotated[
    list[str],
    typer.Argument(
        metavar="REWARD",
        help="Two or more rewards: file.onnx, file.safetensors, module:attribute or "
        "file.py:attribute, each with a name of your choice in front if you like: net=file.onnx. "
        "Modules and .py files are run, also those of the current directory; other files never.",
        show_default=False,
    ),
]
Data = Annotated[
    str,
    typer.Option(
        metavar="SOURCE",
        help="The transitions: a folder that dard.save_transitions made, file.npz, file.parquet "
        "or minari:DATASET.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=2, help="Use only the first N transitions."),
]
TransitionModel = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="For DARD, the environment's dynamics (state, action, rng) -> next_state: "
        "module:attribute or file.py:attribute.",
    ),
]
Actions = Annotated[
    str | None,
    typer.Option(
        metavar="ACTIONS",
        help="For DARD, the actions: grid:LOW,HIGH,POINTS with the points along each dimension "
        "(grid:-1,1,8; or a value for each dimension: grid:-1:-2,1:2,8), file.npy of shape "
        "(N, dimensions), or module:attribute for an array or a sampler (state, rng) -> action.",
    ),
]
Metrics = Annotated[
    list[MetricName] | None,
    typer.Option(
        metavar="METRIC",
        help="pearson, epic or dard; repeat for several.  (default: pearson and epic; dard too "
        "where --transition-model is given)",
    ),
]
Discount = Annotated[
    float,
    typer.Option(metavar="GAMMA", help="Discount of the problem."),
]
Estimator = Annotated[
    EstimatorName,
    typer.Option(
        help="'full' is the papers' own estimator; 'paired' estimates the same with far fewer "
        "evaluations."
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        min=1,
        help="Draws for each inner expectation and replicate: actions for DARD, pairs of an "
        "action and a state for EPIC.  (default: 4 and 8; full: every action and 32768)",
    ),
]
NextStates = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="For DARD, next states drawn for each action; 1 is right for deterministic "
        "dynamics.  (default: 1)",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the metrics' own draws.")]
Workers = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Threads that evaluate; results do not depend on it."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="No progress, and no notes about files."),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show where an error comes from."),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Write JSON: a row for each metric and pair."),
]
Csv = Annotated[bool, typer.Option("--csv", help="Write the same rows as CSV.")]
Out = Annotated[
    str,
    typer.Option(metavar="FILE", help="Where the table, JSON or CSV goes; - is standard output."),
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also draw a heatmap: a .png, .pdf or .svg file."),
]
