"""Forecasts of the next beacon that a listening policy will receive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_lab.active.selective_sampler import SelectiveSampler
from psm_lab.policies.beacon_features import Features, IdlePeriod, unheard_since
from psm_sim.beacons import Beacons
from psm_sim.common.array_types import FloatArray


class PlannedBeacon(NamedTuple):
    """Beacon that the radio will receive.

    Attributes
    ----------
    number : int
        Beacon number.
    margin, spread : float
        Margin and spread under the learner.
    probability : float
        Probability of receiving it, above 0.
    forced : bool
        Whether the longest doze has elapsed.
    idle_period : IdlePeriod or None
        Idle period with its features; None without a learner.
    unheard : float
        Feature "time since the last received beacon".
    """

    number: int
    margin: float
    spread: float
    probability: float
    forced: bool
    idle_period: IdlePeriod | None = None
    unheard: float = 0.0

    @property
    def instance(self) -> FloatArray:
        """Instance of the beacon, of norm 1; empty without a learner."""
        return (
            np.empty(0) if self.idle_period is None else self.idle_period.instance(self.number, self.unheard)
        )


_MAX_BLOCK = 512
"""Maximum number of beacons evaluated in one batch; the first batch covers two longest dozes."""
_NONE: FloatArray = np.empty(0)
"""Empty instance for a query rule; the rules of listening use only margin and spread."""


class BeaconForecast:
    """Forecast by a learner for the beacons of an idle period.

    Parameters
    ----------
    features : Features
        Features of the beacons.
    sampler : SelectiveSampler
        Learner, and the rule for the probability of receiving a beacon with a margin below 0.
    grid : Beacons
        Beacon times.
    horizon : int
        Longest doze, in beacons.
    """

    def __init__(self, features: Features, sampler: SelectiveSampler, grid: Beacons, horizon: int) -> None:
        self._features, self._grid, self._horizon = features, grid, horizon
        self.learner, self._rule = sampler.learner, sampler.rule
        self._unheard: list[float] = unheard_since(horizon).tolist()
        self._idle_period: IdlePeriod | None = None

    def on_frame(self) -> None:
        """Handle a sent or received frame."""
        self._idle_period = None

    def next_beacon(self, first: int, draws: list[float], on_beacon: bool = True) -> PlannedBeacon:
        """Return the next beacon to receive, by Bernoulli draws; nothing is learnt.

        Parameters
        ----------
        first : int
            Number of the first beacon.
        draws : list of float
            Uniform random number of each beacon up to the longest doze.
        on_beacon : bool
            Whether the beacon before the first one has just been received. Otherwise the features have the
            time of the last received beacon.
        """
        period, last, p_query = (
            self._idle_period_at(first),
            first + self._horizon - 1,
            self._rule.query_probability,
        )
        unheard = self._unheard if on_beacon else self._features.unheard(self._times_s(first)).tolist()
        views = zip(draws, period.views(first, unheard), strict=True)
        for number, (draw, (margin, spread)) in enumerate(views, first):
            p = 1.0 if margin >= 0 or number == last else p_query(_NONE, margin, spread)
            if draw < p:
                break
        return PlannedBeacon(number, margin, spread, p, number == last, period, unheard[number - first])

    def learn(self, planned: PlannedBeacon, frames: bool, weight: float) -> None:
        """Learn from a received beacon.

        A correct prediction changes no learner and is passed to the query rule only.

        Parameters
        ----------
        planned : PlannedBeacon
            The beacon.
        frames : bool
            Whether frames were buffered.
        weight : float
            Weight of an unexpected frame, 1 or more.
        """
        label = 1 if frames else -1
        is_correct = label * planned.margin > 0
        self._rule.query_probability(_NONE, planned.margin, planned.spread)
        if not is_correct:
            updated = self.learner.learn(planned.instance, label)
            if updated and frames and weight != 1:
                self.learner.w += (weight - 1) * planned.instance
            if self._idle_period is not None:
                self._idle_period.recompute()
        self._rule.on_label(is_correct)

    def _idle_period_at(self, first: int) -> IdlePeriod:
        """Return the current idle period, covering the beacons from *first* to the longest doze."""
        period = self._idle_period
        if period is None or not period.has(first, self._horizon):
            size = 2 * self._horizon if period is None else min(2 * period.size, _MAX_BLOCK + self._horizon)
            rows = self._features.idle(self._times_s(first, size))
            self._idle_period = period = IdlePeriod(first, rows, self.learner)
        return period

    def _times_s(self, first: int, count: int | None = None) -> FloatArray:
        numbers = np.arange(first, first + (self._horizon if count is None else count), dtype=np.float64)
        return numbers * self._grid.interval_s


class RandomListening:
    """Forecast for random listening, which receives every beacon with the same probability.

    Parameters
    ----------
    probability : float
        The probability.
    horizon : int
        Longest doze, in beacons.
    """

    learner = None

    def __init__(self, probability: float, horizon: int) -> None:
        self._probability, self._horizon = probability, horizon

    def on_frame(self) -> None:
        """Ignore a sent or received frame."""

    def next_beacon(self, first: int, draws: list[float], on_beacon: bool = True) -> PlannedBeacon:
        """Return the next beacon to receive.

        See :meth:`BeaconForecast.next_beacon` for *first* and *draws*; *on_beacon* is unused.
        """
        number, last = first, first + self._horizon - 1
        while number < last and draws[number - first] >= self._probability:
            number += 1
        return PlannedBeacon(number, -1.0, 0.0, 1.0 if number == last else self._probability, number == last)

    def learn(self, planned: PlannedBeacon, frames: bool, weight: float) -> None:
        """Learn nothing; see :meth:`BeaconForecast.learn` for *planned*, *frames* and *weight*."""
