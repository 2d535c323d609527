"""The paper's numbers for rewards that need no learning, under the uniform policy, beside ours.

    python benchmarks/calibrate.py                    five seeds at the paper's sizes
    python benchmarks/calibrate.py --scale small      soon

For each seed the evaluation data is collected anew (500,000 transitions in Bouncing Balls, a
million in Reacher) and measured: Pearson and EPIC on all of it, DARD on the paper's 100,000, with
the paired estimators. Standard errors are those of the mean over seeds, as in the paper's tables.

A distance agrees in Reacher within two standard errors of ours plus two of the paper's, and in
Bouncing Balls, whose constants the paper does not give, within .01. DARD of FEASIBILITY is 0 but
for rounding.
"""

import argparse
import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from provenance import provenance

import dard
from dard.data import PAPER_SPLITS, collect
from dard.envs import ENVIRONMENTS, Environment

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "calibration.json"
DARD_TRANSITIONS = 100_000
DIVISORS = {"tiny": 100, "small": 5, "full": 1}


@dataclass(frozen=True)
class Published:
    """One number of the paper's, with its standard error there, both as printed.

    `within` is how near ours has to be; None stands for two standard errors of both.
    """

    environment: str
    metric: str
    reward: str
    value: float
    standard_error: float
    within: float | None = None


PUBLISHED = (
    Published("bouncing-balls", "Pearson", "SHAPED", 0.642, 1.56e-3, 0.01),
    Published("bouncing-balls", "EPIC", "FEASIBILITY", 0.642, 3.05e-3, 0.01),
    Published("bouncing-balls", "DARD float64", "FEASIBILITY", 0.0, 0.0, 1e-9),
    Published("bouncing-balls", "DARD float32", "FEASIBILITY", 0.0, 0.0, 1e-5),
    Published("reacher", "Pearson", "SHAPED", 0.369, 0.38e-3),
    Published("reacher", "EPIC", "FEASIBILITY", 0.529, 0.68e-3),
    Published("reacher", "DARD float64", "FEASIBILITY", 0.0, 0.0, 1e-9),
    Published("reacher", "DARD float32", "FEASIBILITY", 0.0, 0.0, 1e-5),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=5, help="two or more")
    parser.add_argument("--scale", choices=tuple(DIVISORS), default="full")
    parser.add_argument("--workers", type=int, default=1, help="threads; no number depends on it")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the JSON file of results")
    options = parser.parse_args(arguments)
    if options.seeds < 2:
        parser.error(f"--seeds {options.seeds}: a standard error over seeds needs at least 2")
    warnings.simplefilter("ignore", dard.DardWarning)
    measured: dict[tuple[str, str], list[float]] = {}
    for name in dict.fromkeys(published.environment for published in PUBLISHED):
        for seed in range(options.seeds):
            print(f"{name}, seed {seed} ...", flush=True)
            for metric, value in distances(
                ENVIRONMENTS[name], seed, DIVISORS[options.scale], options.workers
            ):
                measured.setdefault((name, metric), []).append(value)
    rows = [
        judged(published, measured[published.environment, published.metric])
        for published in PUBLISHED
    ]
    print_rows(rows)
    command = f"python benchmarks/calibrate.py --seeds {options.seeds} --scale {options.scale}"
    origin = provenance(ROOT, command) | {"scale": options.scale, "seeds": options.seeds}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"provenance": origin, "rows": rows}, indent=2) + "\n")


def distances(
    environment: Environment, seed: int, divisor: int, workers: int
) -> list[tuple[str, float]]:
    """Return each metric's distance between the ground truth and the reward that it judges."""
    truth, shaped, feasibility = (environment.rewards[k] for k in ("GT", "SHAPED", "FEASIBILITY"))
    epic = dard.EPIC(environment.discount)
    model = dard.DARD(environment.transition_model, environment.actions, environment.discount)
    size = PAPER_SPLITS[environment.name]["evaluation"] // divisor
    with tempfile.TemporaryDirectory() as folder:
        # NumPy, so that the data is the same on every machine.
        options: dict[str, Any] = {"seed": seed, "workers": workers, "engine": "numpy"}
        data = collect(environment, "uniform", size, Path(folder) / "data", **options)
        few = data[:DARD_TRANSITIONS]
        columns = (few.state, few.action, few.next_state)
        wide = dard.Transitions(*(x.astype(np.float64) for x in columns), episode=few.episode)
        asked: list[tuple[str, Any, dard.Transitions, Any]] = [
            ("Pearson", shaped, data, dard.Pearson()),
            ("EPIC", feasibility, data, epic),
            ("DARD float64", feasibility, wide, model),
            ("DARD float32", feasibility, few, model),
        ]
        found = {
            name: dard.distance(truth, reward, part, metric, seed=seed)
            for name, reward, part, metric in asked
        }
    if undefined := [f"{name}: {e.undefined}" for name, e in found.items() if e.undefined]:
        raise SystemExit(f"{environment.name}, seed {seed}: {undefined[0]}")
    return [(name, estimate.value) for name, estimate in found.items()]


def judged(published: Published, values: Sequence[float]) -> dict[str, Any]:
    """Return ours beside the paper's, and whether they agree."""
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    within = published.within
    if within is None:
        within = 2 * (error + published.standard_error)
    return {
        "published": asdict(published),
        "mean": mean,
        "standard_error": error,
        "values": list(values),
        "within": within,
        "agrees": abs(mean - published.value) <= within,
    }


def print_rows(rows: Sequence[dict[str, Any]]) -> None:
    """Print ours beside the paper's."""
    lines = [("distance from GT", "ours", "paper", "apart at most", "agrees")]
    for row in rows:
        paper = row["published"]
        lines.append(
            (
                f"{paper['environment']}, {paper['metric']} of {paper['reward']}",
                f"{row['mean']:.4g} ± {row['standard_error']:.2g}",
                f"{paper['value']:.3g} ± {paper['standard_error']:.2g}",
                f"{row['within']:.2g}",
                "yes" if row["agrees"] else "NO",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


if __name__ == "__main__":
    main()
