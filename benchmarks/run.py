"""Run benchmarks, print what they measured, and keep it with where it comes from.

    python benchmarks/run.py                          all of them, at full scale
    python benchmarks/run.py memory --scale small     one of them, soon
    python benchmarks/run.py --table                  only rewrite the table in docs/benchmarks.md

Each benchmark is a file beside this one, whose docstring says what it measures and how. Results
are merged into a JSON file, each benchmark with its own provenance, as soon as it is done.
"""

import argparse
import importlib
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import Row, Scale
from provenance import provenance
from report import print_table, rewrite

import dard

BENCHMARKS = (
    "paired_vs_full",
    "overhead",
    "forward_ratio",
    "memory",
    "environments",
    "simulator",
    "store",
    "startup",
    "gpu",
    "gpu_environments",
)
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "benchmarks.json"
PAGE = ROOT / "docs" / "benchmarks.md"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    options = _options(arguments)
    if options.table:
        rewrite(options.page, json.loads(options.out.read_text()))
        return
    warnings.simplefilter("ignore", dard.DardWarning)
    for name in options.names or BENCHMARKS:
        print(f"{name} ...", flush=True)
        result = _measured(name, options.scale, options.seed)
        if result["rows"]:
            _merge(options.out, {name: result})
            print_table(result["rows"])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--scale", choices=("tiny", "small", "full"), default="full")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the JSON file of results")
    parser.add_argument("--table", action="store_true", help="write the table of --out into --page")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
        )
    return options


def _measured(name: str, scale: Scale, seed: int) -> dict[str, Any]:
    """Run one benchmark and return its rows with their provenance."""
    benchmark = importlib.import_module(name)
    start = time.perf_counter()
    rows: list[Row] = benchmark.run(scale, seed)
    seconds = round(time.perf_counter() - start, 1)
    origin = provenance(ROOT, f"python benchmarks/run.py {name} --scale {scale} --seed {seed}")
    return {
        "provenance": origin | {"scale": scale, "seed": seed, "seconds": seconds},
        "rows": [asdict(row) | {"met": row.met} for row in rows],
    }


def _merge(file: Path, results: dict[str, Any]) -> None:
    """Add results to a file; those of other benchmarks stay."""
    known = json.loads(file.read_text()) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(known | results, indent=2) + "\n")
    partial.replace(file)


if __name__ == "__main__":
    main()
