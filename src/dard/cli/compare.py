"""`dard compare`: distances between rewards."""

import sys
from contextlib import redirect_stdout
from pathlib import Path

from dard.cli import options as ask
from dard.cli.failures import UNDEFINED, say
from dard.cli.metrics import MetricOptions, evaluations
from dard.cli.output import (
    STANDARD_OUTPUT,
    check_file,
    check_plot,
    print_result,
    write_plot,
    write_text,
)
from dard.cli.parse import name_rewards
from dard.cli.progress import progress
from dard.core.errors import ConfigurationError, DataError
from dard.core.transitions import Transitions
from dard.data import load_transitions
from dard.metrics.compare import Comparison
from dard.metrics.compare import compare as compare_rewards
from dard.rewards import load_reward

# "\b" keeps the lines of a paragraph as they are.
EXAMPLES = """
\b
Examples:
  Two networks, without a simulator (Pearson and EPIC):
    dard compare first.onnx second.onnx --data transitions.npz
  The truth and a network, with the environment's dynamics (DARD too):
    dard compare truth=rewards.py:goal net=net.safetensors --data uniform \\
      --transition-model rewards.py:dynamics --actions grid:-1,1,8
  DARD alone, as JSON into a file, with a picture:
    dard compare rewards:goal rewards:shaped --data uniform --metric dard \\
      --transition-model rewards:dynamics --actions actions.npy \\
      --json --out distances.json --plot distances.png

\b
Exit codes:
  0    done
  1    unexpected failure
  2    something is wrong with what was asked or given
  3    done, but a distance is undefined
  130  interrupted
"""


def compare(
    rewards: ask.Rewards,
    *,
    data: ask.Data,
    limit: ask.Limit = None,
    transition_model: ask.TransitionModel = None,
    actions: ask.Actions = None,
    metric: ask.Metrics = None,
    discount: ask.Discount = 0.95,
    estimator: ask.Estimator = ask.EstimatorName.PAIRED,
    samples: ask.Samples = None,
    next_states: ask.NextStates = None,
    seed: ask.Seed = 0,
    workers: ask.Workers = 1,
    quiet: ask.Quiet = False,
    debug: ask.Debug = False,
    json: ask.Json = False,
    csv: ask.Csv = False,
    out: ask.Out = STANDARD_OUTPUT,
    plot: ask.Plot = None,
) -> int:
    """Print the distance between each two rewards, with its standard error.

    Distances are between 0 (the same up to scale, shift and, except for Pearson, potential
    shaping) and 1 (opposite). Only the result goes to standard output.
    """
    _check_outputs(json, csv, out, plot)
    sources = name_rewards(rewards)
    asked = MetricOptions(
        metric, transition_model, actions, discount, estimator, samples, next_states
    )
    # What the user's own code prints must not end up inside JSON.
    with redirect_stdout(sys.stderr):
        transitions = _read(data, limit)
        metrics = asked.build(transitions)
        loaded = {name: load_reward(source) for name, source in sources.items()}
        counts = evaluations(metrics, transitions, seed, len(loaded))
        with progress(counts, quiet) as report:
            found = compare_rewards(
                loaded, transitions, metrics, seed, workers=workers, progress=report
            )
    text = found.to_json() if json else found.to_csv() if csv else None
    _write(found, text, out, plot, quiet)
    undefined = any(e.undefined for result in found.values() for e in result.estimates)
    return UNDEFINED if undefined else 0


def _check_outputs(json: bool, csv: bool, out: str, plot: Path | None) -> None:
    if json and csv:
        raise ConfigurationError("--json and --csv exclude each other: choose one")
    if out != STANDARD_OUTPUT:
        check_file("--out", Path(out))
    if plot is not None:
        check_plot(plot)


def _read(source: str, limit: int | None) -> Transitions:
    data = load_transitions(source)
    if len(data) < 2:
        raise DataError(
            f"{source} holds too few transitions ({len(data)}): a distance needs at least 2"
        )
    return data if limit is None else data[:limit]


def _write(found: Comparison, text: str | None, out: str, plot: Path | None, quiet: bool) -> None:
    """Write the files first: they should be there even if nobody reads standard output."""
    if plot is not None:
        write_plot(plot, found)
    if out != STANDARD_OUTPUT:
        write_text(Path(out), (str(found) if text is None else text).rstrip("\n") + "\n")
    for file in (out, plot):
        if file not in (STANDARD_OUTPUT, None) and not quiet:
            say(f"written to {file}")
    if out == STANDARD_OUTPUT:
        print_result(found, text)
