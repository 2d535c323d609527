"""From comoments to squared distances, and their jackknife errors."""

from dataclasses import dataclass

import numpy as np

from dard.core.comoments import Comoments, Pairs
from dard.core.moments import Moments


@dataclass(frozen=True)
class Squared:
    """Squared distances of all pairs, with jackknife standard errors.

    Attributes
    ----------
    value, error : arrays, shape (pairs,)
        NaN where the distance is undefined, or where no group could be left out.
    variance : array, shape (rewards,)
        Canonical variance of each reward.
    groups : int
        Number of groups behind the standard errors.
    """

    value: np.ndarray
    error: np.ndarray
    variance: np.ndarray
    groups: int


def squared_distances(comoments: Comoments, pairs: Pairs) -> np.ndarray:
    r"""Return the squared Pearson distance of each pair, without cancellation near 0.

    .. math:: D^2 = \tfrac14 \mathrm{Var}(x_i / \sigma_i - x_j / \sigma_j)

    (definition 4.4 of Gleave et al.: half the distance of the unit vectors). With
    ``d = x_i - x_j`` (in scaled rewards) the difference is ``a d + (a - b) x_j``, where a and b are
    the inverse standard deviations; ``a - b`` is computed from the moments of d, since
    ``x_i² - x_j² = d² + 2 d x_j``. With two replicates every variance is a covariance of one with
    the other, which inner noise does not bias.
    """
    i, j = pairs.first, pairs.second
    freedom = np.asarray(comoments.freedom)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = comoments.own / freedom
        difference, cross = comoments.difference / freedom, comoments.cross / freedom
        deviation = np.sqrt(own)
        a, b = 1 / deviation[..., i], 1 / deviation[..., j]
        step = -(difference + 2 * cross) * a * b / (deviation[..., i] + deviation[..., j])
        return (a * a * difference + 2 * a * step * cross + step**2 * own[..., j]) / 4


def estimate_squared(moments: Moments, pairs: Pairs) -> Squared:
    """Return squared distances with the larger of the jackknife errors of each margin."""
    total = moments.total()
    value = squared_distances(total, pairs)
    error, groups = np.full(len(pairs.first), np.nan), 0
    for without in moments.leave_one_out():
        count = len(np.asarray(without.freedom))
        if count < 2 or not (np.asarray(without.freedom) > 0).all():
            continue
        values = squared_distances(without, pairs)
        deviations = values - values.mean(axis=0)
        margin = np.sqrt((count - 1) / count * (deviations**2).sum(axis=0))
        groups = count if not groups else min(groups, count)
        error = np.fmax(error, margin)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = moments.scale**2 * total.own / total.freedom
    return Squared(value, error, variance, groups)
