"""Waiting law: how long one waits for an event, learnt from intervals, with proven regret under log loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning.learners import LearnAlpha
from psm_sim.learning.waiting_time_bins import BINS, Curve, shares
from psm_sim.learning.waiting_time_densities import ExponentialExperts, HistogramExperts, load_array

RATES = (1e-4, 1e-3, 0.01, 0.05, 0.2)
"""Switching rates of the Learn-alpha over the experts."""

_MIN_S = 1e-6
"""Least length of an interval: a point would have no share of its bin."""


class WaitingTimeModel:
    """Law of a waiting time: a Learn-alpha mixture of nine histograms and two exponentials.

    Each observation is an interval in which the event came, or after which it had not come yet. The loss of
    an expert is the logarithm of the mass that it gave to the interval, so the mixture's total loss is its
    code length: at most that of the best switching sequence of experts, plus Learn-alpha's regret (thesis,
    section 2.3).

    Parameters
    ----------
    never : float
        Before anything was seen, the odds that the event comes after a minute or never.
    mean_s : float
        Mean of the exponential laws in seconds, before anything was seen.
    prior : float
        Mass of the histograms' prior, in observations.

    Examples
    --------
    >>> law = WaitingTimeModel()
    >>> for _ in range(50):
    ...     loss = law.observe(0.6, 0.7)
    >>> risen, _ = law.at(np.array([0.5, 0.8]))
    >>> bool(risen[0] < 0.05), bool(risen[1] > 0.9)
    (True, True)
    """

    def __init__(self, never: float = 0.25, mean_s: float = 1.0, prior: float = 2.0) -> None:
        for name, value in (("never", never), ("mean_s", mean_s), ("prior", prior)):
            if not 0 < value < inf:
                raise InputError(f"waiting law: {name} is {value!r}; expected a number above 0.")
        self._histograms, self._exponentials = HistogramExperts(prior, never), ExponentialExperts(mean_s)
        self.learner = LearnAlpha(self.experts.shape[0], RATES)
        self._curve: Curve | None = None

    @property
    def rounds(self) -> int:
        """The number of observations learnt."""
        return self.learner.rounds

    @property
    def experts(self) -> FloatArray:
        """The law of each expert, shape (11, 103): the mass of each bin; the exponentials come last."""
        return np.concatenate((self._histograms.masses, self._exponentials.masses))

    @property
    def masses(self) -> FloatArray:
        """The mass of each bin under the mixture, shape (103,); sums to 1."""
        return self.learner.weights @ self.experts

    def observe(self, after_s: float, by_s: float = inf) -> float:
        """Learn that the event came in (after_s, by_s], or with ``inf`` that it had not come by *after_s*.

        Parameters
        ----------
        after_s, by_s : float
            Times since the waiting began, in seconds.

        Returns
        -------
        float
            The log loss of the mixture, in nats; 0 and nothing learnt if the interval is all of time. An
            exponential law may give the interval no mass at all, and then loses inf.

        Raises
        ------
        InputError
            If the interval ends before it begins, or a time is negative or no number.
        """
        if not 0 <= after_s <= by_s or after_s == inf:
            raise InputError(f"waiting law: the interval is ({after_s!r}, {by_s!r}]; expected 0 <= a <= b.")
        if after_s == 0 and by_s == inf:
            return 0.0
        until_s = max(by_s, _MIN_S)
        share = shares(min(after_s, until_s - _MIN_S), until_s)
        likelihood = self.experts @ share
        with np.errstate(divide="ignore"):
            loss = self.learner.update(np.maximum(-np.log(likelihood), 0.0))
        self._histograms.observe(share, likelihood[: len(self._histograms.counts)])
        self._exponentials.observe(after_s, by_s)
        self._curve = None
        return loss

    def at(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability F that the event comes by some times, and the integral of F from 0.

        *times_s* are since the waiting began, in seconds, of any one shape; so is each result.
        """
        if self._curve is None:
            self._curve = Curve.of(self.masses)
        return self._curve.at(times_s)

    def state(self) -> dict[str, Any]:
        """Return all that was learnt as a plain dictionary, fit for JSON, for :meth:`load_state`."""
        laws = {"counts": self._histograms.counts.tolist(), "events": self._exponentials.events.tolist()}
        return {**laws, "waited_s": self._exponentials.waited_s.tolist(), "learner": self.learner.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a *state* saved by a law with the same prior.

        Raises
        ------
        InputError
            If the state is damaged; nothing is changed.
        """
        counts = load_array(state, "counts", (len(self._histograms.counts), BINS), 0.0)
        events = load_array(state, "events", self._exponentials.events.shape, 0.0)
        waited_s = load_array(state, "waited_s", events.shape, 1e-300)
        if not isinstance(state.get("learner"), Mapping):
            raise InputError("waiting law: the saved state has no learner; expected what state() returned.")
        self.learner.load_state(state["learner"])
        self._histograms.counts = counts
        self._exponentials.events, self._exponentials.waited_s = events, waited_s
        self._histograms.recompute()
        self._exponentials.recompute()
        self._curve = None
