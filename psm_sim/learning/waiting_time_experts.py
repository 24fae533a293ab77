"""Experts on a waiting time: histograms and exponential distributions."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.waiting_time_bins import BINS, exponential_masses, smoothing_matrix

HALF_LIVES = (8.0, 64.0, 4096.0)
"""Number of observations after which a histogram has forgotten half of its mass."""
WIDTHS = (0, 3, 10)
"""Number of bins on each side over which a histogram spreads an observation."""
RATE_HALF_LIVES = (16.0, 4096.0)
"""Number of observations after which an exponential distribution has forgotten half of its mass."""

_DECAY = 2.0 ** (-1.0 / np.tile(HALF_LIVES, len(WIDTHS)))[:, None]
_RATE_DECAY = 2.0 ** (-1.0 / np.array(RATE_HALF_LIVES))
_KERNELS = [smoothing_matrix(width) for width in WIDTHS]


class HistogramExperts:
    """Histograms of one waiting time with several half-lives and widths.

    An observed interval adds a mass of 1 to each histogram, after the older mass has decayed. The mass is
    divided among the bins of the interval in proportion to the histogram itself (the E-step of expectation
    maximisation).

    Parameters
    ----------
    prior : float
        Mass of the prior, in observations, above 0 so that no bin has mass 0.
    never : float
        Prior odds of the last bin. The other bins share their mass equally.

    Attributes
    ----------
    masses : ndarray, shape (9, 103)
        Distribution of each histogram.
    counts : ndarray, shape (9, 103)
        Decayed observations.
    """

    def __init__(self, prior: float, never: float) -> None:
        others = prior / (1 + never)
        self._prior = np.full(BINS, others / (BINS - 1))
        self._prior[-1] = prior - others
        self.counts: FloatArray = np.zeros((len(_DECAY), BINS))
        self.recompute()

    def observe(self, shares: FloatArray, likelihood: FloatArray) -> None:
        """Add an observation.

        Parameters
        ----------
        shares : ndarray, shape (103,)
            Share of each bin that lies in the observed interval.
        likelihood : ndarray, shape (9,)
            Mass of the interval under each histogram, above 0.
        """
        self.counts *= _DECAY
        self.counts += self.masses * shares / likelihood[:, None]
        self.recompute()

    def recompute(self) -> None:
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
        self.recompute()

    def observe(self, after_s: float, by_s: float) -> None:
        """Add the interval (after_s, by_s], in seconds.

        An interval without an end adds waiting time but no event.
        """
        censored = by_s == inf
        self.events = _RATE_DECAY * self.events + (not censored)
        self.waited_s = _RATE_DECAY * self.waited_s + (after_s if censored else (after_s + by_s) / 2)
        self.recompute()

    def recompute(self) -> None:
        """Recompute the distributions from the events and the time waited."""
        self.masses: FloatArray = exponential_masses(self.events / np.maximum(self.waited_s, 1e-9))


def load_array(state: Mapping[str, Any], key: str, shape: tuple[int, ...], minimum: float) -> FloatArray:
    """Return an array of a saved state.

    Parameters
    ----------
    state : mapping
        Saved state.
    key : str
        Key of the array.
    shape : tuple of int
        Expected shape.
    minimum : float
        Smallest allowed number.

    Raises
    ------
    InputError
        If the entry is not such an array.
    """
    try:
        array = np.array(state[key], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        array = np.empty(0)
    if array.shape != shape or not np.isfinite(array).all() or (array < minimum).any():
        raise InputError(
            f"waiting-time model: {key} of the saved state are invalid; expected finite numbers >="
            f" {minimum:g} of shape {shape}, as returned by state()."
        )
    return array
