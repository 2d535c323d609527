"""Quantiles of Student's t, without SciPy."""

import math


def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution with `freedom` degrees of freedom.

    Bisection on the exact distribution function, which is a finite sum for whole degrees of
    freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
    """
    if freedom < 1:
        return math.nan
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while _cumulative(high, freedom) < probability:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if _cumulative(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return middle


def _cumulative(t: float, freedom: int) -> float:
    angle = math.atan2(t, math.sqrt(freedom))
    cosine_squared = freedom / (freedom + t * t)
    term = math.sin(angle) if freedom % 2 == 0 else math.sin(angle) * math.sqrt(cosine_squared)
    total = term if freedom > 1 else 0.0
    for k in range(2 + freedom % 2, freedom - 1, 2):
        term *= cosine_squared * (k - 1) / k
        total += term
    if freedom % 2 == 0:
        return 0.5 + total / 2
    return 0.5 + (angle + total) / math.pi
