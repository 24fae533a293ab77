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
        self._make_room(0)

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
        if times_s.size != self._rows.shape[1]:
            self._make_room(times_s.size)
        np.subtract(times_s, self._last_s, out=self._since_s)
        np.maximum(self._since_s, 0.0, out=self._since_s)
        np.log1p(np.multiply(self._since_s, self._per_beacon, out=self._logs), out=self._logs)
        np.multiply(self._logs, _SCALE, out=self._logs)
        np.exp(np.multiply(self._since_s[_RECEIVED], _FADING, out=self._counts), out=self._counts)
        np.tanh(np.multiply(self._faded, self._counts, out=self._counts), out=self._counts)
        if self.count == WITH_CONTEXT:
            waiting = self._flows.waiting
            self._rows[6] = waiting > 0
            self._rows[7] = self._rows[1] if waiting else 0.0
            self._rows[8] = min(waiting, 4) / 4
        norms: Floats = np.sqrt(np.einsum("ij,ij->j", self._rows, self._rows))
        return (self._rows / norms).T

    def _make_room(self, times: int) -> None:
        # Kept from call to call, as are its parts: making them takes as long as filling them.
        self._rows, self._since_s = np.ones((self.count, times)), np.empty((3, times))
        self._logs, self._counts = self._rows[1:4], self._rows[4:6]
