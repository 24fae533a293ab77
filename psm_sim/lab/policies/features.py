"""Features: what a station knows when it decides whether to hear a beacon, for a linear learner."""

from __future__ import annotations

from math import exp

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.policies.base import Frame
from psm_sim.policies.outstanding_requests import OutstandingRequests

CLOCKS, WITH_CONTEXT = 6, 9
"""The number of features without and with the outstanding request among them."""
LISTENED = 2
"""The place of the one feature that depends on which beacons were heard."""

_SENT, _LISTENED, _RECEIVED = 1 / 5, 1 / 3, 1 / 7
"""Scale of the logarithms of the times since the last packet sent, listen and frame received."""
_FADES_S = (1.0, 10.0)
_FADING: FloatArray = -1 / np.array(_FADES_S)[:, None]


class Features:
    """Features of coming beacons, as they will be if nothing happens until then.

    In order: 1; the logarithms of the times since the last packet sent, the last beacon heard and the last
    frame received; two counts of received frames that fade with 1 s and 10 s, squashed by tanh; and with
    *context* whether a request is outstanding, that times the first logarithm, and how many are, a quarter
    each up to one.

    Parameters
    ----------
    context : bool
        Whether the last three are there.
    beacon_s : float
        The beacon interval, in seconds.
    segment_bytes : int
        The payload of a full TCP segment, in bytes.
    """

    def __init__(self, context: bool, beacon_s: float, segment_bytes: int) -> None:
        self.count = WITH_CONTEXT if context else CLOCKS
        self._flows = OutstandingRequests(segment_bytes)
        self._per_beacon = 1 / beacon_s
        self._sent_s = self._listened_s = self._received_s = 0.0
        self._faded = (0.0, 0.0)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self._flows.sent(frame)
        self._sent_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received."""
        self._flows.received(frame)
        (quick, slow), since_s = self._faded, self._received_s - now_s
        self._faded = (1 + quick * exp(since_s / _FADES_S[0]), 1 + slow * exp(since_s / _FADES_S[1]))
        self._received_s = now_s

    def listened(self, now_s: float) -> None:
        """Take note of a beacon heard."""
        self._listened_s = now_s

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return the instances, of length 1, at some times from now on, (n,) in seconds: (n, features)."""
        rows = self.silent(times_s)
        rows[LISTENED] = self.unheard(times_s)
        return np.asarray((rows / np.sqrt((rows * rows).sum(axis=0))).T)

    def silent(self, times_s: FloatArray) -> FloatArray:
        """Return all but the time since a beacon was heard, 0 here, of any length.

        They are those of some times from now on, (n,) in seconds, and stay what they are until a frame is
        sent or received; shape (features, n).
        """
        rows = np.empty((self.count, times_s.size))
        rows[0], rows[LISTENED] = 1.0, 0.0
        since_s = np.maximum(times_s - self._received_s, 0.0)
        rows[1] = self._logarithms(times_s, self._sent_s, _SENT)
        rows[3] = np.log1p(since_s * self._per_beacon) * _RECEIVED
        rows[4:6] = np.tanh(np.exp(since_s * _FADING) * np.array(self._faded)[:, None])
        if self.count == WITH_CONTEXT:
            waiting = self._flows.waiting
            rows[6:7], rows[8] = waiting > 0, min(waiting, 4) / 4
            rows[7] = rows[1] if waiting else 0.0
        return rows

    def unheard(self, times_s: FloatArray) -> FloatArray:
        """Return the time since a beacon was heard as a feature, at some times in seconds, shape (n,)."""
        return self._logarithms(times_s, self._listened_s, _LISTENED)

    def _logarithms(self, times_s: FloatArray, since_s: float, scale: float) -> FloatArray:
        return np.asarray(np.log1p(np.maximum(times_s - since_s, 0.0) * self._per_beacon) * scale)


def unheard_since(beacons: int) -> FloatArray:
    """Return the time since the beacon just heard as a feature, at so many *beacons* that follow it."""
    return np.asarray(np.log1p(np.arange(1.0, beacons + 1)) * _LISTENED)
