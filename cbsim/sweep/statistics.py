"""Statistics of sweeps: intervals of pass rates, and tests of differences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["adjusted", "mcnemar", "paired", "wilson"]

Z = 1.959963984540054  # of 95 %


def wilson(passed: int, total: int, z: float = Z) -> tuple[float, float]:
    """Wilson score interval of a rate.

    >>> low, high = wilson(95, 100)
    >>> round(low, 4), round(high, 4)
    (0.8882, 0.9785)
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if not total:
        return 0.0, 1.0
    share, extra = passed / total, z * z / total
    middle = (share + extra / 2.0) / (1.0 + extra)
    half = z / (1.0 + extra) * math.sqrt(share * (1.0 - share) / total + extra / (4.0 * total))
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(worse: int, better: int) -> float:
    """Exact two-sided p-value of McNemar's test of paired verdicts: of those that changed, how many got worse.

    >>> mcnemar(0, 0), round(mcnemar(0, 8), 6)
    (1.0, 0.007812)
    """
    if not worse + better:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(worse, better), worse + better, 0.5)))


def paired(before: np.ndarray, after: np.ndarray) -> float:
    """p-value of the Wilcoxon signed-rank test of paired values."""
    if not np.any(before != after):
        return 1.0
    from scipy import stats

    return float(stats.wilcoxon(after - before).pvalue)


def adjusted(values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number, by Benjamini and Hochberg.

    >>> [round(p, 3) for p in adjusted([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053, 0.053, 0.5]
    """
    if not values:
        return []
    from scipy import stats

    return [float(p) for p in stats.false_discovery_control(values)]
