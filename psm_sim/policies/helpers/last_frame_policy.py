"""Base class of policies that depend on the time of the last frame."""

from __future__ import annotations

from psm_sim.common.parameters import check_all
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.poll import Poll


class LastFramePolicy(Policy):
    """Policy that records the time of the last frame sent or received.

    The start of the run counts as a frame.
    """

    last_s: float = 0.0
    """Time of the last frame, in seconds."""

    def __post_init__(self) -> None:
        check_all(self, f"policy {self.name}")
        self.start(self.beacon_s)

    def start(self, beacon_s: float) -> None:
        """Start with a frame at time 0."""
        super().start(beacon_s)
        self.last_s = 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Record the time of a frame sent."""
        self.last_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Record the time of a frame received, including group addressed frames."""
        self.last_s = now_s

    def after(self, now_s: float, poll: Poll | None, timeout_s: float) -> float:
        """Return the time in seconds to stay awake until *timeout_s* after the last frame.

        Parameters
        ----------
        now_s : float
            Current time, in seconds.
        poll : Poll or None
            Observation at the beacon; None after an uplink packet. *now_s* then counts as the time of the
            last frame, because the packet may have been queued long before.
        timeout_s : float
            Time to stay awake after the last frame, in seconds.
        """
        if poll is None:
            self.last_s = now_s
        return max(0.0, self.last_s + timeout_s - now_s)

    def aligned(self, now_s: float, wait_s: float, interval: int) -> Rest:
        """Return a rest of *wait_s* awake and a doze until the next beacon number divisible by *interval*."""
        past = (self.beacon_grid.after(now_s + wait_s) - 1) % interval
        return Rest(wait_s, interval - past, repeat=not wait_s and not past)
