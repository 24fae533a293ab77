"""Listening plan: the beacons that a listening policy will receive during an idle period."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.lab.policies.idle_period_features import IdlePeriod

_MAX_BEACONS = 1000
"""Number of dozes after which a plan ends, to limit memory; the policy then makes another plan."""
_ROWS_PER_DRAW = 64
"""Rows of uniform random numbers generated at once."""


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


class UniformDraws:
    """Uniform random numbers for the Bernoulli draws, used in order.

    There is one row per doze, with one number for each beacon up to the longest doze.
    """

    def __init__(self, rng: np.random.Generator, horizon: int) -> None:
        self._rng, self._horizon = rng, horizon
        self._rows: list[list[float]] = []

    def row(self, index: int) -> list[float]:
        """Return the row with an *index*, counted from the first unused row."""
        while index >= len(self._rows):
            self._rows += self._rng.random((_ROWS_PER_DRAW, self._horizon)).tolist()
        return self._rows[index]

    def discard(self, rows: int) -> None:
        """Discard the first *rows* rows."""
        del self._rows[:rows]


class Planner(Protocol):
    """Policy as its plan uses it."""

    def next_beacon(self, first: int, draws: list[float]) -> PlannedBeacon:
        """Return the beacon received next, if the beacon before number *first* was received and empty.

        *draws* are the uniform random numbers of the beacons from *first* on.
        """


@dataclass
class ListeningPlan:
    """Plan of the dozes while beacons are empty as predicted, so that nothing is learnt from them.

    Attributes
    ----------
    policy, draws
        Forecast of the policy, and its random numbers.
    planned : PlannedBeacon
        Beacon for which the radio is already dozing.
    follow : callable
        Called with the received beacons, and the beacon of the last doze that was started.
    """

    policy: Planner
    draws: UniformDraws
    planned: PlannedBeacon
    follow: Callable[[list[PlannedBeacon], PlannedBeacon], None]

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes up to the first beacon with a positive prediction."""
        self._beacons = [self.planned]
        while self._beacons[-1].margin < 0 and len(self._beacons) <= _MAX_BEACONS:
            last = self._beacons[-1].number
            planned = self.policy.next_beacon(last + 1, self.draws.row(len(self._beacons) - 1))
            self._beacons.append(planned)
            yield planned.number - last, 1

    def followed(self, heard: int, until: int) -> None:
        """Handle the end of the plan after *heard* received beacons.

        *until* is the number of the beacon for which the radio dozed last.
        """
        self.follow(self._beacons[:heard], self._beacons[heard])
