"""Judging counts without SciPy."""

import numpy as np


def chi_square_is_plausible(counts) -> bool:
    """Return whether equally likely cells would give such counts, but for one time in 10,000.

    Wilson and Hilferty's cube root makes chi-square nearly normal; 3.9 standard deviations.
    """
    counts = np.asarray(counts, float)
    freedom = len(counts) - 1
    chi_square = ((counts - counts.mean()) ** 2).sum() / counts.mean()
    spread = 2 / (9 * freedom)
    return abs(np.cbrt(chi_square / freedom) - (1 - spread)) < 3.9 * np.sqrt(spread)
