"""Search for the wake-ups of a radio that receives beacons: pulses at equal intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.calibration.pulses import Pulses
from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import BoolArray, FloatArray

TU_S = 1.024e-3
"""Time unit of 802.11."""

BEACON_S = 100 * TU_S
"""Beacon interval of most access points."""

_TOLERANCE_S = 2e-3
_MAX_CLOCK_ERROR = 6e-4
_LONGEST_S = 3.1
_SEARCH_S = 30.0
_SEARCHED = 600
_MIN_WAKE_UPS = 5
_MIN_SCORE = 0.35
# Point samples miss most wake-ups, which lowers the score. A comb of any score is accepted if more than this
# share of the large pulses are wake-ups, and if there are at least this many wake-ups.
_MOST, _MANY = 0.8, 30
_CUTS = 6
_SMALLEST = 0.4  # minimum charge of a wake-up, relative to the first quartile of all wake-ups


class Comb(NamedTuple):
    """Wake-ups at equal intervals.

    Attributes
    ----------
    interval_s, beacon_s : float
        Interval between two wake-ups, a multiple of the beacon interval, and the assumed beacon interval.
    numbers : ndarray of int, shape (pulses,)
        Number of the wake-up of each pulse.
    is_on : ndarray of bool, shape (pulses,)
        Whether a pulse is a wake-up.
    observed : int
        Number of wake-ups expected in the recording, outside of gaps and of times when the radio was awake.
    score : float
        Number of wake-ups divided by ``observed``, times the share of the pulses that are wake-ups.
    """

    interval_s: float
    beacon_s: float
    numbers: NDArray[np.int64]
    is_on: BoolArray
    observed: int
    score: float


def find_comb(
    recording: Recording, pulses: Pulses, may_be: BoolArray, beacon_s: float | None = None
) -> Comb | None:
    """Return the wake-ups for beacons among the pulses that *may_be* wake-ups, or None if there are none.

    The intervals tried are multiples of 10 TU up to 1 s and of 100 TU up to 3 s, or multiples of *beacon_s*.
    Such multiples distinguish beacons from the timers of the chip. Small pulses may not be wake-ups, so
    several minimum charges are tried. If several intervals match the same pulses, the interval with the
    fewest missing wake-ups has the highest score.
    """
    tolerance_s = max(_TOLERANCE_S, 1.5 * recording.step_s)
    all_starts_s, charges = pulses.starts_s[may_be], pulses.charges_uc[may_be]
    if charges.size < _MIN_WAKE_UPS:
        return None
    best: tuple[float, float, float] = (0.1, 0.0, 0.0)
    for cut in _cuts(charges):
        starts_s = all_starts_s[charges >= cut][:_SEARCHED] - all_starts_s[0]
        starts_s = starts_s[starts_s < max(_SEARCH_S, starts_s[0])]
        for interval_s in _intervals(beacon_s):
            if starts_s.size >= _MIN_WAKE_UPS and tolerance_s < interval_s / 6:
                score, fitted_s = _quick_score(starts_s, interval_s, tolerance_s)
                if score > best[0] * 1.001:
                    best = score, fitted_s, float(cut)
    score, interval_s, cut = best
    comb = _follow(recording, pulses, may_be, interval_s, cut, tolerance_s) if interval_s else None
    return comb._replace(beacon_s=beacon_s) if comb and beacon_s else comb


def _cuts(charges: FloatArray) -> FloatArray:
    """Return minimum charges that select different numbers of pulses."""
    low, high = np.quantile(charges, (0.02, 0.98))
    tried = np.append(
        np.quantile(charges, np.linspace(0, 0.8, _CUTS)), np.geomspace(max(low, 1e-6), high, _CUTS)
    )
    counts = charges.size - np.searchsorted(np.sort(charges), tried)
    return tried[np.unique(counts, return_index=True)[1]]


def _intervals(beacon_s: float | None) -> list[float]:
    if beacon_s:
        return [beacon_s * count for count in range(1, 1 + max(1, int(_LONGEST_S / beacon_s)))]
    return [TU_S * tu for tu in (*range(20, 1000, 10), *range(1000, 3001, 100))]


def _quick_score(starts_s: FloatArray, interval_s: float, tolerance_s: float) -> tuple[float, float]:
    """Return the best score of an interval within the clock error of *interval_s*, and this interval."""
    span_s = max(float(starts_s[-1]), interval_s)
    count = 2 + int(2 * _MAX_CLOCK_ERROR * span_s / (tolerance_s / 2))
    tried_s = interval_s * (1 + np.linspace(-_MAX_CLOCK_ERROR, _MAX_CLOCK_ERROR, count))
    turns = starts_s / tried_s[:, None]
    phases = _common_phase(turns, tolerance_s / interval_s)[:, None]
    numbers = np.round(turns - phases)
    is_on = np.abs(turns - phases - numbers) * interval_s < tolerance_s
    row = int(is_on.sum(axis=1).argmax())
    wake_ups = np.unique(numbers[row, is_on[row]])
    if wake_ups.size < _MIN_WAKE_UPS:
        return 0.0, interval_s
    chance = 2 * tolerance_s / interval_s
    share = (is_on[row].mean() - chance) / (1 - chance)
    fill = wake_ups.size / (wake_ups[-1] - wake_ups[0] + 1)
    return float(share * fill), float(tried_s[row])


def _common_phase(turns: FloatArray, tolerance: float) -> FloatArray:
    """Return the most common fractional part in each row of *turns*, within a *tolerance*."""
    bins = max(2, int(1 / tolerance))
    rows = np.arange(turns.shape[0])
    index = np.floor(turns % 1.0 * bins).astype(int) % bins
    counts = np.bincount((rows[:, None] * bins + index).ravel(), minlength=rows.size * bins).reshape(-1, bins)
    fullest = (counts + np.roll(counts, -1, axis=1)).argmax(axis=1)[:, None]
    is_near = (index == fullest) | (index == (fullest + 1) % bins)
    means = (np.exp(2j * np.pi * turns) * is_near).sum(axis=1)
    return np.asarray(np.angle(means) / (2 * np.pi))


def _follow(
    recording: Recording,
    pulses: Pulses,
    may_be: BoolArray,
    interval_s: float,
    cut: float,
    tolerance_s: float,
) -> Comb | None:
    """Return the comb of all pulses, by regression of the times of the wake-ups on their numbers."""
    starts_s = pulses.starts_s
    is_large = may_be & (pulses.charges_uc >= cut)
    phase_s, span_s = starts_s[0], _SEARCH_S / 2
    turns = (starts_s[starts_s < phase_s + span_s] - phase_s) / interval_s
    phase_s += interval_s * float(
        _common_phase(turns[None, is_large[: turns.size]], tolerance_s / interval_s)[0]
    )
    while True:
        numbers = np.round((starts_s - phase_s) / interval_s).astype(np.int64)
        errors_s = starts_s - phase_s - interval_s * numbers
        is_on = is_large & (np.abs(errors_s) < tolerance_s)
        used = is_on & (starts_s < starts_s[0] + span_s)
        errors, at = errors_s[used], numbers[used]
        used_errors = (
            np.abs(errors - np.median(errors)) <= 4 * np.median(np.abs(errors - np.median(errors))) + 1e-5
        )
        if np.unique(at[used_errors]).size < _MIN_WAKE_UPS:
            return None
        slope, offset = np.polyfit(at[used_errors], errors[used_errors], 1)
        phase_s, interval_s = phase_s + offset, interval_s + slope
        if span_s > starts_s[-1] - starts_s[0]:
            break
        span_s *= 2
    is_due = may_be & (np.abs(errors_s) < tolerance_s)
    first = np.unique(numbers[is_due], return_index=True)[1]
    largest_uc = np.maximum.reduceat(pulses.charges_uc[is_due], first)
    is_large = may_be & (pulses.charges_uc >= _SMALLEST * np.quantile(largest_uc, 0.25))
    is_on = is_large & is_due
    is_on &= np.append(True, (numbers[1:] != numbers[:-1]) | ~is_on[:-1])
    due = np.arange(numbers[is_on].min(), numbers[is_on].max() + 1)
    observed = _count_observed(recording, pulses, phase_s + interval_s * due, tolerance_s)
    share = is_on.sum() / max(1, is_large.sum())
    score = share * is_on.sum() / max(1, observed)
    is_comb = score > _MIN_SCORE or (share > _MOST and is_on.sum() >= _MANY)
    return Comb(float(interval_s), BEACON_S, numbers, is_on, observed, float(score)) if is_comb else None


def _count_observed(recording: Recording, pulses: Pulses, times_s: FloatArray, tolerance_s: float) -> int:
    """Return how many of the *times_s* are neither in a gap nor in a pulse that began earlier."""
    index = np.clip(np.searchsorted(recording.times_s, times_s, side="right") - 1, 0, None)
    is_recorded = times_s < recording.times_s[index] + recording.lengths_s[index] + tolerance_s
    before = np.searchsorted(pulses.starts_s, times_s - tolerance_s) - 1
    is_awake = (before >= 0) & (pulses.ends_s[before] > times_s)
    return int((is_recorded & ~is_awake).sum())
