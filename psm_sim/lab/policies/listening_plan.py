"""Listening plan: the beacons that a listening policy would hear in a silence, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.policies.idle_period import IdlePeriod

_MAX_BEACONS = 1000
"""Dozes after which a plan ends, so that it is kept in memory; the policy is then asked for another."""
_DRAWN = 64
"""Rows of coins drawn at once."""


class PlannedBeacon(NamedTuple):
    """Beacon that will be heard.

    Attributes
    ----------
    number : int
        Its number.
    margin, spread : float
        What the learner says of it.
    chance : float
        The probability with which it is heard, above 0.
    forced : bool
        Whether the longest doze is over.
    silence, unheard
        Where its instance is, and one feature of it; None without a learner.
    """

    number: int
    margin: float
    spread: float
    chance: float
    forced: bool
    silence: IdlePeriod | None = None
    unheard: float = 0.0

    @property
    def instance(self) -> FloatArray:
        """Its instance, of length 1; of no features without a learner."""
        return np.empty(0) if self.silence is None else self.silence.instance(self.number, self.unheard)


class CoinTosses:
    """Coins: a row of them for each doze, one for each beacon up to the longest, used in order."""

    def __init__(self, random: np.random.Generator, most: int) -> None:
        self._random, self._most = random, most
        self._rows: list[list[float]] = []

    def row(self, ahead: int) -> list[float]:
        """Return the row that is used after so many others."""
        while ahead >= len(self._rows):
            self._rows += self._random.random((_DRAWN, self._most)).tolist()
        return self._rows[ahead]

    def used(self, rows: int) -> None:
        """Take away the first *rows*."""
        del self._rows[:rows]


class Planner(Protocol):
    """Planner: a policy as its plan sees it."""

    def look(self, first: int, coins: list[float]) -> PlannedBeacon:
        """Return the beacon heard next if the one before *first*, a number, is heard and empty."""


@dataclass
class ListeningPlan:
    """Plan of the dozes while beacons are empty as predicted, so that nothing is learnt from them.

    Attributes
    ----------
    policy, coins
        What looks ahead, and its coins.
    planned : Planned
        The beacon for which the radio dozes already.
    follow : callable
        Called with the beacons heard, and the one for which it dozed on last.
    """

    policy: Planner
    coins: CoinTosses
    planned: PlannedBeacon
    follow: Callable[[list[PlannedBeacon], PlannedBeacon], None]

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes up to the first one whose beacon is predicted to show frames."""
        self._all = [self.planned]
        while self._all[-1].margin < 0 and len(self._all) <= _MAX_BEACONS:
            last = self._all[-1].number
            found = self.policy.look(last + 1, self.coins.row(len(self._all) - 1))
            self._all.append(found)
            yield found.number - last, 1

    def followed(self, heard: int, until: int) -> None:
        """Tell of the beacons *heard*, so many, and of the one *until* which the radio dozed on last."""
        self.follow(self._all[:heard], self._all[heard])
