"""Bins of a waiting time: narrow where it is short, ten per cent wider each, up to a minute."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_sim.array_types import FloatArray

FIRST_S, GROWTH, GROWING = 0.004, 1.1, 101
"""Width of the first bin in seconds, ratio of an edge to the one before it, and the number of such bins."""

EDGES_S: FloatArray = np.concatenate(([0.0], FIRST_S * GROWTH ** np.arange(GROWING + 1)))
"""The edges of the bins in seconds, shape (103,), from 0 to 60.6; the last bin is later or never."""

BINS = EDGES_S.size
"""The number of bins, 103: 102 between two edges, and the last."""

_LOW_S, _HIGH_S, _WIDTH_S = EDGES_S[:-1], EDGES_S[1:], np.diff(EDGES_S)


def shares(after_s: float, by_s: float) -> FloatArray:
    """Return the share of each bin that lies in an interval, shape (103,), each from 0 to 1.

    Parameters
    ----------
    after_s, by_s : float
        The interval (after_s, by_s] in seconds; *by_s* may be ``inf``. The last bin counts whole if the
        interval reaches beyond the last edge.
    """
    found = np.empty(BINS)
    inside = np.minimum(_HIGH_S, by_s) - np.maximum(_LOW_S, after_s)
    np.divide(np.maximum(inside, 0.0), _WIDTH_S, out=found[:-1])
    found[-1] = by_s > EDGES_S[-1]
    return found


def exponentials(rates: FloatArray) -> FloatArray:
    """Return the mass of each bin under exponential laws, shape (m, 103); *rates* of shape (m,), in 1/s."""
    survivors = np.exp(-rates[:, None] * EDGES_S)
    return np.concatenate((survivors[:, :-1] - survivors[:, 1:], survivors[:, -1:]), axis=1)


def smoothing(width: int) -> FloatArray:
    """Return the matrix, shape (103, 103), that spreads the mass of each bin over its neighbours.

    The kernel is a triangle over *width* bins on each side, of mass 1 per row; the last bin keeps its own.
    """
    distance = np.abs(np.subtract.outer(np.arange(BINS), np.arange(BINS)))
    kernel = np.maximum(0.0, 1 - distance / (width + 1))
    kernel[-1, :-1] = kernel[:-1, -1] = 0.0
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))


class Curve(NamedTuple):
    """Distribution function F at the edges and its integral G, shape (103,) each; uniform inside a bin."""

    risen: FloatArray
    area: FloatArray

    @classmethod
    def of(cls, masses: FloatArray) -> Curve:
        """Return the curve of the bins' masses, shape (103,)."""
        risen = np.concatenate(([0.0], np.cumsum(masses[:-1])))
        area = np.concatenate(([0.0], np.cumsum(_WIDTH_S * (risen[1:] + risen[:-1]) / 2)))
        return cls(risen, area)

    def at(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return F, and its integral from 0 in seconds, at some times in seconds, of any one shape."""
        place = np.searchsorted(EDGES_S, times_s, side="right") - 1
        risen = np.interp(times_s, EDGES_S, self.risen)
        return risen, self.area[place] + (times_s - EDGES_S[place]) * (self.risen[place] + risen) / 2
