"""Forecasts of the next beacon that a listening policy will receive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from psm_lab.active.selective_sampler import SelectiveSampler
from psm_lab.policies.beacon_features import Features
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
    instance : ndarray, shape (features,)
        Instance of the beacon, of norm 1; empty without a learner.
    """

    number: int
    margin: float
    spread: float
    probability: float
    forced: bool
    instance: FloatArray


class BeaconForecast:
    """Forecast of a learner for the beacons within the longest possible doze.

    Parameters
    ----------
    features : Features
        Features of the beacons.
    sampler : SelectiveSampler
        Learner, and the rule for the probability of receiving a beacon with a margin below 0.
    grid : Beacons
        Beacon times.
    """

    def __init__(self, features: Features, sampler: SelectiveSampler, grid: Beacons) -> None:
        self._features, self._grid = features, grid
        self.learner, self._rule = sampler.learner, sampler.rule

    def next_beacon(self, first: int, draws: Sequence[float]) -> PlannedBeacon:
        """Return the next beacon to receive, by Bernoulli draws; nothing is learnt.

        Parameters
        ----------
        first : int
            Number of the first beacon.
        draws : sequence of float
            Uniform random number of each beacon up to the longest doze.
        """
        last = first + len(draws) - 1
        times_s = np.arange(first, last + 1, dtype=np.float64) * self._grid.interval_s
        instances = self._features.at(times_s)
        margins = self.learner.decision_function(instances).tolist()
        matrix = getattr(self.learner, "G", None)  # only second-order learners have G
        spreads = np.zeros(len(draws)) if matrix is None else (instances @ matrix * instances).sum(axis=1)
        views = zip(draws, instances, margins, spreads.tolist(), strict=True)
        for number, (draw, instance, margin, spread) in enumerate(views, first):
            is_received = margin >= 0 or number == last
            p = 1.0 if is_received else self._rule.query_probability(instance, margin, spread)
            if draw < p:
                break
        return PlannedBeacon(number, margin, spread, p, number == last, instance)

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
        self._rule.query_probability(planned.instance, planned.margin, planned.spread)
        if not is_correct:
            updated = self.learner.learn(planned.instance, label)
            if updated and frames and weight != 1:
                self.learner.w += (weight - 1) * planned.instance
        self._rule.on_label(is_correct)


class RandomListening:
    """Forecast for random listening, which receives every beacon with the same *probability*."""

    learner = None

    def __init__(self, probability: float) -> None:
        self._probability = probability

    def next_beacon(self, first: int, draws: Sequence[float]) -> PlannedBeacon:
        """Return the next beacon to receive. See :meth:`BeaconForecast.next_beacon` for the arguments."""
        number, last = first, first + len(draws) - 1
        while number < last and draws[number - first] >= self._probability:
            number += 1
        p = 1.0 if number == last else self._probability
        return PlannedBeacon(number, -1.0, 0.0, p, number == last, np.empty(0))

    def learn(self, planned: PlannedBeacon, frames: bool, weight: float) -> None:
        """Learn nothing. See :meth:`BeaconForecast.learn` for the arguments."""
