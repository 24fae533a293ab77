"""Sleep decisions and learner weights on a timeline."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from psm_sim.network.parts.timeline.trace_file import Process
from psm_sim.policies import Policy, Poll, Rest

_MIN_CHANGE = 0.002
"""Smaller changes of the weights are not drawn, because they would not be visible."""

_CACHED_TEXTS = 256


class PolicyDecisions:
    """Track of the decisions of one policy.

    Parameters
    ----------
    trace, track
        Process and track on which they are drawn.
    policy
        The policy. The weights of its learner are drawn if it has any.
    beacon_s
        Beacon interval, in seconds.
    """

    def __init__(self, trace: Process, track: int, policy: Policy, beacon_s: float) -> None:
        self._trace, self._track, self._beacon_ms = trace, track, 1000 * beacon_s
        self._policy: Any = getattr(policy, "policy", policy)
        self._since_us = -1
        self._text = lru_cache(_CACHED_TEXTS)(lambda *rest: trace.slice_text(track, _describe_rest(*rest)))
        self._begin = self._facts = ""
        self._beacons = 0
        self._weights: Any = None
        self._series = ""

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Draw the previous decision up to now, and record this one.

        Parameters
        ----------
        time_s, poll, rest
            As for :meth:`Observer.decision <psm_sim.network.observers.Observer.decision>`.
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
        self._draw_weights(time_s)

    def until(self, time_s: float) -> None:
        """Draw the previous decision up to *time_s* seconds."""
        since_us = self._since_us
        if since_us >= 0:
            lasts_us = int(1e6 * time_s + 0.5) - since_us
            self._trace.add(f'{self._begin}{since_us},"dur":{lasts_us},"args":{{{self._facts}}}}}')

    def _draw_weights(self, time_s: float) -> None:
        weights = getattr(getattr(self._policy, "learner", None), "weights", None)
        if weights is None or getattr(weights, "ndim", 0) != 1:
            return
        if self._weights is None or abs(weights - self._weights).max() > _MIN_CHANGE:
            self._weights = weights.copy()
            shown = weights.tolist()[: self._count_named(weights.size)]
            self._trace.counter("weights", time_s, self._series % tuple(shown))

    def _count_named(self, size: int) -> int:
        """Return how many of *size* weights have a name, and format their template on the first call."""
        names = list(getattr(self._policy, "times_ms", range(size)))[:size]
        self._series = self._series or ",".join(f'"{name:g} ms":%.4f' for name in names)
        return len(names)


def _describe_rest(awake_s: float, beacons: int, repeat: bool) -> str:
    if awake_s == inf:
        return "stay awake"
    count = f"{beacons} beacons" if beacons > 1 else "1 beacon"
    doze = f"doze, awake every {count}" if repeat else f"doze for {count}"
    return f"stay awake for {awake_s:.4g} s, then {doze}" if awake_s else doze
