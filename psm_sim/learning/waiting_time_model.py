"""Waiting-time model that learns from intervals, with proven regret under log loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.learn_alpha import LearnAlpha

FIRST_S, GROWTH, GROWING = 0.004, 1.1, 101
"""Width of the first bin in seconds, ratio of consecutive edges, and number of bins up to a minute."""

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
    """Return the mass of each bin under exponential distributions with *rates* in 1/s, shape (m, 103)."""
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
        """Return the probability by each time in seconds, of any shape, and its integral from 0."""
        bin_index = np.searchsorted(EDGES_S, times_s, side="right") - 1
        cdf = np.interp(times_s, EDGES_S, self.cdf)
        return cdf, self.integral[bin_index] + (times_s - EDGES_S[bin_index]) * (
            self.cdf[bin_index] + cdf
        ) / 2


HALF_LIVES = (8.0, 64.0, 4096.0)
"""Number of observations after which a histogram has forgotten half of its mass."""
WIDTHS = (0, 3, 10)
"""Number of bins on each side over which a histogram spreads an observation."""
RATE_HALF_LIVES = (16.0, 4096.0)
"""Number of observations after which an exponential distribution has forgotten half of its mass."""

_PRIOR = 2.0
"""Mass of the prior of a histogram, in observations, so that no bin has mass 0."""

_DECAY = 2.0 ** (-1.0 / np.tile(HALF_LIVES, len(WIDTHS)))[:, None]
_RATE_DECAY = 2.0 ** (-1.0 / np.array(RATE_HALF_LIVES))
_KERNELS = [smoothing_matrix(width) for width in WIDTHS]


class HistogramExperts:
    """Histograms of one waiting time with several half-lives and widths.

    Each observation multiplies the counts by a decay factor, and then adds 1 to them. The 1 is divided among
    the bins of the observed interval in proportion to their masses (the E-step of expectation maximisation).

    Parameters
    ----------
    never : float
        Prior odds of the last bin. All other bins have the same prior mass.

    Attributes
    ----------
    masses : ndarray, shape (9, 103)
        Distribution of each histogram.
    counts : ndarray, shape (9, 103)
        Decayed observations.
    """

    def __init__(self, never: float) -> None:
        others = _PRIOR / (1 + never)
        self._prior = np.full(BINS, others / (BINS - 1))
        self._prior[-1] = _PRIOR - others
        self.counts: FloatArray = np.zeros((len(_DECAY), BINS))
        self._recompute()

    def observe(self, shares: FloatArray, likelihood: FloatArray) -> None:
        """Add an observation.

        Parameters
        ----------
        shares : ndarray, shape (103,)
            Share of each bin that lies in the observed interval.
        likelihood : ndarray, shape (9,)
            Probability of the interval under each histogram, above 0.
        """
        self.counts *= _DECAY
        self.counts += self.masses * shares / likelihood[:, None]
        self._recompute()

    def _recompute(self) -> None:
        """Recompute the distributions from :attr:`counts`."""
        groups = zip(np.split(self.counts, len(_KERNELS)), _KERNELS, WIDTHS, strict=True)
        smooth = [counts @ kernel if width else counts for counts, kernel, width in groups]
        masses = np.concatenate(smooth) + self._prior
        self.masses: FloatArray = masses / masses.sum(axis=1, keepdims=True)


class ExponentialExperts:
    """Exponential distributions of one waiting time with several half-lives.

    The rate is the number of events divided by the time waited, both with decay.

    Parameters
    ----------
    mean_s : float
        Prior mean of the waiting time, in seconds, with the weight of half an event.

    Attributes
    ----------
    masses : ndarray, shape (2, 103)
        Mass of each bin under each distribution.
    events, waited_s : ndarray, shape (2,)
        Number of events and time waited, in seconds.
    """

    def __init__(self, mean_s: float) -> None:
        count = len(RATE_HALF_LIVES)
        self.events: FloatArray = np.full(count, 0.5)
        self.waited_s: FloatArray = np.full(count, 0.5 * mean_s)
        self._recompute()

    def observe(self, after_s: float, by_s: float) -> None:
        """Add the interval (after_s, by_s], in seconds.

        An interval without an end adds waiting time but no event.
        """
        censored = by_s == inf
        self.events = _RATE_DECAY * self.events + (not censored)
        self.waited_s = _RATE_DECAY * self.waited_s + (after_s if censored else (after_s + by_s) / 2)
        self._recompute()

    def _recompute(self) -> None:
        """Recompute the distributions from the events and the time waited."""
        self.masses: FloatArray = exponential_masses(self.events / np.maximum(self.waited_s, 1e-9))


RATES = (1e-4, 1e-3, 0.01, 0.05, 0.2)
"""Switching rates of Learn-alpha over the experts."""

_MIN_S = 1e-6
"""Minimum length of an interval, in seconds. An interval of length 0 would have no share of its bin."""


class WaitingTimeModel:
    """Distribution of a waiting time: a Learn-alpha mixture of nine histograms and two exponentials.

    An observation is an interval in which the event occurred, or a time until which it had not occurred. The
    loss of an expert is minus the logarithm of its mass in the interval, so the total loss of the mixture is
    its code length. This code length is at most the code length of the best switching sequence of experts
    plus the regret of Learn-alpha (thesis, section 2.3).

    Parameters
    ----------
    never : float
        Prior odds of the last bin, in which the event occurs after more than a minute or never.
    mean_s : float
        Prior mean of the exponential distributions, in seconds.

    Examples
    --------
    >>> model = WaitingTimeModel()
    >>> for _ in range(50):
    ...     loss = model.observe(0.6, 0.7)
    >>> cdf, _ = model.at(np.array([0.5, 0.8]))
    >>> bool(cdf[0] < 0.05), bool(cdf[1] > 0.9)
    (True, True)
    """

    def __init__(self, never: float = 0.25, mean_s: float = 1.0) -> None:
        for name, value in (("never", never), ("mean_s", mean_s)):
            if not 0 < value < inf:
                raise InputError(f"waiting-time model: {name} must be a number > 0, got {value!r}.")
        self._histograms, self._exponentials = HistogramExperts(never), ExponentialExperts(mean_s)
        self.learner = LearnAlpha(self.experts.shape[0], RATES)
        self._curve: CdfCurve | None = None

    @property
    def rounds(self) -> int:
        """Number of observations learnt."""
        return self.learner.rounds

    @property
    def experts(self) -> FloatArray:
        """Bin masses of each expert, shape (11, 103). The exponentials come last."""
        return np.concatenate((self._histograms.masses, self._exponentials.masses))

    @property
    def masses(self) -> FloatArray:
        """Bin masses of the mixture, shape (103,)."""
        return self.learner.weights @ self.experts

    def observe(self, after_s: float, by_s: float = inf) -> float:
        """Learn that the event occurred in (after_s, by_s].

        If *by_s* is ``inf``, the event had not occurred by *after_s*.

        Parameters
        ----------
        after_s, by_s : float
            Times since the waiting began, in seconds.

        Returns
        -------
        float
            Log loss of the mixture, in nats. If the interval covers all times, the loss is 0 and nothing is
            learnt. An exponential distribution may have no mass in the interval, and then has an infinite
            loss.

        Raises
        ------
        InputError
            If the interval ends before it begins, or a time is negative or NaN.
        """
        if not 0 <= after_s <= by_s or after_s == inf:
            raise InputError(
                f"waiting-time model: the interval (a, b] must satisfy 0 <= a <= b, got "
                f"({after_s!r}, {by_s!r}]."
            )
        if after_s == 0 and by_s == inf:
            return 0.0
        end_s = max(by_s, _MIN_S)
        bin_shares = shares(min(after_s, end_s - _MIN_S), end_s)
        likelihood = self.experts @ bin_shares
        with np.errstate(divide="ignore"):
            loss = self.learner.update(np.maximum(-np.log(likelihood), 0.0))
        self._histograms.observe(bin_shares, likelihood[: len(self._histograms.counts)])
        self._exponentials.observe(after_s, by_s)
        self._curve = None
        return loss

    def at(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability that the event occurs by each time, and its integral from 0.

        Parameters
        ----------
        times_s : ndarray
            Times since the waiting began, in seconds, of any shape.

        Returns
        -------
        tuple of ndarray
            Both arrays have the shape of *times_s*.
        """
        if self._curve is None:
            self._curve = CdfCurve.of(self.masses)
        return self._curve.at(times_s)
