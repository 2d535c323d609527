"""How far a command is, on standard error: bars on a terminal, rare lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from dard.cli.failures import say
from dard.metrics.compare import NamedProgress

if TYPE_CHECKING:
    from rich.console import Console

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(
    sizes: Mapping[str, int], quiet: bool, unit: str = "evaluations"
) -> Iterator[NamedProgress | None]:
    """Give a function ``(name, done, total)``, as `dard.compare` takes it as `progress`.

    Parameters
    ----------
    sizes : mapping of str to int
        How much each part makes, in the order in which they run: reward evaluations of a metric.
    quiet : bool
        Whether to show nothing.
    unit : str, default "evaluations"
        What is made.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console

        with bars(sizes, Console(stderr=True), unit) as report:
            yield report
    else:
        yield Lines(sizes, unit=unit)


@contextmanager
def bars(
    sizes: Mapping[str, int], console: "Console", unit: str = "evaluations"
) -> Iterator[NamedProgress]:
    """Show a bar for each part, with its rate and the time left; they vanish at the end."""
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(
                "" if speed is None else per_second(speed, unit), style="progress.data.speed"
            )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as shown:
        tasks = {
            name: shown.add_task(name, total=total, start=k == 0, visible=k == 0)
            for k, (name, total) in enumerate(sizes.items())
        }
        following = dict(zip(sizes, list(sizes)[1:], strict=False))

        def report(name: str, done: int, total: int) -> None:
            shown.update(tasks[name], completed=sizes[name] * done / total)
            if done == total and name in following:
                shown.update(tasks[following[name]], visible=True)
                shown.start_task(tasks[following[name]])

        yield report


class Lines:
    """Says one line every ten seconds at most, so that logs stay short; nothing in short runs."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        say: Callable[[str], None] = say,
        clock: Callable[[], float] = time.monotonic,
        unit: str = "evaluations",
    ) -> None:
        self._sizes, self._say, self._clock, self._unit = sizes, say, clock, unit
        self._said = self._begun = self._reported = clock()
        self._name = ""

    def __call__(self, name: str, done: int, total: int) -> None:
        """Report that `done` of `total` blocks of a part are done."""
        now = self._clock()
        if name != self._name:
            self._name, self._begun = name, self._reported
        self._reported = now
        if now - self._said < SECONDS_BETWEEN_LINES:
            return
        self._said = now
        elapsed, share = now - self._begun, done / total
        left = timedelta(seconds=round(elapsed * (1 / share - 1)))
        rate = per_second(share * self._sizes[name] / elapsed, self._unit)
        self._say(f"{name}: {share:.0%} done, {rate}, {left} left")


def per_second(rate: float, unit: str = "evaluations") -> str:
    """Return a rate with two or three digits."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{letter} {unit}/s"
    return f"{rate:.3g} {unit}/s"
