"""Decisions of a policy on a timeline: each answer until the next question, and what it has learned."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from psm_sim.network.observers.timeline.trace_file import Process
from psm_sim.policies import Policy, Poll, Rest

_MIN_CHANGE = 0.002
"""Smaller changes of weights are not drawn: nobody could see them."""

_REMEMBERED = 256


class PolicyDecisions:
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
        self._since_us = -1
        self._text = lru_cache(_REMEMBERED)(lambda *said: trace.slice_text(track, _words(*said)))
        self._begin = self._facts = ""
        self._beacons = 0
        self._weights: Any = None
        self._series = ""

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Show the last answer up to now, and keep this one.

        Parameters
        ----------
        time_s, poll, rest
            As :class:`~psm_sim.network.observers.Observer` says of ``asked``.
        """
        self.until(time_s)
        self._since_us = int(1e6 * time_s + 0.5)
        self._begin = self._text(rest.awake_s, rest.beacons, rest.repeat)
        self._facts = "" if poll is None else (
            f'"slept_ms":{poll.slept_ms:.3f},"buffered_frames":{poll.buffered_frames},"buffered_bytes":{poll.buffered_bytes}'
        )  # fmt: skip
        if rest.beacons != self._beacons and rest.awake_s < inf:
            self._beacons = rest.beacons
            self._trace.counter("polling time (ms)", time_s, f'"ms":{self._beacon_ms * rest.beacons:.6g}')
        self._learned(time_s)

    def until(self, time_s: float) -> None:
        """Show the last answer up to a time in seconds."""
        since_us = self._since_us
        if since_us >= 0:
            lasts_us = int(1e6 * time_s + 0.5) - since_us
            self._trace.add(f'{self._begin}{since_us},"dur":{lasts_us},"args":{{{self._facts}}}}}')

    def _learned(self, time_s: float) -> None:
        weights = getattr(getattr(self._policy, "learner", None), "weights", None)
        if weights is None or getattr(weights, "ndim", 0) != 1:
            return
        if self._weights is None or abs(weights - self._weights).max() > _MIN_CHANGE:
            self._weights = weights.copy()
            shown = weights.tolist()[: self._named(weights.size)]
            self._trace.counter("weights", time_s, self._series % tuple(shown))

    def _named(self, size: int) -> int:
        """Return how many of *size* weights have a name; the first time, make the text that shows them."""
        names = list(getattr(self._policy, "times_ms", range(size)))[:size]
        self._series = self._series or ",".join(f'"{name:g} ms":%.4f' for name in names)
        return len(names)


def _words(awake_s: float, beacons: int, repeat: bool) -> str:
    if awake_s == inf:
        return "stay awake"
    many = f"{beacons} beacons" if beacons > 1 else "1 beacon"
    doze = f"doze, awake every {many}" if repeat else f"doze for {many}"
    return f"stay awake for {awake_s:.4g} s, then {doze}" if awake_s else doze
