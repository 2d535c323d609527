"""How far a comparison is, on standard error: bars on a terminal, rare lines elsewhere."""

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
def progress(evaluations: Mapping[str, int], quiet: bool) -> Iterator[NamedProgress | None]:
    """Give what `dard.compare` takes as `progress`.

    Parameters
    ----------
    evaluations : mapping of metric to int
        Reward evaluations that each metric will make, in the order in which they run.
    quiet : bool
        Whether to show nothing.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console

        with bars(evaluations, Console(stderr=True)) as report:
            yield report
    else:
        yield Lines(evaluations)


@contextmanager
def bars(evaluations: Mapping[str, int], console: "Console") -> Iterator[NamedProgress]:
    """Show a bar for each metric, with its rate and the time left; they vanish at the end."""
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
            return Text("" if speed is None else per_second(speed), style="progress.data.speed")

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as shown:
        tasks = {
            name: shown.add_task(name, total=total, start=k == 0, visible=k == 0)
            for k, (name, total) in enumerate(evaluations.items())
        }
        following = dict(zip(evaluations, list(evaluations)[1:], strict=False))

        def report(metric: str, done: int, total: int) -> None:
            shown.update(tasks[metric], completed=evaluations[metric] * done / total)
            if done == total and metric in following:
                shown.update(tasks[following[metric]], visible=True)
                shown.start_task(tasks[following[metric]])

        yield report


class Lines:
    """Says one line every ten seconds at most, so that logs stay short; nothing in short runs."""

    def __init__(
        self,
        evaluations: Mapping[str, int],
        say: Callable[[str], None] = say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._evaluations, self._say, self._clock = evaluations, say, clock
        self._said = self._begun = self._reported = clock()
        self._metric = ""

    def __call__(self, metric: str, done: int, total: int) -> None:
        """Report that `done` of `total` blocks of a metric are done."""
        now = self._clock()
        if metric != self._metric:
            self._metric, self._begun = metric, self._reported
        self._reported = now
        if now - self._said < SECONDS_BETWEEN_LINES:
            return
        self._said = now
        elapsed, share = now - self._begun, done / total
        left = timedelta(seconds=round(elapsed * (1 / share - 1)))
        rate = per_second(share * self._evaluations[metric] / elapsed)
        self._say(f"{metric}: {share:.0%} done, {rate}, {left} left")


def per_second(rate: float) -> str:
    """Return a rate with two or three digits."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{letter} evaluations/s"
    return f"{rate:.3g} evaluations/s"
