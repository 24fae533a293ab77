"""Summary statistics, percentiles and confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


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
    replication. Their interval shows whether the policies differ.
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if array.size < 2:
        return Interval(mean, 0.0, int(array.size))
    from scipy.special import stdtrit

    quantile = float(stdtrit(array.size - 1, 0.975))
    return Interval(mean, quantile * float(array.std(ddof=1)) / array.size**0.5, int(array.size))
