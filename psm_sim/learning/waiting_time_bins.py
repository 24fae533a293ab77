"""Histogram bins of a waiting time, up to one minute and each 10 % wider than the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray

FIRST_S, GROWTH, GROWING = 0.004, 1.1, 101
"""Width of the first bin in seconds, ratio of consecutive edges, and number of growing bins."""

EDGES_S: FloatArray = np.concatenate(([0.0], FIRST_S * GROWTH ** np.arange(GROWING + 1)))
"""Bin edges in seconds, shape (103,), from 0 to 60.6. The last bin means later or never."""

BINS = EDGES_S.size
"""Number of bins, 103, including the last."""

_LOW_S, _HIGH_S, _WIDTH_S = EDGES_S[:-1], EDGES_S[1:], np.diff(EDGES_S)


def shares(after_s: float, by_s: float) -> FloatArray:
    """Return the share of each bin that lies in an interval, shape (103,), each from 0 to 1.

    Parameters
    ----------
    after_s, by_s : float
        Interval (after_s, by_s] in seconds; *by_s* may be ``inf``. The last bin has the share 1 if the
        interval extends beyond the last edge.
    """
    bin_shares = np.empty(BINS)
    overlap_s = np.minimum(_HIGH_S, by_s) - np.maximum(_LOW_S, after_s)
    np.divide(np.maximum(overlap_s, 0.0), _WIDTH_S, out=bin_shares[:-1])
    bin_shares[-1] = by_s > EDGES_S[-1]
    return bin_shares


def exponential_masses(rates: FloatArray) -> FloatArray:
    """Return the mass of each bin under exponential distributions, shape (m, 103).

    Parameters
    ----------
    rates : ndarray, shape (m,)
        Rates of the distributions, in 1/s.
    """
    survival = np.exp(-rates[:, None] * EDGES_S)
    return np.concatenate((survival[:, :-1] - survival[:, 1:], survival[:, -1:]), axis=1)


def smoothing_matrix(width: int) -> FloatArray:
    """Return the matrix, shape (103, 103), that spreads the mass of each bin over its neighbours.

    The kernel is a triangle of mass 1 over *width* bins on each side. The last bin is not spread.
    """
    distance = np.abs(np.subtract.outer(np.arange(BINS), np.arange(BINS)))
    kernel = np.maximum(0.0, 1 - distance / (width + 1))
    kernel[-1, :-1] = kernel[:-1, -1] = 0.0
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))


class CdfCurve(NamedTuple):
    """Cumulative distribution function at the bin edges, and its integral.

    Attributes
    ----------
    cdf : ndarray, shape (103,)
        Probability at each edge. The distribution is uniform within a bin.
    integral : ndarray, shape (103,)
        Integral of the function from 0, in seconds.
    """

    cdf: FloatArray
    integral: FloatArray

    @classmethod
    def of(cls, masses: FloatArray) -> CdfCurve:
        """Return the curve of the bins' *masses*, shape (103,)."""
        cdf = np.concatenate(([0.0], np.cumsum(masses[:-1])))
        integral = np.concatenate(([0.0], np.cumsum(_WIDTH_S * (cdf[1:] + cdf[:-1]) / 2)))
        return cls(cdf, integral)

    def at(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability by each time, and its integral from 0 in seconds.

        Parameters
        ----------
        times_s : ndarray
            Times in seconds, of any shape.
        """
        bin_index = np.searchsorted(EDGES_S, times_s, side="right") - 1
        cdf = np.interp(times_s, EDGES_S, self.cdf)
        return cdf, self.integral[bin_index] + (times_s - EDGES_S[bin_index]) * (
            self.cdf[bin_index] + cdf
        ) / 2
