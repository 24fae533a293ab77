"""Features of a beacon for a linear learner: the information of a station before it decides to listen."""

from __future__ import annotations

from math import exp

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.policies import Frame
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests

CLOCKS, WITH_CONTEXT = 6, 9
"""Number of features without and with the outstanding requests."""

_SENT, _LISTENED, _RECEIVED = range(3)  # rows of the array with the last time of each event
_SCALES: FloatArray = 1 / np.array([[5], [3], [7]])
"""Scales of the logarithmic times since the last sent packet, received beacon and received frame.

With beacons every 0.1 s, the features are 1 after 15 s, 2 s and 110 s.
"""
_DECAYS_S = (1.0, 10.0)  # decay times of the counts: about a page, and about a pause
_DECAY_RATES: FloatArray = -1 / np.array(_DECAYS_S)[:, None]


class Features:
    """Features of future beacons, assuming that nothing happens until then.

    In order:

    - the constant 1
    - the logarithms of the times since the last sent packet, received beacon and received frame
    - two counts of received frames that decay with 1 s and 10 s, mapped by tanh
    - with *context*: whether a request is outstanding, the product of this and the first logarithm, and a
      quarter of the number of outstanding requests, at most 1

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
        self._last_s = [0.0, 0.0, 0.0]
        self._decayed = (0.0, 0.0)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a sent frame."""
        self._flows.sent(frame)
        self._last_s[_SENT] = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a received frame."""
        self._flows.received(frame)
        (quick, slow), since_s = self._decayed, self._last_s[_RECEIVED] - now_s
        self._decayed = (1 + quick * exp(since_s / _DECAYS_S[0]), 1 + slow * exp(since_s / _DECAYS_S[1]))
        self._last_s[_RECEIVED] = now_s

    def listened(self, now_s: float) -> None:
        """Handle a received beacon."""
        self._last_s[_LISTENED] = now_s

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return the instances at future times, shape (n,) in seconds, scaled to norm 1: (n, features)."""
        rows = np.empty((self.count, times_s.size))
        since_s = np.maximum(times_s - np.array(self._last_s)[:, None], 0.0)
        rows[0] = 1.0
        rows[1:4] = np.log1p(since_s * self._per_beacon) * _SCALES
        rows[4:6] = np.tanh(np.exp(since_s[_RECEIVED] * _DECAY_RATES) * np.array(self._decayed)[:, None])
        if self.count == WITH_CONTEXT:
            waiting = self._flows.waiting
            rows[6], rows[8] = waiting > 0, min(waiting, 4) / 4
            rows[7] = rows[1] if waiting else 0.0
        return np.asarray((rows / np.sqrt((rows * rows).sum(axis=0))).T)
