"""Tables of results: on a terminal, and between two markers of a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEADER = ("what", "measured", "range", "unit", "target", "met")

Result = Mapping[str, Any]


def print_table(rows: Sequence[Result]) -> None:
    """Print rows in aligned columns, with notes below."""
    lines = [HEADER, *(cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "  ".join(padded).rstrip())
    for row in rows:
        if row["note"]:
            print(f"    {row['what']}: {row['note']}")
    print(flush=True)


def rewrite(page: Path, results: Mapping[str, Result]) -> None:
    """Replace what stands between the markers of a page by tables of the results."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} lacks the markers {BEGIN} and {END}")
    tables = "\n\n".join(markdown(name, result) for name, result in results.items())
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}")


def markdown(name: str, result: Result) -> str:
    """Return one benchmark as a heading, its provenance and a table."""
    origin, rows = result["provenance"], result["rows"]
    table = [("what", "measured", "range", "unit", "target", "met", "note")]
    table += [(*cells(row), row["note"]) for row in rows]
    lines = [f"| {' | '.join(line)} |" for line in table]
    rule = "|---|---:|---|---|---|---|---|"
    return "\n".join([f"### {name}", "", _origin(origin), "", lines[0], rule, *lines[1:]])


def cells(row: Result) -> tuple[str, ...]:
    """Return a row as text, in the order of `HEADER`."""
    target = met = extent = ""
    if row["target"] is not None:
        target = f"{'≥' if row['at_least'] else '≤'} {_number(row['target'])}"
        met = "yes" if row["met"] else "NO"
    if row["low"] is not None:
        extent = f"{_number(row['low'])} to {_number(row['high'])}"
    return row["what"], _number(row["measured"]), extent, row["unit"], target, met


def _origin(origin: Result) -> str:
    commit = (origin["commit"] or "unknown")[:12] + (" with changes" if origin["dirty"] else "")
    machine = ", ".join(
        filter(None, (f"{origin['cores']} cores of {origin['cpu']}", origin["gpu"]))
    )
    versions = ", ".join(f"{name} {version}" for name, version in origin["libraries"].items())
    return (
        f"`{origin['command']}`, {origin['date'][:10]}, commit {commit}, "
        f"{origin['seconds']:.0f} s on {machine}; Python {origin['python']}, {versions}."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
