"""Show a comparison: text, HTML, rows for JSON and CSV, a data frame, a heatmap."""

import csv
import html as escape_html
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dard.core.errors import MissingExtraError
from dard.metrics.estimate import Estimate

if TYPE_CHECKING:
    from dard.metrics.compare import MetricResult


def row(metric: str, estimate: Estimate) -> dict[str, Any]:
    """Return one estimate as a flat dictionary."""
    low, high = estimate.interval()
    first, second = estimate.names
    return {
        "metric": metric,
        "reward_a": first,
        "reward_b": second,
        "distance": estimate.value,
        "standard_error": estimate.standard_error,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "evaluations": estimate.evaluations,
        "transitions": estimate.transitions,
        "groups": estimate.groups,
        "rounding_floor": estimate.rounding_floor,
        "seed": estimate.seed,
        "undefined": estimate.undefined,
    }


def text(metric: str, result: "MetricResult") -> str:
    """Return a table of distances and standard errors, the metric's name in its corner."""
    names = list(result.names)
    named = zip(names, _cells(result), strict=True)
    lines = [[metric, *names], *([name, *cells] for name, cells in named)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] += 2
    padded = (map(str.ljust, line, widths) for line in lines)
    return "\n".join(" ".join(line).rstrip() for line in padded)


def html(metric: str, result: "MetricResult") -> str:
    """Return the same table for notebooks, each cell shaded by its distance."""
    head = "".join(f"<th>{escape_html.escape(name)}</th>" for name in result.names)
    body = []
    for name, cells, values in zip(result.names, _cells(result), result.distances, strict=True):
        shown = "".join(
            f'<td style="background: rgba(70, 130, 180, {0.6 * np.nan_to_num(value):.3f})">'
            f"{escape_html.escape(cell)}</td>"
            for cell, value in zip(cells, values, strict=True)
        )
        body.append(f"<tr><th>{escape_html.escape(name)}</th>{shown}</tr>")
    corner = f"<th>{escape_html.escape(metric)}</th>"
    return f"<table><thead><tr>{corner}{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def to_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as JSON; NaN and infinity, which JSON does not have, become null."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps([{k: plain(v) for k, v in row.items()} for row in rows], indent=2)


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def to_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "io", "a data frame") from error
    return pd.DataFrame(rows)


def plot(results: Mapping[str, "MetricResult"], file: Any = None) -> Any:
    """Draw a heatmap of each metric with values and 95 % intervals in the cells."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "a picture") from error
    size = max(len(result.names) for result in results.values())
    side = 1.6 + 1.15 * size
    figure = Figure(figsize=(side * len(results) + 0.8, side), layout="constrained")
    axes = figure.subplots(1, len(results), squeeze=False)[0]
    images = [
        _heatmap(axis, name, result)
        for axis, (name, result) in zip(axes, results.items(), strict=True)
    ]
    figure.colorbar(images[0], ax=list(axes), label="distance", shrink=0.8)
    if file is not None:
        figure.savefig(file, dpi=160)
    return figure


def _heatmap(axis: Any, metric: str, result: "MetricResult") -> Any:
    names, distances = result.names, result.distances
    image = axis.imshow(distances, vmin=0, vmax=1, cmap="cividis")
    axis.set_title(metric, parse_math=False)
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right", parse_math=False)
    axis.set_yticks(range(len(names)), names, parse_math=False)
    for i, j in np.ndindex(distances.shape):
        value = float(distances[i, j])
        label = _number(value) if i == j else _with_interval(result.estimate(names[i], names[j]))
        colour = "white" if np.nan_to_num(value) < 0.5 else "black"
        axis.text(j, i, label, ha="center", va="center", color=colour, fontsize=8)
    return image


def _with_interval(estimate: Estimate) -> str:
    if estimate.undefined:
        return "undefined"
    if _is_rounding(estimate):
        return "0\n(rounding)"
    low, high = estimate.interval()
    return f"{_number(estimate.value)}\n{_number(low)} to {_number(high)}"


def _cells(result: "MetricResult") -> list[list[str]]:
    return [
        ["0" if a == b else cell(result.estimate(a, b)) for b in result.names] for a in result.names
    ]


def cell(estimate: Estimate) -> str:
    """Return an estimate as tables show it: distance and standard error, or what is wrong."""
    if estimate.undefined:
        return "undefined"
    if _is_rounding(estimate):
        return "0 (rounding)"
    if math.isnan(estimate.standard_error):
        return f"{_number(estimate.value)} ± ?"
    if estimate.standard_error <= estimate.rounding_floor:
        return f"{_number(estimate.value)} ± 0"
    # As many digits of the value as its error makes worth reading, but at least four decimals.
    decimals = max(4, 1 - math.floor(math.log10(estimate.standard_error)))
    return f"{_number(estimate.value, decimals)} ± {estimate.standard_error:.2g}"


def _is_rounding(estimate: Estimate) -> bool:
    """Return whether the whole interval is; an estimate that was clipped at 0 has a wider one."""
    return estimate.interval()[1] <= estimate.rounding_floor


def _number(value: float, decimals: int = 4) -> str:
    if math.isnan(value):
        return "undefined"
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".") or "0"
