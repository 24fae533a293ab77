"""Search for the wake-ups of a radio that receives beacons: pulses at equal intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.calibration.pulses import Pulses
from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import BoolArray, FloatArray

_TU_S = 1.024e-3
# Half and one and a half times the tolerance, scores of 0.25 and 0.45, shares of 0.75 and 0.92, and 4 and 8
# parts of the pulses give the same 92 of 104 development recordings.
_TOLERANCE_S = 2e-3
_MIN_SCORE = 0.35
_NEARLY = 0.85
_CUTS = 6
_LONGEST_S = 3.1  # a listen interval of 30
_MAX_CLOCK_ERROR = 6e-4  # of a recorder with 400 ppm and of the chip
# From 3 to 10, ``python -m tests.calibration.judge --seed 1 2 3`` passes the same 100 of 105 recordings.
_MIN_WAKE_UPS = 5


class Comb(NamedTuple):
    """Wake-ups at equal intervals.

    Attributes
    ----------
    interval_s : float
        Interval between two wake-ups, a multiple of the beacon interval.
    numbers : ndarray of int, shape (pulses,)
        Number of the wake-up nearest to each pulse.
    is_on : ndarray of bool, shape (pulses,)
        Whether a pulse is a wake-up.
    observed : int
        Number of expected wake-ups, except in gaps of the recording and while the radio was already awake.
    score : float
        Share of the expected wake-ups that occurred, times the share of the large pulses that are wake-ups.
    """

    interval_s: float
    numbers: NDArray[np.int64]
    is_on: BoolArray
    observed: int
    score: float


def find_comb(
    recording: Recording, pulses: Pulses, may_be: BoolArray, beacon_s: float | None = None
) -> Comb | None:
    """Return the wake-ups for beacons, or None if there are none.

    Only pulses that *may_be* wake-ups are searched. The intervals tried are multiples of 10 TU up to 1 s and
    of 100 TU up to 3 s, or multiples of *beacon_s*. This distinguishes beacons from the timers of the chip.
    Small pulses may not be wake-ups, so the search is repeated with the larger half of the pulses, the
    largest quarter, and so on. The comb with the highest score is returned.
    """
    tolerance_s = max(_TOLERANCE_S, 1.5 * recording.step_s)
    intervals_s = _TU_S * np.array([*range(20, 1000, 10), *range(1000, 3001, 100)])
    if beacon_s:
        intervals_s = beacon_s * np.arange(1.0, 1 + max(1, int(_LONGEST_S / beacon_s)))
    intervals_s = intervals_s[intervals_s > 6 * tolerance_s]
    charges = pulses.charges_uc[may_be]
    if charges.size < _MIN_WAKE_UPS or not intervals_s.size:
        return None
    best: Comb | None = None
    for least_uc in np.quantile(charges, 1 - 0.5 ** np.arange(_CUTS)):
        is_large = may_be & (pulses.charges_uc >= least_uc)
        comb = _follow(recording, pulses, is_large, intervals_s, tolerance_s)
        if comb and comb.score > (best.score if best else _MIN_SCORE):
            best = comb
    return best


def _usual_wait(starts_s: FloatArray, intervals_s: FloatArray, tolerance_s: float) -> tuple[float, float]:
    """Return the start of the first pair of pulses at the usual interval, and the interval.

    For each of *intervals_s*, the pairs of pulses at this interval are counted. Multiples of the true
    interval have nearly the same count, so the shortest interval with a high count is returned.
    """
    found = []
    for interval_s in intervals_s:
        after = np.searchsorted(starts_s, starts_s + interval_s - tolerance_s)
        waits_s = np.append(starts_s, np.inf)[after] - starts_s
        is_followed = waits_s < interval_s + tolerance_s
        if is_followed.any():
            first_s, wait_s = starts_s[is_followed.argmax()], waits_s[is_followed].mean()
            found.append((int(is_followed.sum()), float(first_s), float(wait_s)))
    most = max(found, default=(0,))[0]
    return next((one[1:] for one in found if one[0] >= _NEARLY * most), (starts_s[0], intervals_s[0]))


def _follow(
    recording: Recording, pulses: Pulses, is_large: BoolArray, intervals_s: FloatArray, tolerance_s: float
) -> Comb | None:
    """Return the comb of the large pulses, by regression of the times of the wake-ups on their numbers.

    The first regression uses the wake-ups within 10 intervals of the first wake-up, and each further
    regression doubles this distance.
    """
    starts_s = pulses.starts_s
    first_s, interval_s = _usual_wait(starts_s[is_large], intervals_s, tolerance_s)
    phase_s, span_s, is_last = first_s, 10 * interval_s, False
    while not is_last:
        is_last = span_s > starts_s[-1] - starts_s[0]
        numbers = np.round((starts_s - phase_s) / interval_s).astype(np.int64)
        errors_s = starts_s - phase_s - interval_s * numbers
        is_on = is_large & (np.abs(errors_s) < tolerance_s)
        used = is_on & (np.abs(starts_s - first_s) < span_s)
        if np.unique(numbers[used]).size >= _MIN_WAKE_UPS:
            slope, offset = np.polyfit(numbers[used], errors_s[used], 1)
            phase_s, interval_s = phase_s + offset, interval_s + slope
        span_s *= 2
    is_on &= np.append(True, (numbers[1:] != numbers[:-1]) | ~is_on[:-1])
    wake_ups = int(is_on.sum())
    if wake_ups < _MIN_WAKE_UPS or np.abs(interval_s / intervals_s - 1).min() > _MAX_CLOCK_ERROR:
        return None
    due_s = phase_s + interval_s * np.arange(numbers[is_on].min(), numbers[is_on].max() + 1.0)
    observed = _count_observed(recording, pulses, due_s, tolerance_s)
    score = wake_ups**2 / int(is_large.sum()) / max(1, observed)
    return Comb(float(interval_s), numbers, is_on, observed, score)


def _count_observed(recording: Recording, pulses: Pulses, times_s: FloatArray, tolerance_s: float) -> int:
    """Return the number of *times_s* outside gaps of the recording and outside pulses that began earlier."""
    index = np.clip(np.searchsorted(recording.times_s, times_s, side="right") - 1, 0, None)
    is_recorded = times_s < recording.times_s[index] + recording.lengths_s[index] + tolerance_s
    before = np.searchsorted(pulses.starts_s, times_s - tolerance_s) - 1
    is_awake = (before >= 0) & (pulses.ends_s[before] > times_s)
    return int((is_recorded & ~is_awake).sum())
