"""Wake for the reply of a request after a smoothed round trip."""

from __future__ import annotations

from psm_sim.policies import Frame, Policy, Poll, Rest


class RoundTrip(Policy):
    """Doze for the round trip that is expected, and then hear each beacon until the reply has come.

    The published policy moves the beacons of a station. Here they are fixed, so the station wakes at the
    first beacon after the expected reply. The round trip is smoothed as that of TCP.
    """

    name = "round-trip"

    def __init__(self) -> None:
        self.trip_s: float | None = None
        self.asked_s: float | None = None

    def start(self, beacon_s: float) -> None:
        """Start without a known round trip."""
        super().start(beacon_s)
        self.trip_s = self.asked_s = None

    def sent(self, now_s: float, frame: Frame) -> None:
        """Note the time of a request."""
        if self.asked_s is None and (frame.payload or frame.syn):
            self.asked_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Learn the round trip from the first reply."""
        if self.asked_s is None or frame.group:
            return
        trip_s = now_s - self.asked_s
        self.trip_s = trip_s if self.trip_s is None else 0.875 * self.trip_s + 0.125 * trip_s
        self.asked_s = None

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the reply is expected; without a request, until the next beacon."""
        if self.asked_s is None or self.trip_s is None:
            return Rest(repeat=True)
        expected = self.beacon_grid.after(self.asked_s + self.trip_s)
        return Rest(beacons=max(1, expected - self.beacon_grid.after(now_s) + 1))
