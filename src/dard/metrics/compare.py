"""Compare many rewards under many metrics: each reward is evaluated once for each metric."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core.errors import ConfigurationError
from dard.core.transitions import Transitions
from dard.metrics import present
from dard.metrics.estimate import Estimate, estimates
from dard.metrics.plan import Metric

NamedProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MetricResult:
    """All distances under one metric.

    Attributes
    ----------
    names : tuple of str
        The rewards, in the order of rows and columns.
    estimates : tuple of Estimate
        Of every pair i < j, row by row.
    """

    names: tuple[str, ...]
    estimates: tuple[Estimate, ...]

    @property
    def distances(self) -> np.ndarray:
        """Distances, shape (rewards, rewards), symmetric, zero on the diagonal."""
        return self._matrix("value")

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors, laid out like `distances`."""
        return self._matrix("standard_error")

    def estimate(self, first: str, second: str) -> Estimate:
        """Return the estimate of one pair of different rewards, in either order."""
        for estimate in self.estimates:
            if estimate.names in ((first, second), (second, first)):
                return estimate
        raise KeyError(f"no pair ({first!r}, {second!r}); rewards are {', '.join(self.names)}")

    def __str__(self) -> str:
        return present.text("distance", self)

    def _matrix(self, field: str) -> np.ndarray:
        matrix = np.zeros((len(self.names), len(self.names)))
        upper = np.triu_indices(len(self.names), 1)
        matrix[upper] = [getattr(estimate, field) for estimate in self.estimates]
        return matrix + matrix.T


@dataclass(frozen=True)
class Comparison(Mapping[str, MetricResult]):
    """Distances between rewards, for each metric by name.

    Printing gives a table; notebooks show one in HTML.
    """

    results: Mapping[str, MetricResult]

    def __getitem__(self, metric: str) -> MetricResult:
        return self.results[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def names(self) -> tuple[str, ...]:
        """The rewards."""
        return next(iter(self.results.values())).names

    def __str__(self) -> str:
        return "\n\n".join(present.text(name, result) for name, result in self.items())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "\n".join(present.html(name, result) for name, result in self.items())

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each metric and pair, with interval and provenance."""
        return [
            present.row(name, estimate)
            for name, result in self.items()
            for estimate in result.estimates
        ]

    def to_json(self) -> str:
        """Return the rows as JSON, with null where a distance is undefined."""
        return present.to_json(self.to_rows())

    def to_csv(self) -> str:
        """Return the rows as CSV with a header."""
        return present.to_csv(self.to_rows())

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        return present.to_frame(self.to_rows())

    def plot(self, file: Any = None) -> Any:
        """Draw a heatmap for each metric and return the matplotlib figure.

        Parameters
        ----------
        file : path, optional
            Also save the figure there; the suffix says in which format.
        """
        return present.plot(self, file)


def compare(
    rewards: Mapping[str, Callable[..., Any]],
    data: Transitions,
    metrics: Mapping[str, Metric] | Metric,
    seed: int = 0,
    *,
    workers: int = 1,
    progress: NamedProgress | None = None,
) -> Comparison:
    """Return the distances between all pairs of rewards, under each metric.

    Parameters
    ----------
    rewards : mapping of name to reward
        At least two.
    data : Transitions
        Coverage transitions.
    metrics : mapping of name to metric, or one metric
        A single metric is named after its class.
    seed : int
        Seed of the metrics' own draws.
    workers : int
        Threads that evaluate blocks. The result does not depend on it.
    progress : callable ``(metric, done, total)``, optional
        Called after each block.

    Examples
    --------
    >>> import numpy as np
    >>> import dard
    >>> state = np.random.default_rng(0).normal(size=(200, 1))
    >>> data = dard.Transitions(state, state, state + 0.1)
    >>> rewards = {"x": lambda s, a, s2: s[:, 0], "cube": lambda s, a, s2: s[:, 0] ** 3}
    >>> print(dard.compare(rewards, data, dard.Pearson()))
    Pearson   x              cube
    x         0              0.2864 ± 0.013
    cube      0.2864 ± 0.013 0
    """
    if len(rewards) < 2:
        raise ConfigurationError(f"{len(rewards)} reward given; a comparison needs at least two")
    if not isinstance(metrics, Mapping):
        metrics = {type(metrics).__name__: metrics}
    if not metrics:
        raise ConfigurationError("no metrics given")
    results = {}
    for name, metric in metrics.items():
        report = None if progress is None else _named(progress, name)
        found = estimates(dict(rewards), data, metric, seed, workers=workers, progress=report)
        results[name] = MetricResult(tuple(rewards), tuple(found))
    return Comparison(results)


def _named(progress: NamedProgress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)
