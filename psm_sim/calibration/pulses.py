"""Pulses of a current above its base."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import FloatArray


class Pulses(NamedTuple):
    """Pulses above the base, in order of time; each array has one value per pulse.

    ``begin`` and ``end`` are the indices of the samples, ``charges_uc`` the charges above the base.
    """

    begin: NDArray[np.intp]
    end: NDArray[np.intp]
    starts_s: FloatArray
    ends_s: FloatArray
    charges_uc: FloatArray
    peaks_ma: FloatArray

    @property
    def lengths_s(self) -> FloatArray:
        """Length of each pulse."""
        return self.ends_s - self.starts_s

    def owners(self, size: int) -> NDArray[np.intp]:
        """Return the index of the pulse that contains each of *size* samples, or -1 between pulses."""
        samples = np.arange(size)
        owners = np.searchsorted(self.begin, samples, side="right") - 1
        return np.where(samples < np.append(self.end, 0)[owners], owners, -1)


def find_pulses(recording: Recording, excess_ma: FloatArray, noise_ma: float) -> Pulses:
    """Return the pulses of a current above its base.

    A pulse exceeds six times the noise. Its charge includes the adjacent samples, which the pulse may cover
    in part.
    """
    times_s, lengths_s = recording.times_s, recording.lengths_s
    threshold_ma = max(6 * noise_ma, 0.02 * float(np.quantile(excess_ma, 0.999)))
    is_above = np.concatenate([[False], excess_ma > threshold_ma, [False]])
    edges = np.flatnonzero(np.diff(is_above.astype(np.int8)))
    begin, end = edges[::2], edges[1::2]
    first = np.maximum(begin - 1, np.append(0, end[:-1])[: begin.size])
    last = np.minimum(end + 1, np.append(begin[1:], excess_ma.size)[: begin.size])
    charge = np.concatenate([[0.0], np.cumsum(excess_ma * lengths_s)])
    peaks_ma = np.array([excess_ma[i:j].max() for i, j in zip(begin, end, strict=True)])
    ends_s = (times_s + lengths_s)[end - 1]
    return Pulses(begin, end, times_s[begin], ends_s, 1e3 * (charge[last] - charge[first]), peaks_ma)
