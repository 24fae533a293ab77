"""Dynamic listen interval: every beacon after traffic, every n-th beacon otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import parameter
from psm_sim.policies import Poll, Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy


@dataclass
class Skip(LastFramePolicy):
    """Policy that receives every beacon after traffic and every n-th one otherwise.

    This is the dynamic listen interval of Talaria TWO (InnoPhase, note on Wi-Fi power management). The
    station stays awake for 12 ms after traffic and then receives every beacon until the next one of the
    listen interval. ``quiet_ms`` extends the time in which every beacon is received.
    """

    name: ClassVar[str] = "skip"

    timeout_ms: float = parameter(12.0, "time awake after a frame", unit="ms", at_least=0, at_most=MAX_MS)
    listen_interval: int = parameter(
        10, "wake for every n-th beacon", unit="beacons", at_least=1, at_most=65_535
    )
    quiet_ms: float = parameter(
        0.0, "minimum time after a frame in which every beacon is received", unit="ms", at_least=0,
        at_most=MAX_MS,
    )  # fmt: skip

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait for the timeout, then doze for one beacon or until the listen interval's next beacon."""
        interval = self.listen_interval
        wait_s = self.after(now_s, poll, self.timeout_ms / 1000)
        next_beacon = self.beacon_grid.after(now_s + wait_s)
        last_fast_beacon = (
            -(-self.beacon_grid.after(self.last_s + self.quiet_ms / 1000) // interval) * interval
        )
        return Rest(wait_s) if next_beacon <= last_fast_beacon else self.aligned(now_s, wait_s, interval)
