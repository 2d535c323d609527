"""What a metric wants evaluated: triples drawn once, and how their values make canonical rewards.

A canonical reward is linear in reward values at some triples ``(s, a, s')``. A :class:`Term` is a
grid of queries, `outer` by `per`; its values are averaged over `per`, and each :class:`Use` adds
those means, times a coefficient, to canonical rewards. Queries are expanded tile by tile from
small arrays (:class:`Part`), since the paper's own estimators ask for billions of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from dard.core import arrays
from dard.core.errors import ConfigurationError, DataError
from dard.core.groups import Groups
from dard.core.placement import Placement
from dard.core.transitions import Transitions
from dard.metrics.tables import checked_discount

TILE_ROWS = {"host": 4096, "device": 2**20}
"""Queries evaluated at once: what fits a processor's cache, and what fills a GPU."""


@dataclass(frozen=True)
class Part:
    """One argument of a grid of queries, as a small array and where each query finds its row.

    Attributes
    ----------
    values : array, shape (1 or more, 1 or more, ...)
        Axis 0 is indexed by `outer`, axis 1 by `inner`; an axis of length 1 is shared by all.
    outer, inner : arrays of integers, optional
        Row of `values` for each outer position, and for each inner one; None: in order.
    """

    values: Any
    outer: np.ndarray | None = None
    inner: np.ndarray | None = None

    def placed(self, placement: Placement) -> "Part":
        """Return the same part with its array in another library."""
        return Part(placement.put(self.values), self.outer, self.inner)

    def expand(self, outer: slice, inner: slice) -> Any:
        """Return the rows of the tile `outer` x `inner`, flattened."""
        xp = arrays.namespace(self.values)
        values = _select(xp, self.values, 0, self.outer, outer)
        values = _select(xp, values, 1, self.inner, inner)
        grid = (outer.stop - outer.start, inner.stop - inner.start)
        rest = tuple(values.shape[2:])
        if tuple(values.shape[:2]) != grid:
            values = xp.broadcast_to(values, (*grid, *rest))
        return values.reshape((grid[0] * grid[1], *rest))


@dataclass(frozen=True)
class Use:
    """Where the means of a term go: ``canonical[r, t] += coefficient * means[index[r, t]]``.

    Without `index` the means are laid out as (replicates, transitions) or as (transitions,). An
    index with a third axis averages the means along it.
    """

    coefficient: float
    index: np.ndarray | None = None

    def of(self, means: np.ndarray, transitions: int) -> np.ndarray:
        """Return what this use adds to canonical rewards (replicates, transitions)."""
        if self.index is None:
            return self.coefficient * means.reshape((-1, transitions))
        values = means[self.index]
        return self.coefficient * (values.mean(axis=-1) if values.ndim == 3 else values)


