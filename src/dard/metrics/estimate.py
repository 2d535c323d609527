"""A distance with its error, and everything needed to judge and to repeat it."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dard.core.autoreset import warn_about_autoreset
from dard.core.callables import bind_reward, evaluation_mode
from dard.core.comoments import Pairs
from dard.core.errors import (
    ConfigurationError,
    DataError,
    GroupingWarning,
    RoundingWarning,
    UndefinedDistanceWarning,
    VarianceWarning,
)
from dard.core.student import student_quantile
from dard.core.transitions import Transitions
from dard.metrics.plan import Metric, Plan, models_of
from dard.metrics.reduce import Progress, Reduced, reduce_plan
from dard.metrics.squared import Squared, estimate_squared

VALUE_ROUNDINGS = 4.0
"""Roundings taken to have happened inside a reward, of the size of what it returned."""
SUM_ROUNDINGS = 32.0
"""Float64 roundings in the sums over inner draws."""
WORTH_A_WARNING = 1e-6
SMALLEST_VARIANCE_SHARE = 0.01


@dataclass(frozen=True)
class Estimate:
    """A distance between two rewards.

    Attributes
    ----------
    value : float
        The distance, in [0, 1]; NaN where it is undefined.
    standard_error : float
        Jackknife standard error of the distance.
    squared, squared_error : float
        The estimate of the squared distance, on which intervals rest, and its standard error. A
        paired estimate can be slightly negative.
    evaluations : int
        How often each reward was evaluated.
    transitions : int
        Number of coverage transitions.
    groups : int
        Number of groups in the jackknife: the interval uses Student's t with one less.
    rounding_floor : float
        The distance that rounding of the rewards' values can make out of nothing.
    variance_share : tuple of float
        For both rewards, canonical variance over raw variance.
    seed : int
        Seed of the draws.
    names : tuple of str
        Names of both rewards.
    undefined : str or None
        Why there is no distance, where there is none.
    """

    value: float
    standard_error: float
    squared: float
    squared_error: float
    evaluations: int
    transitions: int
    groups: int
    rounding_floor: float
    variance_share: tuple[float, float]
    seed: int
    names: tuple[str, str]
    undefined: str | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.undefined:
            return f"undefined: {self.undefined}"
        low, high = self.interval()
        return f"{self.value:.4g} ± {self.standard_error:.2g} (95 %: {low:.4g} to {high:.4g})"

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the distance.

        It is symmetric for the squared distance, with Student's t. A distance that is not above
        the rounding floor cannot be told from 0, and its interval begins there.
        """
        if not 0 < confidence < 1:
            raise ConfigurationError(f"confidence is {confidence}; expected between 0 and 1")
        if math.isnan(self.value) or math.isnan(self.squared_error):
            return (math.nan, math.nan)
        half = student_quantile((1 + confidence) / 2, self.groups - 1) * self.squared_error
        low = math.sqrt(min(max(self.squared - half, 0.0), 1.0))
        high = math.sqrt(min(max(self.squared + half, 0.0), 1.0))
        if self.value <= self.rounding_floor:
            return (0.0, max(high, min(self.rounding_floor, 1.0)))
        return (low, high)


