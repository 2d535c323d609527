"""Where results go: a table, JSON or CSV on standard output or in a file, and a heatmap."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from dard.core.errors import ConfigurationError, MissingExtraError
from dard.data.atomic import new_file
from dard.metrics import present
from dard.metrics.compare import Comparison, MetricResult

if TYPE_CHECKING:
    from rich.console import Console

STANDARD_OUTPUT = "-"


def check_file(flag: str, path: Path) -> None:
    """Refuse, before any work, a place where no file can be written."""
    if path.exists() and not path.is_file():
        raise ConfigurationError(f"{flag} {path} is not a file: expected the name of a new file")
    existing = next(folder for folder in (path.parent, *path.resolve().parents) if folder.exists())
    if not existing.is_dir():
        raise ConfigurationError(f"{flag} {path}: {existing} is not a folder")


def check_plot(path: Path) -> None:
    """Refuse, before any work, a picture that cannot be drawn."""
    check_file("--plot", path)
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "--plot") from error
    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in known:
        raise ConfigurationError(f"--plot {path}: expected a file name in .png, .pdf or .svg")


def write_text(path: Path, text: str) -> None:
    """Write or replace a file, whole or not at all."""
    content = text.encode()
    try:
        with new_file(path, len(content)) as partial:
            partial.write_bytes(content)
    except OSError as error:
        raise _not_written("--out", path, error) from error


def write_plot(path: Path, comparison: Comparison) -> None:
    """Draw the heatmap into a file, whole or not at all."""
    figure = comparison.plot()
    try:
        with new_file(path, 0) as partial:
            figure.savefig(partial, format=path.suffix.lower().lstrip("."), dpi=160)
    except OSError as error:
        raise _not_written("--plot", path, error) from error


def _not_written(flag: str, path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"{flag} {path} cannot be written: {error.strerror or error}")


def print_result(comparison: Comparison, text: str | None) -> None:
    """Print `text`, or without it the comparison as a table that suits standard output."""
    if text is None and sys.stdout.isatty():
        from rich.console import Console

        print_tables(comparison, Console())
        return
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that has no ± is no reason to lose a result.
        sys.stdout.reconfigure(errors="replace")
    print(str(comparison) if text is None else text.rstrip("\n"), flush=True)


def print_tables(comparison: Comparison, console: "Console") -> None:
    """Print one table for each metric: far rewards bold, zeros dim."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    for metric, result in comparison.items():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in (metric, *result.names):
            table.add_column(Text(name))
        for first in result.names:
            cells = (_cell(result, first, second) for second in result.names)
            table.add_row(Text(first, style="bold"), *(Text(cell, style) for cell, style in cells))
        unbounded = console.options.update(max_width=sys.maxsize)
        if console.measure(table, options=unbounded).minimum > console.width:
            # Rich would cut numbers off; plain lines are wrapped by the terminal.
            console.out(present.text(metric, result), "", sep="\n", highlight=False)
        else:
            console.print(table)


def _cell(result: MetricResult, first: str, second: str) -> tuple[str, str]:
    """Return what a cell says, and its style."""
    if first == second:
        return "0", "dim"
    estimate = result.estimate(first, second)
    text = present.cell(estimate)
    if estimate.undefined:
        return text, "bold red"
    if estimate.value <= estimate.rounding_floor:
        return text, "dim"
    return text, "bold" if estimate.value > 0.5 else ""