@dataclass(frozen=True)
class Term:
    """A grid of queries of `outer` x `per`, averaged over `per`."""

    outer: int
    per: int
    state: Part
    action: Part
    next_state: Part
    uses: tuple[Use, ...]

    @property
    def queries(self) -> int:
        """Number of reward evaluations."""
        return self.outer * self.per

    @property
    def size(self) -> float:
        """Root of the summed squares of the coefficients with which a value is used."""
        return float(np.sqrt(sum(use.coefficient**2 for use in self.uses)))

    def tiles(self, rows: int) -> Iterator[tuple[slice, slice]]:
        """Cut the grid into tiles of at most `rows` queries, of one shape but for the last."""
        inner_step = min(self.per, rows)
        outer_step = max(1, rows // inner_step)
        for start in range(0, self.outer, outer_step):
            outer = slice(start, min(start + outer_step, self.outer))
            for inner in range(0, self.per, inner_step):
                yield outer, slice(inner, min(inner + inner_step, self.per))


@dataclass(frozen=True)
class Block:
    """The queries of one block of transitions.

    Attributes
    ----------
    number : int
        Its place in the plan, which also keys its random draws.
    index : array of integers, shape (n,)
        The transitions of the block.
    terms : tuple of Term
        The first term is the reward of the transitions themselves.
    centres : array of integers, shape (n,), optional
        For plans that centre within sub-blocks: which one each transition belongs to, from 0.
    """

    number: int
    index: np.ndarray
    terms: tuple[Term, ...]
    centres: np.ndarray | None = None

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward."""
        return sum(term.queries for term in self.terms)


class Plan(Protocol):
    """A metric's queries on some transitions, block by block, each made from its own stream."""

    @property
    def data(self) -> Transitions:
        """The coverage transitions."""
        ...

    @property
    def seed(self) -> int:
        """Seed of the draws."""
        ...

    @property
    def replicates(self) -> int:
        """Independent canonical values of each transition: 1, or 2 for paired estimators."""
        ...

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        ...

    @property
    def groups(self) -> Groups:
        """The groups that are left out for standard errors."""
        ...

    @property
    def queries(self) -> int:
        """Number of evaluations of each reward, if nothing is shared."""
        ...

    def block(self, number: int, *, whole: bool = False) -> Block:
        """Make one block; `whole` adds constants that a distance does not need."""
        ...

    def offset(self) -> Block | None:
        """Make the block of a constant shared by all transitions, for `canonicalize`."""
        ...

    def centre_groups(self, number: int) -> tuple[np.ndarray, int] | None:
        """Return the jackknife group of each sub-block of a block, and how many groups."""
        ...


@dataclass(frozen=True)
class Properties:
    """What a metric promises; `dard.testing.check_metric` tests every promise."""

    symmetric: bool = True
    scale_invariant: bool = True
    shift_invariant: bool = True
    shaping_invariant: bool = True
    triangle: bool = True
    range: tuple[float, float] = (0.0, 1.0)


class Metric(Protocol):
    """Anything that can plan: one file, one plan."""

    @property
    def properties(self) -> Properties:
        """What the metric promises."""
        ...

    def plan(self, data: Transitions, seed: int) -> Plan:
        """Return the queries for `data`."""
        ...


Estimator = Literal["paired", "full"]


def check_common(estimator: str, discount: float) -> None:
    """Refuse an unknown estimator and a discount outside [0, 1]."""
    if estimator not in ("paired", "full"):
        raise ConfigurationError(f"estimator is {estimator!r}; expected 'paired' or 'full'")
    checked_discount(discount)


def models_of(metric: Metric) -> list[Any]:
    """Return what a metric may call besides rewards, so that modules can be put in order."""
    return [getattr(metric, name, None) for name in ("transition_model", "actions")]


def rows_of(data: Transitions, index: np.ndarray) -> Transitions:
    """Return the transitions at `index`, checked to be finite; consecutive ones without a copy."""
    consecutive = len(index) == index[-1] - index[0] + 1 and bool((np.diff(index) == 1).all())
    rows = data[int(index[0]) : int(index[-1]) + 1] if consecutive else data[index]
    for name in ("state", "action", "next_state"):
        check_finite(getattr(rows, name), name, index)
    return rows


def check_finite(column: Any, name: str, index: np.ndarray) -> None:
    """Refuse NaN and infinity in the rows of a column that belong to transitions `index`."""
    xp = arrays.namespace(column)
    if not bool(xp.all(xp.isfinite(column))):
        finite = arrays.to_numpy(xp.isfinite(column)).reshape((len(index), -1)).all(axis=1)
        raise DataError(
            f"{name} is not finite in transition {index[np.flatnonzero(~finite)[0]]}: "
            "remove or repair such transitions first"
        )


def own_rewards(part: Transitions) -> Term:
    """Return the term of the transitions' own rewards."""
    columns = (Part(x[:, None]) for x in (part.state, part.action, part.next_state))
    return Term(len(part), 1, *columns, uses=(Use(1.0),))


def _select(xp: Any, values: Any, axis: int, index: np.ndarray | None, span: slice) -> Any:
    if index is not None:
        rows: Any = index[span]
        if arrays.library_of(values) != "numpy":
            rows = xp.asarray(rows, **_device(values))
        return xp.take(values, rows, axis=axis)
    if values.shape[axis] == 1:
        return values
    return values[span] if axis == 0 else values[:, span]


def _device(values: Any) -> dict[str, Any]:
    return {"device": values.device} if arrays.library_of(values) == "torch" else {}
