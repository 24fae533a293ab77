"""Features: what a station knows when it decides whether to hear a beacon, for a linear learner."""

from __future__ import annotations

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.policies.base import Frame
from psm_sim.policies.flows import Flows

CLOCKS, WITH_CONTEXT = 6, 9
"""The number of features without and with the outstanding request among them."""

_FADING = -1 / np.array([[1.0], [10.0]])
_SENT, _LISTENED, _RECEIVED = range(3)
_SCALE = 1 / np.array([[5.0], [3.0], [7.0]])
"""Scale of the logarithms of the times since the last packet sent, listen and frame received."""


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
        self._flows = Flows(segment_bytes)
        self._per_beacon = 1 / beacon_s
        self._last_s, self._faded = np.zeros((3, 1)), np.zeros((2, 1))

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self._flows.sent(frame)
        self._last_s[_SENT] = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received."""
        self._flows.received(frame)
        self._faded = 1 + self._faded * np.exp((now_s - self._last_s[_RECEIVED]) * _FADING)
        self._last_s[_RECEIVED] = now_s

    def listened(self, now_s: float) -> None:
        """Take note of a beacon heard."""
        self._last_s[_LISTENED] = now_s

    def at(self, times_s: Floats) -> Floats:
        """Return the instances, of length 1, at some times from now on, (n,) in seconds: (n, features)."""
        columns = np.empty((self.count, times_s.size))
        columns[0] = 1.0
        since_s = np.maximum(times_s - self._last_s, 0.0)
        columns[1:4] = np.log1p(since_s * self._per_beacon) * _SCALE
        columns[4:6] = np.tanh(self._faded * np.exp(since_s[_RECEIVED] * _FADING))
        if self.count == WITH_CONTEXT:
            waiting = self._flows.waiting
            columns[6] = waiting > 0
            columns[7] = columns[1] if waiting else 0.0
            columns[8] = min(waiting, 4) / 4
        columns /= np.sqrt(np.einsum("ij,ij->j", columns, columns))
        return columns.T
