"""Checks that a metric keeps the promises it declares in its ``properties``."""

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core import arrays
from dard.core.callables import BoundReward, bind_reward, evaluation_mode
from dard.core.errors import DardWarning
from dard.core.transitions import Transitions
from dard.metrics.estimate import distance as dard_distance
from dard.testing.battery import require
from dard.testing.functions import ShapedReward, SmoothPotential, SmoothReward

# A distance is the root of its square, so rounding of 1e-16 there shows as 1e-8 near zero.
_TOLERANCE = 1e-6


def check_metric(
    metric: Any,
    data: Transitions,
    rewards: Iterable[Any] | None = None,
    seed: int = 0,
    distance: Callable[..., Any] = dard_distance,
) -> None:
    """Check that a metric keeps its promises on some data.

    Parameters
    ----------
    metric : Metric
        The metric; ``metric.properties`` says which of the invariances and axioms it promises,
        and ``metric.discount`` with which discount it is invariant to shaping.
    data : Transitions
        Transitions on which rewards are compared.
    rewards : iterable of callables, optional
        At least two rewards that the metric can tell apart; three smooth random rewards if not
        given.
    seed : int
        Seed of the metric's draws.
    distance : callable ``(reward_a, reward_b, data, metric, seed=...) -> number``
        How distances are computed: :func:`dard.distance`, or what you want to check.

    Raises
    ------
    AssertionError
        If a distance is undefined, outside the metric's range or not the same for the same seed;
        if that of a reward to itself is not 0 or to its negative not 1; if a promised symmetry,
        invariance or triangle inequality is broken; or if ``metric.canonicalize`` is not linear.

    Examples
    --------
    >>> import numpy as np
    >>> import dard
    >>> rng = np.random.default_rng(0)
    >>> data = dard.Transitions(*rng.normal(size=(3, 500, 2)))
    >>> check_metric(dard.EPIC(), data)
    >>> check_metric(dard.Pearson(), data, distance=lambda a, b, data, metric, seed: 0.0)
    Traceback (most recent call last):
        ...
    AssertionError: the distance of reward 0 to its negative is 0; expected 1
    """
    chosen = [SmoothReward(k) for k in range(3)] if rewards is None else list(rewards)
    require(len(chosen) >= 2, f"rewards has {len(chosen)} entries; the checks need at least two")
    with evaluation_mode(chosen), warnings.catch_warnings():
        # Distances of 0 are asked for on purpose here, and they warn.
        warnings.simplefilter("ignore", DardWarning)
        bound = [_OnHost(bind_reward(f"reward {k}", r, data)) for k, r in enumerate(chosen)]
        checks = _Checks(metric, data, seed, distance, bound)
        checks.values()
        checks.symmetry()
        checks.invariances()
        checks.triangle()
        checks.linearity()


@dataclass(frozen=True)
class _OnHost:
    """A reward whose float64 values arrive on the host, wherever it works itself."""

    bound: BoundReward

    def __call__(self, *columns: Any) -> np.ndarray:
        placed = (self.bound.placement.put(column) for column in columns)
        return arrays.to_numpy(self.bound(*placed)).astype(np.float64)


@dataclass(frozen=True)
class _Combination:
    """The reward ``a A + b B``."""

    first: _OnHost
    second: _OnHost
    a: float
    b: float

    def __call__(self, *columns: Any) -> np.ndarray:
        return self.a * self.first(*columns) + self.b * self.second(*columns)


