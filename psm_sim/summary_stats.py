"""Estimates: many numbers as a few (mean, median, 95th percentile, largest), and confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Summary(NamedTuple):
    """Mean, median, 95th percentile (linear between neighbours) and maximum; ``float()`` is the mean."""

    mean: float
    median: float
    p95: float
    max: float

    def __float__(self) -> float:
        return self.mean

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """Summarise at least one value."""
        array = np.asarray(values, dtype=np.float64)
        return cls(
            float(array.mean()),
            float(np.median(array)),
            float(np.quantile(array, 0.95)),
            float(array.max()),
        )


def percentiles(values: Sequence[float], wanted: Sequence[int]) -> dict[str, float]:
    """Return percentiles of at least one value, linear between neighbours, under names as ``p50``."""
    found = np.percentile(np.asarray(values, dtype=np.float64), wanted)
    return {f"p{each}": float(value) for each, value in zip(wanted, found, strict=True)}


class Interval(NamedTuple):
    """A mean and the half width of its confidence interval, in the unit of the values.

    The half width is 0 for a single value, which has no interval.
    """

    mean: float
    half_width: float
    replications: int

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    def __format__(self, spec: str) -> str:
        spread = f" ± {self.half_width:{spec}}" if self.replications > 1 else ""
        return f"{self.mean:{spec}}{spread}"


def confidence_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's interval of the given confidence.

    For a comparison on common random numbers give the paired differences (or ratios), one per replication:
    their interval is the one that says whether the policies differ.
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if array.size < 2:
        return Interval(mean, 0.0, int(array.size))
    from scipy.special import stdtrit

    quantile = float(stdtrit(array.size - 1, (1 + confidence) / 2))
    return Interval(mean, quantile * float(array.std(ddof=1)) / array.size**0.5, int(array.size))
