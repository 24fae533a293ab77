"""Waiting-time model that learns from intervals, with proven regret under log loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.thesis_learners import LearnAlpha
from psm_sim.learning.waiting_time_bins import BINS, CdfCurve, shares
from psm_sim.learning.waiting_time_experts import ExponentialExperts, HistogramExperts, load_array

RATES = (1e-4, 1e-3, 0.01, 0.05, 0.2)
"""Switching rates of Learn-alpha over the experts."""

_MIN_S = 1e-6
"""Minimum length of an interval, in seconds. A point would have no share of its bin."""


class WaitingTimeModel:
    """Distribution of a waiting time: a Learn-alpha mixture of nine histograms and two exponentials.

    An observation is an interval in which the event occurred, or a time until which it had not occurred. The
    loss of an expert is minus the logarithm of its mass in the interval, so the total loss of the mixture is
    its code length. It is at most the code length of the best switching sequence of experts plus the regret
    of Learn-alpha (thesis, section 2.3).

    Parameters
    ----------
    never : float
        Prior odds that the event occurs after a minute or never.
    mean_s : float
        Prior mean of the exponential distributions, in seconds.
    prior : float
        Mass of the histograms' prior, in observations.

    Examples
    --------
    >>> model = WaitingTimeModel()
    >>> for _ in range(50):
    ...     loss = model.observe(0.6, 0.7)
    >>> cdf, _ = model.at(np.array([0.5, 0.8]))
    >>> bool(cdf[0] < 0.05), bool(cdf[1] > 0.9)
    (True, True)
    """

    def __init__(self, never: float = 0.25, mean_s: float = 1.0, prior: float = 2.0) -> None:
        for name, value in (("never", never), ("mean_s", mean_s), ("prior", prior)):
            if not 0 < value < inf:
                raise InputError(f"waiting-time model: {name} must be a number > 0, got {value!r}.")
        self._histograms, self._exponentials = HistogramExperts(prior, never), ExponentialExperts(mean_s)
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

        With *by_s* = ``inf``, learn that it had not occurred by *after_s*.

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

    def state(self) -> dict[str, Any]:
        """Return the learnt state as a JSON-compatible dictionary.

        See :meth:`load_state`.
        """
        experts = {"counts": self._histograms.counts.tolist(), "events": self._exponentials.events.tolist()}
        return {**experts, "waited_s": self._exponentials.waited_s.tolist(), "learner": self.learner.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a *state* saved by a model with the same prior.

        Raises
        ------
        InputError
            If the state is damaged. The model is then unchanged.
        """
        counts = load_array(state, "counts", (len(self._histograms.counts), BINS), 0.0)
        events = load_array(state, "events", self._exponentials.events.shape, 0.0)
        waited_s = load_array(state, "waited_s", events.shape, 1e-300)
        if not isinstance(state.get("learner"), Mapping):
            raise InputError(
                "waiting-time model: the saved state has no learner; expected the result of state()."
            )
        self.learner.load_state(state["learner"])
        self._histograms.counts = counts
        self._exponentials.events, self._exponentials.waited_s = events, waited_s
        self._histograms.recompute()
        self._exponentials.recompute()
        self._curve = None
