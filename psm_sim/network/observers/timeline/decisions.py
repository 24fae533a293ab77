"""Decisions of a policy on a timeline: each answer until the next question, and what it has learned."""

from __future__ import annotations

from math import inf
from typing import Any

from psm_sim.network.observers.timeline.trace_file import Process
from psm_sim.policies import Policy, Poll, Rest

_LEAST_CHANGE = 0.002
"""Smaller changes of weights are not drawn: nobody could see them."""


class Decisions:
    """Decisions of one policy.

    Parameters
    ----------
    trace, track
        Where they are shown.
    policy
        Its learner's weights are read, if it has a learner with weights.
    beacon_s
        Time from one beacon to the next, in seconds.
    """

    def __init__(self, trace: Process, track: int, policy: Policy, beacon_s: float) -> None:
        self._trace, self._track, self._beacon_ms = trace, track, 1000 * beacon_s
        self._policy: Any = getattr(policy, "policy", policy)
        self._since_s: float | None = None
        self._name = self._facts = ""
        self._beacons = 0
        self._weights: Any = None

    def asked(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Show the last answer up to now, and keep this one.

        Parameters
        ----------
        time_s, poll, rest
            As :class:`~psm_sim.network.observers.Observer` says of ``asked``.
        """
        self.until(time_s)
        self._since_s, self._name = time_s, _words(rest)
        self._facts = "" if poll is None else (
            f'"slept_ms":{poll.slept_ms:.3f},"held_frames":{poll.held_frames},"held_bytes":{poll.held_bytes}'
        )  # fmt: skip
        if rest.beacons != self._beacons and rest.awake_s < inf:
            self._beacons = rest.beacons
            self._trace.counter("polling time (ms)", time_s, f'"ms":{self._beacon_ms * rest.beacons:.6g}')
        self._learned(time_s)

    def until(self, time_s: float) -> None:
        """Show the last answer up to a time in seconds."""
        if self._since_s is not None:
            self._trace.slice(self._track, self._name, self._since_s, time_s, self._facts)

    def _learned(self, time_s: float) -> None:
        weights = getattr(getattr(self._policy, "learner", None), "weights", None)
        if weights is None or getattr(weights, "ndim", 0) != 1:
            return
        if self._weights is None or abs(weights - self._weights).max() > _LEAST_CHANGE:
            self._weights = weights.copy()
            names = getattr(self._policy, "times_ms", range(weights.size))
            pairs = zip(names, weights.tolist(), strict=False)
            series = ",".join(f'"{name:g} ms":{weight:.4f}' for name, weight in pairs)
            self._trace.counter("weights", time_s, series)


def _words(rest: Rest) -> str:
    if rest.awake_s == inf:
        return "stay awake"
    many = f"{rest.beacons} beacons" if rest.beacons > 1 else "1 beacon"
    doze = f"doze, awake every {many}" if rest.repeat else f"doze for {many}"
    return f"stay awake for {rest.awake_s:.4g} s, then {doze}" if rest.awake_s else doze
