"""Summary statistics, percentiles, confidence intervals and tests of differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Summary(NamedTuple):
    """Mean, median, 95th percentile (linear interpolation) and maximum; ``float()`` returns the mean."""

    mean: float
    median: float
    p95: float
    max: float

    def __float__(self) -> float:
        return self.mean

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """Return the summary of at least one value."""
        array = np.asarray(values, dtype=np.float64)
        return cls(
            float(array.mean()),
            float(np.median(array)),
            float(np.quantile(array, 0.95)),
            float(array.max()),
        )


def percentiles(values: Sequence[float], percents: Sequence[int]) -> dict[str, float]:
    """Return percentiles of at least one value, linearly interpolated, with keys such as ``p50``."""
    results = np.percentile(np.asarray(values, dtype=np.float64), percents)
    return {f"p{percent}": float(value) for percent, value in zip(percents, results, strict=True)}


class Interval(NamedTuple):
    """Mean and half width of its confidence interval, in the unit of the values.

    The half width of a single value is 0.
    """

    mean: float
    half_width: float
    replications: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width

    def __format__(self, spec: str) -> str:
        spread = f" ± {self.half_width:{spec}}" if self.replications > 1 else ""
        return f"{self.mean:{spec}}{spread}"


def confidence_interval(values: ArrayLike) -> Interval:
    """Return the mean of independent *values* and its 95 % confidence interval (Student's t).

    To compare policies on common random numbers, pass the paired differences (or ratios), one per
    replication. The policies differ if the interval does not contain 0 (or 1, for ratios).
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if array.size < 2:
        return Interval(mean, 0.0, int(array.size))
    from scipy.special import stdtrit

    quantile = float(stdtrit(array.size - 1, 0.975))
    return Interval(mean, quantile * float(array.std(ddof=1)) / array.size**0.5, int(array.size))


LEVEL = 0.05
"""Significance level: probability of finding a difference between equal means."""

_ROUNDING = 1e-9
"""Relative difference that rounding may cause between equal values."""


MIN_DIFFERENCE = 0.01
"""Relative difference below which two costs are equal in a ranking, even if it is significant.

This limit is a rule of the benchmark (``docs/benchmark.md``).
"""


def shared_ranks(differs: NDArray[np.bool_], order: Iterable[int]) -> list[int]:
    """Return the ranks of the indices in *order*, which are sorted from the best, with rank 1, to the worst.

    Indices share a rank if they do not differ from the first index of the rank.
    """
    ranks, leader = list[int](), -1
    for number, index in enumerate(order, 1):
        if leader < 0 or differs[leader, index]:
            leader, rank = index, number
        ranks.append(rank)
    return ranks


def significant_differences(values: ArrayLike) -> NDArray[np.bool_]:
    """Return, for each pair of means, whether its :func:`adjusted_p_values` are at most 5 %."""
    return adjusted_p_values(values) <= LEVEL


def adjusted_p_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return the p-values of the differences of all pairs, by paired t-tests with Holm's correction.

    If all pairs with a p-value of at most 5 % are reported to differ, the probability that at least one
    report is wrong is at most 5 %. This also holds if the best mean is selected before the others are
    compared with it.

    Parameters
    ----------
    values : array_like, shape (n_means, n_replications)
        Values of each mean, paired by replication. A pair excludes replications that are nan in either row.

    Returns
    -------
    ndarray, shape (n_means, n_means)
        Symmetric matrix. All values are 1 with fewer than two replications.
    """
    rows = np.asarray(values, dtype=np.float64)
    adjusted = np.ones((len(rows), len(rows)))
    pairs = list(combinations(range(len(rows)), 2))
    p_values = np.array([_paired_p_value(rows[first], rows[second]) for first, second in pairs])
    largest = 0.0
    for smaller, index in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, p_values[index] * (len(pairs) - smaller)))
        first, second = pairs[index]
        adjusted[first, second] = adjusted[second, first] = largest
    return adjusted


def _paired_p_value(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the paired t-test; 1 for equal values or fewer than two pairs."""
    differences = first - second
    differences = differences[~np.isnan(differences)]
    if differences.size < 2 or np.abs(differences).max() <= _ROUNDING * np.nanmax(np.abs((first, second))):
        return 1.0
    from scipy.special import stdtr

    error = float(differences.std(ddof=1)) / differences.size**0.5
    mean = abs(float(differences.mean()))
    return 2 * float(stdtr(differences.size - 1, -mean / error)) if error > _ROUNDING * mean else 0.0