def distance(
    reward_a: Callable[..., Any],
    reward_b: Callable[..., Any],
    data: Transitions,
    metric: Metric,
    seed: int = 0,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> Estimate:
    """Return the distance between two rewards under a metric.

    Parameters
    ----------
    reward_a, reward_b : callable ``(state, action, next_state) -> values``
        In NumPy, PyTorch or JAX, batch first.
    data : Transitions
        Coverage transitions.
    metric : DARD, EPIC, Pearson, or anything with a ``plan``
    seed : int
        Seed of the metric's own draws.
    workers : int
        Threads that evaluate blocks. The result does not depend on it.
    progress : callable ``(done, total)``, optional
        Called after each block.

    Examples
    --------
    >>> import numpy as np
    >>> import dard
    >>> state = np.linspace(0, 1, 100)[:, None]
    >>> data = dard.Transitions(state, 0 * state, state)
    >>> rising, falling = (lambda s, a, s2: s2[:, 0]), (lambda s, a, s2: 5 - 3 * s2[:, 0])
    >>> print(f"{float(dard.distance(rising, falling, data, dard.Pearson())):.6f}")
    1.000000
    """
    rewards = {"reward_a": reward_a, "reward_b": reward_b}
    found = estimates(rewards, data, metric, seed, workers=workers, progress=progress)
    return found[0]


def estimates(
    rewards: dict[str, Callable[..., Any]],
    data: Transitions,
    metric: Metric,
    seed: int = 0,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Estimate]:
    """Return the estimates of all pairs i < j of rewards, evaluated together.

    Warnings name what makes a number untrustworthy.
    """
    if len(data) < 2:
        raise DataError(f"data has {len(data)} transitions; a distance needs at least 2")
    if workers < 1:
        raise ConfigurationError(f"workers is {workers}; expected at least 1")
    with evaluation_mode([*rewards.values(), *models_of(metric)]):
        bound = [bind_reward(name, reward, data) for name, reward in rewards.items()]
        plan = metric.plan(data, seed)
        pairs = Pairs.all(len(bound))
        reduced = reduce_plan(plan, bound, pairs, workers=workers, progress=progress)
    squared = estimate_squared(reduced.moments, pairs)
    judged = _Judged(type(metric).__name__, plan, reduced, squared, list(rewards))
    judged.warn_about_data()
    # Not a comprehension: in Python 3.11 its frame would hide the caller that warnings point to.
    numbers = pairs.first.tolist(), pairs.second.tolist(), range(len(pairs.first))
    return list(map(judged.estimate, *numbers))


class _Judged:
    """Turns moments into estimates, with what is wrong about them said once."""

    def __init__(
        self, metric: str, plan: Plan, reduced: Reduced, squared: Squared, names: Sequence[str]
    ) -> None:
        self.plan, self.reduced, self.squared, self.names = plan, reduced, squared, names
        n = len(plan.data)
        raw = reduced.raw.total()
        self.raw_variance = raw.own / raw.freedom
        term = np.sqrt(reduced.square / n)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(np.maximum(squared.variance, 0.0))
            roundings = VALUE_ROUNDINGS * reduced.precision + SUM_ROUNDINGS * 2.0**-53
            self.rounding = roundings * term
            self.noise = self.rounding / deviation
            self.share = squared.variance / self.raw_variance
        # A variance that is within its rounding, or (paired) not above 0, is none.
        self.constant = ~(self.noise < 1.0)
        self._warned: set[tuple[type[Warning], str]] = set()
        for k, name in enumerate(names):
            if not self.constant[k] and self.share[k] < SMALLEST_VARIANCE_SHARE:
                self._warn(VarianceWarning, _small_variance(metric, name, self.share[k]))

    def estimate(self, i: int, j: int, k: int) -> Estimate:
        """Return the estimate of pair number k, of rewards i and j."""
        names = (self.names[i], self.names[j])
        squared, error = float(self.squared.value[k]), float(self.squared.error[k])
        undefined = self._undefined(i, j)
        if undefined is not None:
            self._warn(UndefinedDistanceWarning, undefined)
            squared = error = math.nan
        floor = float(0.5 * np.hypot(self.noise[i], self.noise[j]))
        value = math.sqrt(min(max(squared, 0.0), 1.0)) if undefined is None else math.nan
        if value <= floor and floor > WORTH_A_WARNING:
            self._warn(
                RoundingWarning,
                f"the distance of {names[0]!r} and {names[1]!r}, {value:.2g}, is not above what "
                f"rounding alone can give, {floor:.2g}: compute the rewards in float64, or with "
                "less shaping",
            )
        return Estimate(
            value=value,
            standard_error=_error_of_root(squared, error),
            squared=squared,
            squared_error=error,
            evaluations=self.reduced.queries,
            transitions=len(self.plan.data),
            groups=self.squared.groups,
            rounding_floor=floor,
            variance_share=(float(self.share[i]), float(self.share[j])),
            seed=self.plan.seed,
            names=names,
            undefined=undefined,
        )

    def warn_about_data(self) -> None:
        """Say where standard errors rest on too little, and where data looks recorded wrongly."""
        warn_about_autoreset(self.plan.data)
        groups = self.plan.groups
        if groups.episodes is not None and groups.kind == "blocks":
            self._warn(
                GroupingWarning,
                f"the data holds {groups.episodes} episode{'s' * (groups.episodes != 1)}; "
                "standard errors are computed over blocks of consecutive transitions instead, "
                "which is too optimistic if dependence outlasts a block",
            )
        if np.isnan(self.squared.error).any() and not self.constant.any():
            self._warn(
                GroupingWarning,
                f"{len(self.plan.data)} transitions are too few to leave groups out: there is "
                "no standard error",
            )

    def _undefined(self, i: int, j: int) -> str | None:
        for k in (i, j):
            if self.constant[k]:
                what = f"reward {self.names[k]!r} {self._why_constant(k)}"
                return f"{what}: its distance to anything is undefined"
        return None

    def _why_constant(self, k: int) -> str:
        term = self.reduced.square[k] / len(self.plan.data)
        rounding = (VALUE_ROUNDINGS * self.reduced.precision[k]) ** 2 * term
        if self.raw_variance[k] <= rounding:
            return "has no variance on these transitions (it is constant)"
        if self.plan.replicates == 1 or abs(self.squared.variance[k]) <= rounding:
            return (
                "has no variance above rounding left after canonicalisation (it is equivalent to "
                "a constant, or has more shaping than its precision can hold)"
            )
        return (
            "has a canonical variance that cannot be told from 0 with so few transitions and "
            "inner draws (take more of either)"
        )

    def _warn(self, category: type[Warning], message: str) -> None:
        if (category, message) not in self._warned:
            self._warned.add((category, message))
            warnings.warn(message, category, stacklevel=5)


def _small_variance(metric: str, name: str, share: float) -> str:
    return (
        f"under {metric} the canonical variance of reward {name!r} is {share:.1e} of its raw "
        "variance: either shaping is most of the reward, or nearby transitions have nearly equal "
        "rewards; small errors of a learned reward then decide the distance"
    )


def _error_of_root(squared: float, error: float) -> float:
    """Return half the width of the image of ``squared ± error`` under the square root.

    For distances well above their error that is ``error / (2 D)``; at 0 it stays finite.
    """
    if math.isnan(squared) or math.isnan(error):
        return math.nan
    upper, lower = max(squared + error, 0.0), max(squared - error, 0.0)
    return (math.sqrt(upper) - math.sqrt(lower)) / 2
