"""Idle plan: the dozes that LPSM would choose while nothing is held, worked out for many beacons at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.learning.lookahead import Lookahead

HALF = 0.5 + 1e-9
"""Rounding of a polling time to beacons: what is this close below the half counts as the half, and is
rounded up, so that a mean on the very boundary is rounded alike whichever way it was worked out."""

_MARGIN = 1e-6


class IdlePlan:
    """Plan of LPSM: every beacon at which nothing is held is one round with the same losses.

    Parameters
    ----------
    look : callable
        Returns the look at these rounds, or None; called when the first of them is over.
    learn : callable
        Called with that look, the rounds that are over, and the number of the beacon dozed for.
    times_ms : ndarray, shape (n,)
        The experts' polling times, in ms, ascending.
    beacon_s : float
        The beacon interval, in seconds.
    """

    def __init__(
        self,
        look: Callable[[], Lookahead | None],
        learn: Callable[[Lookahead, int, int], None],
        times_ms: FloatArray,
        beacon_s: float,
    ) -> None:
        self._look, self._learn = look, learn
        self._times: FloatArray = times_ms / (1000 * beacon_s)
        self._ahead: Lookahead

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes, as many of one length as come together; none if there is no look ahead."""
        ahead = self._look()
        if ahead is None:
            return
        self._ahead, check = ahead, 1
        for block, means in enumerate(ahead.predictions(self._times), 1):
            beacons = round_to_beacons(means)
            yield from _runs(beacons)
            # Asked ever more seldom: the answer costs as much as a block.
            if block >= check and beacons.item(0) == beacons.item(-1):
                check = 2 * block
                if self._settled(ahead, beacons.item(-1)):
                    yield beacons.item(-1), inf

    def followed(self, heard: int, until: int) -> None:
        """Learn the rounds that are over."""
        self._learn(self._ahead, heard, until)

    def _settled(self, ahead: Lookahead, beacons: int) -> bool:
        """Say whether all further means round to so many *beacons*; the experts' own times need no proof."""
        low, high = beacons - 0.5, beacons + 0.5 - _MARGIN
        above = low <= self._times[0] or ahead.stays_above(low)
        return above and (high > self._times[-1] or ahead.stays_below(high))


def round_to_beacons(means: FloatArray) -> IntArray:
    """Return polling times, shape (k,), in beacon intervals, as whole ones, each at least 1."""
    return np.maximum((means + HALF).astype(np.intp), 1)


def _runs(beacons: IntArray) -> Iterator[tuple[int, int]]:
    """Yield each length of doze with how often it comes in a row."""
    lasts = (beacons[1:] != beacons[:-1]).nonzero()[0]
    start = 0
    for end, doze in zip((lasts + 1).tolist(), beacons[lasts].tolist(), strict=True):
        yield doze, end - start
        start = end
    yield beacons.item(-1), beacons.size - start
