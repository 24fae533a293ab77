"""Pulses of a current above its base."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import FloatArray

_MERGED_S = 0.6e-3
_MARGIN_S = 0.2e-3


class Pulses(NamedTuple):
    """Pulses above the base, in order of time; each array has one value per pulse.

    ``begin`` and ``end`` are the indices of the samples, ``charges_uc`` the charges above the base.
    ``is_cut`` is true for a pulse that touches a gap of the recording.
    """

    begin: NDArray[np.intp]
    end: NDArray[np.intp]
    starts_s: FloatArray
    ends_s: FloatArray
    charges_uc: FloatArray
    peaks_ma: FloatArray
    is_cut: NDArray[np.bool_]

    @property
    def lengths_s(self) -> FloatArray:
        """Length of each pulse."""
        return self.ends_s - self.starts_s

    def owners(self, size: int) -> NDArray[np.intp]:
        """Return for each of *size* samples the index of its pulse, or -1 between the pulses."""
        samples = np.arange(size)
        owners = np.searchsorted(self.begin, samples, side="right") - 1
        return np.where(samples < np.append(self.end, 0)[owners], owners, -1)


def find_pulses(recording: Recording, excess_ma: FloatArray, noise_ma: float) -> Pulses:
    """Return the pulses of a current above its base.

    A pulse exceeds six times the noise, and lasts as long as the current exceeds 2.5 times the noise. Pauses
    of less than 0.6 ms do not end a pulse. The charge includes the adjacent samples, which the pulse may
    cover in part.
    """
    scale = float(np.quantile(excess_ma, 0.999))
    high, low = max(6 * noise_ma, 0.02 * scale), max(2.5 * noise_ma, 0.005 * scale)
    ends_of_runs = recording.gaps_after()
    is_above = np.concatenate([[False], excess_ma > low, [False]])
    edges = np.flatnonzero(np.diff(is_above.astype(np.int8)))
    begin, end = edges[::2], edges[1::2]
    if edges.size:
        is_pulse = np.maximum.reduceat(np.append(excess_ma, 0.0), edges)[::2] > high
        begin, end = begin[is_pulse], end[is_pulse]
    times_s, lengths_s = recording.times_s, recording.lengths_s
    pauses_s = times_s[begin[1:]] - (times_s + lengths_s)[end[:-1] - 1]
    is_apart = pauses_s > _MERGED_S
    if begin.size:
        begin, end = begin[np.append(True, is_apart)], end[np.append(is_apart, True)]
    margin = max(1, int(_MARGIN_S / recording.step_s))
    first = np.maximum(begin - margin, np.append(0, end[:-1])[: begin.size])
    last = np.minimum(end + margin, np.append(begin[1:], excess_ma.size)[: begin.size])
    charge = np.concatenate([[0.0], np.cumsum(excess_ma * lengths_s)])
    runs_before = np.searchsorted(ends_of_runs, first)
    is_cut = (runs_before != np.searchsorted(ends_of_runs, last)) | (first == 0)
    peaks = (
        np.maximum.reduceat(np.append(excess_ma, 0.0), np.ravel([begin, end], "F"))[::2]
        if begin.size
        else begin
    )
    return Pulses(
        begin,
        end,
        times_s[begin],
        (times_s + lengths_s)[end - 1],
        1e3 * (charge[last] - charge[first]),
        np.asarray(peaks, float),
        is_cut,
    )
