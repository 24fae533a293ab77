"""Last frame: the time of the last frame sent or received, and dozes that begin a while after it."""

from __future__ import annotations

from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.poll import Poll


class LastFrame(Policy):
    """Policy that knows when the last frame was sent or received; the start counts as one."""

    last_s: float = 0.0

    def start(self, beacon_s: float) -> None:
        """Begin, as if a frame had just been sent."""
        super().start(beacon_s)
        self.last_s = 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self.last_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received, a group frame too."""
        self.last_s = now_s

    def after(self, now_s: float, poll: Poll | None, timeout_s: float) -> float:
        """Return how long to stay awake yet, in seconds, to be awake for a while after the last frame.

        Parameters
        ----------
        now_s
            The time, in seconds.
        poll
            What was seen; None: an uplink packet has just left, perhaps long after it was handed down.
        timeout_s
            How long to be awake after the last frame, in seconds.
        """
        if poll is None:
            self.last_s = now_s
        return max(0.0, self.last_s + timeout_s - now_s)

    def aligned(self, now_s: float, wait_s: float, interval: int) -> Rest:
        """Return the rest that wakes for the beacons whose numbers a listen interval divides.

        Parameters
        ----------
        now_s
            The time, in seconds.
        wait_s
            How long to stay awake before, in seconds.
        interval
            The listen interval in beacons.
        """
        past = (self.beacon_grid.after(now_s + wait_s) - 1) % interval
        return Rest(wait_s, interval - past, repeat=not wait_s and not past)
