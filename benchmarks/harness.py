"""What benchmarks share: rows of results, interleaved timing, and a bare forward pass."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import dard
from dard.core import arrays
from dard.core.placement import Placement, of_array
from dard.metrics.estimate import estimates
from dard.metrics.plan import Metric

Scale = Literal["tiny", "small", "full"]


@dataclass(frozen=True)
class Row:
    """One number, with the range that its repetitions (or its resampling) span.

    Attributes
    ----------
    what, unit : str
    measured : float
    target : float, optional
    at_least : bool
        Whether the target is a least value rather than a largest one.
    low, high : float, optional
        Range of the repetitions.
    note : str
        What a reader needs to know to read it.
    """

    what: str
    measured: float
    unit: str
    target: float | None = None
    at_least: bool = False
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.measured >= self.target if self.at_least else self.measured <= self.target


def row(what: str, samples: Any, unit: str, target: float | None = None, *, note: str = "") -> Row:
    """Return the median of repetitions, with their range; targets are largest values."""
    samples = np.asarray(samples, float)
    low, high = float(samples.min()), float(samples.max())
    return Row(what, float(np.median(samples)), unit, target, low=low, high=high, note=note)


def interleaved(repetitions: int, **tasks: Callable[[], Any]) -> dict[str, np.ndarray]:
    """Return the seconds of each task, run in turn (A B A B ...) so that drift hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repetitions):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: np.array(values) for name, values in seconds.items()}


def measure(rewards: Sequence[Any], data: dard.Transitions, metric: Metric) -> Callable[[], int]:
    """Return the task of measuring distances between `rewards`; it returns the queries of each.

    A single reward has no distance, but all the work of one: nobody shares the cost of its plan.
    """
    named = {f"reward {k}": reward for k, reward in enumerate(rewards)}
    plan = metric.plan(data, 0)

    def task() -> int:
        estimates(named, data, metric)
        return plan.queries

    return task


def bare_pass(
    rewards: Sequence[Any],
    data: dard.Transitions,
    queries: int,
    tile: int,
    *,
    placement: Placement | None = None,
    wait: Callable[[Any], Any] = arrays.to_numpy,
) -> Callable[[], None]:
    """Return the task of calling each reward on `queries` rows, in batches made beforehand.

    Batches have the `tile` rows that the library asks for at a time, in the dtype of the data and
    already in the library of the reward. It waits for values one batch behind, so that what
    computes in the background is never idle.
    """
    put = (placement or of_array(data.state)).put
    rng = np.random.default_rng(0)
    tile = min(tile, queries)
    batches: list[tuple[Any, ...]] = []
    for _ in range(8):
        rows = data[rng.integers(0, len(data), tile)]
        batches.append(tuple(put(x) for x in (rows.state, rows.action, rows.next_state)))
    for reward in rewards:
        wait(reward(*batches[0]))  # JAX compiles, devices wake up.

    def task() -> None:
        running: list[Any] = []
        for number in range(round(queries / tile)):
            started = [reward(*batches[number % len(batches)]) for reward in rewards]
            for values in running:
                wait(values)
            running = started
        for values in running:
            wait(values)

    return task
