"""Experts on a waiting time: histograms of several memories and widths, and exponential laws."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning.waiting_time_bins import BINS, exponentials, smoothing

HALF_LIVES = (8.0, 64.0, 4096.0)
"""Observations after which a histogram has forgotten half of what it saw."""
WIDTHS = (0, 3, 10)
"""Bins on each side over which a histogram spreads an observation."""
RATE_HALF_LIVES = (16.0, 4096.0)
"""The same of the exponential laws' rates."""

_KEEP = 2.0 ** (-1.0 / np.tile(HALF_LIVES, len(WIDTHS)))[:, None]
_KEEP_RATE = 2.0 ** (-1.0 / np.array(RATE_HALF_LIVES))
_KERNELS = [smoothing(width) for width in WIDTHS]


class HistogramExperts:
    """Histograms of one waiting time: :attr:`masses` has the law of each, shape (9, 103).

    An interval adds a mass of 1 to each histogram, spread over its bins as that histogram's own law says
    (the E-step of expectation-maximisation), after all mass before it has faded.

    Parameters
    ----------
    prior : float
        Mass of the prior, in observations; above 0, so that nothing is ruled out.
    never : float
        Its mass in the last bin, over that of all others together; these share theirs equally.
    """

    def __init__(self, prior: float, never: float) -> None:
        others = prior / (1 + never)
        self._prior = np.full(BINS, others / (BINS - 1))
        self._prior[-1] = prior - others
        self.counts: FloatArray = np.zeros((len(_KEEP), BINS))
        self.recompute()

    def observe(self, shares: FloatArray, likelihood: FloatArray) -> None:
        """Add an observation.

        Parameters
        ----------
        shares : ndarray, shape (103,)
            The share of each bin that lies in the interval observed.
        likelihood : ndarray, shape (9,)
            The mass of each law in it, above 0.
        """
        self.counts *= _KEEP
        self.counts += self.masses * shares / likelihood[:, None]
        self.recompute()

    def recompute(self) -> None:
        """Work out the laws from :attr:`counts`."""
        groups = zip(np.split(self.counts, len(_KERNELS)), _KERNELS, WIDTHS, strict=True)
        smooth = [counts @ kernel if width else counts for counts, kernel, width in groups]
        masses = np.concatenate(smooth) + self._prior
        self.masses: FloatArray = masses / masses.sum(axis=1, keepdims=True)


class ExponentialExperts:
    """Exponential laws of one waiting time: :attr:`masses` has the law of each, shape (2, 103).

    The rate is the number of events over the time waited, both fading.

    Parameters
    ----------
    mean_s : float
        Mean waiting time in seconds before anything was seen, counted as half an event.
    """

    def __init__(self, mean_s: float) -> None:
        count = len(RATE_HALF_LIVES)
        self.events: FloatArray = np.full(count, 0.5)
        self.waited_s: FloatArray = np.full(count, 0.5 * mean_s)
        self.recompute()

    def observe(self, after_s: float, by_s: float) -> None:
        """Add an interval (after_s, by_s] in seconds; without an end it adds time and no event."""
        censored = by_s == inf
        self.events = _KEEP_RATE * self.events + (not censored)
        self.waited_s = _KEEP_RATE * self.waited_s + (after_s if censored else (after_s + by_s) / 2)
        self.recompute()

    def recompute(self) -> None:
        """Work out the laws from the events and the time waited."""
        self.masses: FloatArray = exponentials(self.events / np.maximum(self.waited_s, 1e-9))


def load_array(state: Mapping[str, Any], key: str, shape: tuple[int, ...], least: float) -> FloatArray:
    """Return an array of a saved state.

    Parameters
    ----------
    state : mapping
        What was saved.
    key : str
        Which of its entries.
    shape : tuple of int
        The shape expected.
    least : float
        The smallest number allowed.

    Raises
    ------
    InputError
        If it is not such an array.
    """
    try:
        found = np.array(state[key], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        found = np.empty(0)
    if found.shape != shape or not np.isfinite(found).all() or (found < least).any():
        raise InputError(
            f"waiting law: {key} of the saved state cannot be used; expected finite numbers of shape {shape},"
            f" at least {least:g} each, as state() returned them."
        )
    return found
