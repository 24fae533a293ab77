"""Features of a beacon for a linear learner: the information of a station before it decides to listen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, sqrt

import numpy as np

from psm_lab.active import OnlineLearner
from psm_sim.common.array_types import FloatArray
from psm_sim.policies.base import Frame
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests

CLOCKS, WITH_CONTEXT = 6, 9
"""Number of features without and with the outstanding requests."""
LISTENED = 2
"""Index of the only feature that depends on which beacons were received."""

_SENT, _LISTENED, _RECEIVED = 1 / 5, 1 / 3, 1 / 7
"""Scales of the logarithmic times since the last sent packet, received beacon and received frame."""
_DECAYS_S = (1.0, 10.0)
_DECAY_RATES: FloatArray = -1 / np.array(_DECAYS_S)[:, None]


class Features:
    """Features of future beacons, assuming that nothing happens until then.

    In order:

    - the constant 1
    - the logarithms of the times since the last sent packet, received beacon and received frame
    - two counts of received frames that decay with 1 s and 10 s, mapped by tanh
    - with *context*: whether a request is outstanding, the product of this and the first logarithm, and the
      number of outstanding requests, 1/4 each up to 1

    Parameters
    ----------
    context : bool
        Whether to include the last three features.
    beacon_s : float
        Beacon interval, in seconds.
    """

    def __init__(self, context: bool, beacon_s: float) -> None:
        self.count = WITH_CONTEXT if context else CLOCKS
        self._flows = OutstandingRequests()
        self._per_beacon = 1 / beacon_s
        self._sent_s = self._listened_s = self._received_s = 0.0
        self._decayed = (0.0, 0.0)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a sent frame."""
        self._flows.sent(frame)
        self._sent_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a received frame."""
        self._flows.received(frame)
        (quick, slow), since_s = self._decayed, self._received_s - now_s
        self._decayed = (1 + quick * exp(since_s / _DECAYS_S[0]), 1 + slow * exp(since_s / _DECAYS_S[1]))
        self._received_s = now_s

    def listened(self, now_s: float) -> None:
        """Handle a received beacon."""
        self._listened_s = now_s

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return the instances at future times, shape (n,) in seconds, scaled to norm 1: (n, features)."""
        rows = self.idle(times_s)
        rows[LISTENED] = self.unheard(times_s)
        return np.asarray((rows / np.sqrt((rows * rows).sum(axis=0))).T)

    def idle(self, times_s: FloatArray) -> FloatArray:
        """Return the features at future times without the time since the last received beacon.

        *times_s* has shape (n,), in seconds. The result has shape (features, n) and is not normalised; the
        omitted feature is 0. It stays valid until a frame is sent or received.
        """
        rows = np.empty((self.count, times_s.size))
        rows[0], rows[LISTENED] = 1.0, 0.0
        since_s = np.maximum(times_s - self._received_s, 0.0)
        rows[1] = self._logarithms(times_s, self._sent_s, _SENT)
        rows[3] = np.log1p(since_s * self._per_beacon) * _RECEIVED
        rows[4:6] = np.tanh(np.exp(since_s * _DECAY_RATES) * np.array(self._decayed)[:, None])
        if self.count == WITH_CONTEXT:
            waiting = self._flows.waiting
            rows[6:7], rows[8] = waiting > 0, min(waiting, 4) / 4
            rows[7] = rows[1] if waiting else 0.0
        return rows

    def unheard(self, times_s: FloatArray) -> FloatArray:
        """Return the feature "time since the last received beacon" at times in seconds, shape (n,)."""
        return self._logarithms(times_s, self._listened_s, _LISTENED)

    def _logarithms(self, times_s: FloatArray, since_s: float, scale: float) -> FloatArray:
        return np.asarray(np.log1p(np.maximum(times_s - since_s, 0.0) * self._per_beacon) * scale)


def unheard_since(beacons: int) -> FloatArray:
    """Return the feature "time since the last received beacon" at the *beacons* beacons after it."""
    return np.asarray(np.log1p(np.arange(1.0, beacons + 1)) * _LISTENED)


class IdlePeriod:
    """Beacons of one idle period.

    While no frame is transmitted, only one feature of a beacon depends on which beacons were received before,
    the time since the last one. All other features are computed for many beacons at once. A few sums per
    beacon are stored, from which its margin follows with a few multiplications.

    Parameters
    ----------
    first : int
        Number of the first beacon.
    rows : ndarray, shape (features, n)
        Features of the beacons, except the time since the last received one; see
        :meth:`~psm_lab.policies.beacon_features.Features.idle`.
    learner : OnlineLearner
        Learner of the margins; a second-order learner has a matrix ``G``.
    """

    def __init__(self, first: int, rows: FloatArray, learner: OnlineLearner) -> None:
        self._first, self._rows, self._learner = first, rows, learner
        self._squares: list[float] = (rows * rows).sum(axis=0).tolist()
        self.recompute()

    @property
    def size(self) -> int:
        """Number of beacons."""
        return len(self._squares)

    def has(self, number: int, count: int) -> bool:
        """Return whether the *count* beacons from *number* on are part of the idle period."""
        return self._first <= number and number + count <= self._first + self.size

    def recompute(self) -> None:
        """Recompute the sums after a change of the learner."""
        weights, rows = self._learner.w, self._rows
        self._weight = float(weights[LISTENED])
        self._products: list[float] = (weights @ rows).tolist()
        matrix = getattr(self._learner, "G", None)
        self._is_quadratic = matrix is not None
        if matrix is not None:
            spread = matrix @ rows
            self._own = float(matrix[LISTENED, LISTENED])
            self._mixed: list[float] = (2 * spread[LISTENED]).tolist()
            self._others: list[float] = (rows * spread).sum(axis=0).tolist()

    def views(self, number: int, unheard: Sequence[float]) -> Iterator[tuple[float, float]]:
        """Yield margin and spread of consecutive beacons.

        Parameters
        ----------
        number : int
            Number of the first of them.
        unheard : sequence of float
            Feature "time since the last received beacon" of each of them.
        """
        selection = slice(number - self._first, number - self._first + len(unheard))
        parts = zip(unheard, self._squares[selection], self._products[selection], strict=True)
        if self._is_quadratic:
            yield from self._second_order(parts, selection)
            return
        weight = self._weight
        for own, square, product in parts:
            yield (product + weight * own) / sqrt(square + own * own), 0.0

    def instance(self, number: int, unheard: float) -> FloatArray:
        """Return the instance of the beacon *number*, of norm 1; see :meth:`views` for *unheard*."""
        features = self._rows[:, number - self._first].copy()
        features[LISTENED] = unheard
        return np.asarray(features / sqrt(self._squares[number - self._first] + unheard * unheard))

    def _second_order(
        self, parts: Iterator[tuple[float, float, float]], selection: slice
    ) -> Iterator[tuple[float, float]]:
        weight, diagonal = self._weight, self._own
        for (own, square, product), other, mixed in zip(
            parts, self._others[selection], self._mixed[selection], strict=True
        ):
            length = square + own * own
            spread = (other + own * (mixed + own * diagonal)) / length
            yield (product + weight * own) / sqrt(length) / (1 + spread), spread