@dataclass(frozen=True)
class _Checks:
    metric: Any
    data: Transitions
    seed: int
    distance: Callable[..., Any]
    rewards: list[_OnHost]

    def values(self) -> None:
        """Check ranges, repetition, distances of a reward to itself and to its negative."""
        low, high = self.metric.properties.range
        for k, reward in enumerate(self.rewards):
            own = self._between(reward, reward)
            require(
                abs(float(own)) <= _tolerance(own),
                f"the distance of reward {k} to itself is {float(own):.6g}; expected 0",
            )
            opposite = self._between(reward, ShapedReward(reward, scale=-1.0))
            require(
                abs(float(opposite) - 1) <= _tolerance(opposite),
                f"the distance of reward {k} to its negative is {float(opposite):.6g}; expected 1",
            )
        for i, j, one, other in self._pairs():
            first, second = self._between(one, other), self._between(one, other)
            require(
                low <= float(first) <= high,
                f"the distance of rewards {i} and {j} is {float(first):.6g}, outside its range "
                f"[{low:g}, {high:g}]",
            )
            require(
                _numbers(first) == _numbers(second),
                f"the distance of rewards {i} and {j} is not the same for the same seed: "
                f"{float(first)!r}, then {float(second)!r}",
            )

    def symmetry(self) -> None:
        """Check that d(A, B) = d(B, A), where promised."""
        if self.metric.properties.symmetric:
            for i, j, one, other in self._pairs():
                what = f"not symmetric: rewards {i}, {j} against {j}, {i}"
                _require_same(what, self._between(one, other), self._between(other, one))

    def invariances(self) -> None:
        """Check that scale, shift and shaping of a reward change nothing, where promised."""
        promised, changes = self.metric.properties, dict[str, dict[str, Any]]()
        if promised.scale_invariant:
            changes["scale (times 3.7)"] = {"scale": 3.7}
        if promised.shift_invariant:
            changes["shift (plus 5)"] = {"shift": 5.0}
        if promised.shaping_invariant:
            discount = getattr(self.metric, "discount", None)
            require(
                discount is not None, "the metric promises shaping invariance, but has no discount"
            )
            potential = SmoothPotential(self.seed)
            changes[f"shaping (discount {discount})"] = {
                "potential": potential,
                "discount": discount,
            }
        for (i, j, one, other), (change, how) in itertools.product(self._pairs(), changes.items()):
            what = f"not invariant to {change} of reward {j}, against reward {i}"
            before = self._between(one, other)
            _require_same(what, before, self._between(one, ShapedReward(other, **how)))

    def triangle(self) -> None:
        """Check d(A, C) <= d(A, B) + d(B, C) within three standard errors, where promised."""
        if not self.metric.properties.triangle:
            return
        for i, j, k in itertools.permutations(range(len(self.rewards)), 3):
            sides = [
                self._between(self.rewards[a], self.rewards[b]) for a, b in ((i, k), (i, j), (j, k))
            ]
            direct, detour = float(sides[0]), float(sides[1]) + float(sides[2])
            slack = sum(_tolerance(side) + 3 * _standard_error(side) for side in sides)
            require(
                direct <= detour + slack,
                f"the triangle inequality fails: rewards {i} and {k} are {direct:.6g} apart, but "
                f"{detour:.6g} by way of reward {j}",
            )

    def linearity(self) -> None:
        """Check that canonicalize(2 A - 3 B) = 2 canonicalize(A) - 3 canonicalize(B)."""
        canonicalize = getattr(self.metric, "canonicalize", None)
        if canonicalize is None:
            return
        one, other = self.rewards[:2]
        mixed = _Combination(one, other, 2.0, -3.0)
        parts = [
            np.asarray(canonicalize(reward, self.data, seed=self.seed))
            for reward in (one, other, mixed)
        ]
        expected = 2.0 * parts[0] - 3.0 * parts[1]
        size = float(sum(np.abs(part).max() for part in parts))
        require(
            bool((np.abs(parts[2] - expected) <= _TOLERANCE * size).all()),
            "canonicalize is not linear: canonicalize(2 A - 3 B) is not 2 canonicalize(A) - "
            "3 canonicalize(B) of rewards 0 and 1",
        )

    def _pairs(self) -> Iterable[tuple[int, int, _OnHost, _OnHost]]:
        for i, j in itertools.combinations(range(len(self.rewards)), 2):
            yield i, j, self.rewards[i], self.rewards[j]

    def _between(self, one: Any, other: Any) -> Any:
        found = self.distance(one, other, self.data, self.metric, seed=self.seed)
        reason = getattr(found, "undefined", None) or "it is NaN"
        require(not np.isnan(float(found)), f"a distance is undefined on this data: {reason}")
        return found


def _require_same(what: str, before: Any, after: Any) -> None:
    require(
        abs(float(before) - float(after)) <= _tolerance(before) + _tolerance(after),
        f"the metric is {what}: {float(before):.6g} became {float(after):.6g}",
    )


def _tolerance(found: Any) -> float:
    return _TOLERANCE + 2 * _finite_attribute(found, "rounding_floor")


def _standard_error(found: Any) -> float:
    return _finite_attribute(found, "standard_error")


def _finite_attribute(found: Any, name: str) -> float:
    """Return a number that an estimate may have; plain numbers and unknown errors count as 0."""
    value = getattr(found, name, None)
    return 0.0 if value is None or not np.isfinite(value) else float(value)


def _numbers(found: Any) -> tuple[float, float]:
    return float(found), _standard_error(found)
