"""Levels of a current: the base, which may drift, and the level of an awake radio."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import FloatArray

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
    size = max(_MIN_WINDOW_SAMPLES, int(_WINDOW_S / recording.step_s))
    bounds = np.linspace(0, currents.size, max(1, currents.size // size) + 1).astype(int)
    quantum = _quantum(currents)
    centres, modes, noises = [], [], []
    for begin, end in pairwise(bounds):
        mode, noise = _refined_mode(currents[begin:end], quantum)
        centres.append((begin + end) // 2)
        modes.append(mode)
        noises.append(noise)
    found, noise = np.array(modes), float(np.median(noises))
    is_base = found <= _highest_base(currents, float(np.quantile(found, 0.1)))
    kept_centres, kept = np.array(centres)[is_base], found[is_base]
    base = np.interp(np.arange(currents.size), kept_centres, kept)
    steps = np.abs(np.diff(kept)) > np.maximum(8 * noise, 0.1 * np.minimum(kept[1:], kept[:-1])) + quantum
    for index in np.flatnonzero(steps):
        begin, end = kept_centres[index], kept_centres[index + 1]
        base[begin:end] = _jump(currents[begin:end], kept[index], kept[index + 1])
    return base, max(noise, quantum / 4)


def _highest_base(currents: FloatArray, low: float) -> float:
    """Return the highest current of a sleeping chip; *low* is the lowest mode of the *currents*.

    A processor that starts up draws a third of the current of an awake radio. Two sleep states differ by far
    less.
    """
    above = currents - low
    awake = weighted_mode(currents, np.clip(above, 0, None))
    return low + max(0.1 * (awake - low), 0.3 * low)


def _quantum(currents: FloatArray) -> float:
    """Return the step to which a meter rounds, or 0 if the smallest step separates two levels."""
    steps = np.diff(np.unique(currents[:20_000]))
    quantum = float(steps.min()) if steps.size else 0.0
    return quantum if quantum < 0.01 * float(np.ptp(currents)) else 0.0


def _refined_mode(values: FloatArray, quantum: float) -> tuple[float, float]:
    """Return the mean around the mode, and the noise, estimated from the values below the mode."""
    mode = half_sample_mode(values)
    noise = 0.0
    for _ in range(3):
        below = mode - values[values <= mode]
        noise = 1.4826 * float(np.median(below)) if below.size else noise
        near = values[np.abs(values - mode) <= max(3 * noise, 1.5 * quantum, 1e-3 * abs(mode))]
        mode = float(near.mean()) if near.size else mode
    return mode, noise


def _jump(currents: FloatArray, before: float, after: float) -> FloatArray:
    """Return *before* up to the sample where the current jumps, and *after* from there on."""
    cost = np.minimum(np.abs(currents - before), abs(after - before)) - np.minimum(
        np.abs(currents - after), abs(after - before)
    )
    at = int(np.concatenate([[0.0], np.cumsum(cost)]).argmin())
    return np.where(np.arange(currents.size) < at, before, after)


def weighted_mode(values: FloatArray, weights: FloatArray) -> float:
    """Return the mode of positive *values* with *weights*, as the mean in the highest bins of 2 %."""
    valid = (weights > 0) & (values > 0)
    if not valid.any():
        return float(values.max())
    values, weights = values[valid], weights[valid]
    bins = np.floor(np.log(values) / 0.02).astype(int)
    counts = np.bincount(bins - bins.min(), weights)
    wide = np.convolve(counts, np.ones(3), "same")
    near = np.abs(bins - bins.min() - wide.argmax()) <= 1
    return float(np.average(values[near], weights=weights[near]))
