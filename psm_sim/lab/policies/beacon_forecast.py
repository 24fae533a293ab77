"""Outlook: which of the coming beacons a listening policy would hear, as far as its learner and coins say."""

from __future__ import annotations

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.beacons import Beacons
from psm_sim.lab.active.selective import SelectiveSampler
from psm_sim.lab.policies.features import Features, unheard_since
from psm_sim.lab.policies.idle_period import IdlePeriod
from psm_sim.lab.policies.listening_plan import PlannedBeacon

_MAX_BLOCK = 512
"""Beacons of a silence that are looked at together; at first as few as two of the longest dozes have."""
_NONE: FloatArray = np.empty(0)
"""Instance told to a rule: the rules of listening look at margin and spread alone."""


class BeaconForecast:
    """Outlook of a policy: its learner's view of the coming beacons.

    Parameters
    ----------
    features : Features
        What is known of the beacons.
    sampler : Selective
        The learner, and the rule that says with what probability a beacon is heard below margin 0.
    floor : float
        The least probability.
    grid : Beacons
        The beacons.
    most : int
        The longest doze, in beacons.
    """

    def __init__(
        self, features: Features, sampler: SelectiveSampler, floor: float, grid: Beacons, most: int
    ) -> None:
        self._features, self._floor, self._grid, self._most = features, floor, grid, most
        self.learner, self._rule = sampler.learner, sampler.rule
        self._unheard: list[float] = unheard_since(most).tolist()
        self._silence: IdlePeriod | None = None

    def on_frame(self) -> None:
        """Take note that a frame has moved."""
        self._silence = None

    def look(self, first: int, coins: list[float], on_beacon: bool = True) -> PlannedBeacon:
        """Toss the coins of the coming beacons up to the first success; nothing is learnt.

        Parameters
        ----------
        first
            The number of the first beacon.
        coins
            One for each beacon up to the longest doze, from 0 to 1.
        on_beacon
            Whether the beacon before the first one has just been heard; else the features know which was.
        """
        silence, last, chance = self._silence_at(first), first + self._most - 1, self._rule.chance
        unheard = self._unheard if on_beacon else self._features.unheard(self._times_s(first)).tolist()
        views = zip(coins, silence.views(first, unheard), strict=True)
        for number, (coin, (margin, spread)) in enumerate(views, first):
            p = 1.0 if margin >= 0 or number == last else chance(_NONE, margin, spread)
            if coin < p or coin < self._floor:
                break
        p = max(p, self._floor)
        return PlannedBeacon(number, margin, spread, p, number == last, silence, unheard[number - first])

    def learn(self, planned: PlannedBeacon, frames: bool, weight: float) -> None:
        """Learn from a beacon heard; a right prediction changes no learner, and is told to the rule alone.

        Parameters
        ----------
        planned
            The beacon.
        frames
            Whether it showed frames.
        weight
            How many times a frame that was not expected counts, 1 or more.
        """
        label = 1 if frames else -1
        right = label * planned.margin > 0
        self._rule.chance(_NONE, planned.margin, planned.spread)
        if not right:
            moved = self.learner.learn(planned.instance, label)
            if moved and frames and weight != 1:
                self.learner.w += (weight - 1) * planned.instance
            if self._silence is not None:
                self._silence.recompute()
        self._rule.told(right)

    def _silence_at(self, first: int) -> IdlePeriod:
        """Return the present silence, with all beacons from the *first* up to the longest doze."""
        silence = self._silence
        if silence is None or not silence.has(first, self._most):
            size = 2 * self._most if silence is None else min(2 * silence.size, _MAX_BLOCK + self._most)
            rows = self._features.silent(self._times_s(first, size))
            self._silence = silence = IdlePeriod(first, rows, self.learner)
        return silence

    def _times_s(self, first: int, count: int | None = None) -> FloatArray:
        numbers = np.arange(first, first + (self._most if count is None else count), dtype=np.float64)
        return numbers * self._grid.interval_s


class RandomListening:
    """Outlook of random listening: every beacon is heard with the same probability.

    Parameters
    ----------
    chance : float
        The probability.
    most : int
        The longest doze, in beacons.
    """

    learner = None

    def __init__(self, chance: float, most: int) -> None:
        self._chance, self._most = chance, most

    def on_frame(self) -> None:
        """Take note that a frame has moved; it does not matter."""

    def look(self, first: int, coins: list[float], on_beacon: bool = True) -> PlannedBeacon:
        """Toss the coins; *first* and *coins* as for :meth:`BeaconForecast.look`, *on_beacon* is unused."""
        number, last = first, first + self._most - 1
        while number < last and coins[number - first] >= self._chance:
            number += 1
        return PlannedBeacon(number, -1.0, 0.0, 1.0 if number == last else self._chance, number == last)

    def learn(self, planned: PlannedBeacon, frames: bool, weight: float) -> None:
        """Learn nothing; *planned*, *frames* and *weight* as for :meth:`BeaconForecast.learn`."""
