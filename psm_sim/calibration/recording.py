"""Recording of a current, with the time for which each sample stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray


class Recording(NamedTuple):
    """Recording of a current.

    Attributes
    ----------
    times_s, lengths_s, currents_ma : ndarray, shape (n,)
        Start of each sample, time for which it stands, and current.
    step_s : float
        Usual time between two samples.
    warnings : tuple of str
        Problems in the file that are not fatal.
    """

    times_s: FloatArray
    lengths_s: FloatArray
    currents_ma: FloatArray
    step_s: float
    warnings: tuple[str, ...] = ()

    @property
    def length_s(self) -> float:
        """Recorded time in seconds, without gaps."""
        return float(self.lengths_s.sum())

    @property
    def mean_ma(self) -> float:
        """Mean current in mA."""
        return float(self.currents_ma @ self.lengths_s) / self.length_s


def rounding_of(times_s: FloatArray) -> float:
    """Return the rounding unit of *times_s* in seconds: the smallest step if some times are equal, else 0."""
    waits_s = np.diff(times_s)
    return float(waits_s[waits_s > 0].min()) if (waits_s == 0).any() and waits_s.any() else 0.0


def make_recording(times_s: FloatArray, currents_ma: FloatArray, warnings: tuple[str, ...] = ()) -> Recording:
    """Return the recording of samples at ascending times.

    In a run without a gap, times that differ from equidistant times by less than a sample are replaced by the
    equidistant times, because loggers round times to a millisecond or read the clock late.
    """
    waits_s = np.diff(times_s)
    rounding_s = rounding_of(times_s)
    step_s = float(waits_s.mean())
    for _ in range(3):
        step_s = float(waits_s[waits_s <= max(3 * step_s, 1.5 * rounding_s)].mean())
    ends = np.append(np.flatnonzero(waits_s > 2.5 * step_s + rounding_s), times_s.size - 1)
    times_s, lengths_s = times_s.copy(), np.append(waits_s, step_s)
    begin = 0
    for end in ends:
        run = times_s[begin : end + 1]
        if run.size > 2:
            index = np.arange(run.size) - (run.size - 1) / 2
            slope = float(index @ (run - run.mean())) / float(index @ index)
            even = run.mean() + slope * index
            if np.abs(run - even).max() < max(step_s, rounding_s):
                run[:] = even
        lengths_s[begin:end] = np.diff(run)
        lengths_s[end] = step_s
        begin = end + 1
    return Recording(times_s, lengths_s, currents_ma, step_s, warnings)
