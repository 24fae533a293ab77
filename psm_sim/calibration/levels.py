"""Levels of a current: the base, which may drift, and the level of an awake radio."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import FloatArray

# With half and twice these values, ``python -m tests.calibration.judge --seed 1 2 3`` passes the same 100 of
# 105 recordings.
_WINDOW_S = 0.5
_MIN_WINDOW_SAMPLES = 50


def half_sample_mode(values: FloatArray) -> float:
    """Return the mode of *values* by halving the shortest interval that has half of them (Robertson 1974)."""
    ordered = np.sort(values)
    while ordered.size > 2:
        half = (ordered.size + 1) // 2
        widths = ordered[half - 1 :] - ordered[: ordered.size - half + 1]
        begin = int(widths.argmin())
        ordered = ordered[begin : begin + half]
    return float(ordered.mean())


def track_base(recording: Recording) -> tuple[FloatArray, float]:
    """Return the base in mA at each sample, and the standard deviation of the noise around it.

    The base is the mode in windows of half a second. Windows in which the radio is mostly awake take the base
    of their neighbours. Between the centres of two windows the base is linear. If the windows differ by much
    more than the noise, as between two sleep states, the base jumps.
    """
    currents = recording.currents_ma
    noise = _noise(currents)
    size = max(_MIN_WINDOW_SAMPLES, int(_WINDOW_S / recording.step_s))
    bounds = np.linspace(0, currents.size, max(1, currents.size // size) + 1).astype(int)
    centres = (bounds[1:] + bounds[:-1]) // 2
    found = np.array([_base(currents[begin:end], noise) for begin, end in pairwise(bounds)])
    is_base = found <= _highest_base(currents, float(np.quantile(found, 0.1)))
    centres, found = centres[is_base], found[is_base]
    base = np.interp(np.arange(currents.size), centres, found)
    steps = np.abs(np.diff(found)) > np.maximum(8 * noise, 0.1 * np.minimum(found[1:], found[:-1]))
    for index in np.flatnonzero(steps):
        begin, end = centres[index], centres[index + 1]
        base[begin:end] = _jump(currents[begin:end], found[index], found[index + 1])
    return base, noise


def _noise(currents: FloatArray) -> float:
    """Return the standard deviation of the noise, from the differences of successive samples.

    The mean of the smallest 60 % is above 0 even if the meter rounds to steps larger than the noise.
    """
    differences = np.sort(np.abs(np.diff(currents)))
    return 1.78 * float(differences[: int(0.6 * differences.size)].mean())


def _base(values: FloatArray, noise: float) -> float:
    """Return the mean of the values around their mode."""
    mode = half_sample_mode(values)
    for _ in range(3):
        near = values[np.abs(values - mode) <= max(3 * noise, 1e-3 * abs(mode))]
        mode = float(near.mean()) if near.size else mode
    return mode


def _highest_base(currents: FloatArray, low: float) -> float:
    """Return the limit above which a current is not that of a sleeping chip.

    *low* is the 10 % quantile of the bases of all windows. A processor that starts up draws a third of the
    current of an awake radio. Two sleep states differ by far less.
    """
    above = currents - low
    awake = weighted_mode(currents, np.clip(above, 0, None))
    return low + max(0.1 * (awake - low), 0.3 * low)


def _jump(currents: FloatArray, before: float, after: float) -> FloatArray:
    """Return the base at each sample: *before* up to the jump of the current, then *after*."""
    cost = np.minimum(np.abs(currents - before), abs(after - before)) - np.minimum(
        np.abs(currents - after), abs(after - before)
    )
    at = int(np.concatenate([[0.0], np.cumsum(cost)]).argmin())
    return np.where(np.arange(currents.size) < at, before, after)


def weighted_mode(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean of *values* in the three adjacent bins of 2 % with the largest weight."""
    valid = (weights > 0) & (values > 0)
    if not valid.any():
        return float(values.max())
    values, weights = values[valid], weights[valid]
    bins = np.floor(np.log(values) / 0.02).astype(int)
    counts = np.bincount(bins - bins.min(), weights)
    wide = np.convolve(counts, np.ones(3), "same")
    near = np.abs(bins - bins.min() - wide.argmax()) <= 1
    return float(np.average(values[near], weights=weights[near]))
