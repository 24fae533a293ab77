"""Four numbers that describe many: mean, median, 95th percentile, largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


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
