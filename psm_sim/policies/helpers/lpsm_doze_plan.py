"""Plan of LPSM's dozes while no frame is buffered, computed in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.learning.repeated_loss_lookahead import Lookahead

HALF = 0.5 + 1e-9
"""Offset for rounding polling times to beacons.

A polling time that is this close below a half rounds up. A mean on the boundary is thus rounded alike,
independently of the rounding errors of its computation.
"""


class IdlePlan:
    """Plan of LPSM for beacons without buffered frames.

    Each such beacon is one round of the learner with the same losses.

    Parameters
    ----------
    make_lookahead : callable
        Returns the :class:`~psm_sim.learning.repeated_loss_lookahead.Lookahead` of these rounds, or None.
        Called after the first one.
    learn : callable
        Called with the lookahead, the number of rounds that are over, and the number of the next wake-up
        beacon.
    times_ms : ndarray, shape (n,)
        Polling times of the experts, in ms, ascending.
    beacon_s : float
        Beacon interval, in seconds.
    """

    def __init__(
        self,
        make_lookahead: Callable[[], Lookahead | None],
        learn: Callable[[Lookahead, int, int], None],
        times_ms: FloatArray,
        beacon_s: float,
    ) -> None:
        self._make_lookahead, self._learn = make_lookahead, learn
        self._times: FloatArray = times_ms / (1000 * beacon_s)
        self._lookahead: Lookahead

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes as runs of equal length, or nothing if there is no lookahead."""
        lookahead = self._make_lookahead()
        if lookahead is None:
            return
        self._lookahead = lookahead
        for mean_times in lookahead.predictions(self._times):
            yield from _runs(round_to_beacons(mean_times))

    def followed(self, heard: int, until: int) -> None:
        """Learn from the rounds that are over."""
        self._learn(self._lookahead, heard, until)


def round_to_beacons(means: FloatArray) -> IntArray:
    """Round polling times to whole beacon intervals, each at least 1.

    Parameters
    ----------
    means : ndarray, shape (k,)
        Polling times, in beacon intervals.
    """
    return np.maximum((means + HALF).astype(np.intp), 1)


def _runs(beacons: IntArray) -> Iterator[tuple[int, int]]:
    """Yield the length of each doze and the number of its consecutive repetitions."""
    lasts = (beacons[1:] != beacons[:-1]).nonzero()[0]
    start = 0
    for end, doze in zip((lasts + 1).tolist(), beacons[lasts].tolist(), strict=True):
        yield doze, end - start
        start = end
    yield beacons.item(-1), beacons.size - start
