"""Transmission times of the beacons on a shared channel."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.beacons import Beacons
from psm_sim.network.air_frame import AirCallback, AirFrame
from psm_sim.network.parts.frame_timing import FrameTiming


class BeaconSchedule:
    """Schedule of the beacons, each sent a PIFS after it is due or after the channel becomes free.

    While no contender waits for the channel, beacons cost no events. :meth:`catch_up` then computes
    when the last one was sent.

    Attributes
    ----------
    listeners : list of callable
        Called once, at the end of the next beacon.
    on_late_beacon : list of AirCallback
        Called for each beacon that a busy channel delays.
    """

    def __init__(self, beacons: Beacons, timing: FrameTiming) -> None:
        self._beacons, self._air_s = beacons, timing.beacon_s
        self._pifs_s = timing.pifs_s
        self._sent = -1
        self.listeners: list[Callable[[], None]] = []
        self.on_late_beacon: list[AirCallback] = []

    def start_s(self, free_s: float) -> float:
        """Return when the next beacon is sent if the channel is free from *free_s* seconds on."""
        return max(self._beacons.time(self._sent + 1), free_s) + self._pifs_s

    def mark_sent(self, now_s: float) -> None:
        """Record that the last beacon that is due is sent now."""
        self._sent = self._beacons.after(now_s) - 1

    def catch_up(self, now_s: float, free_s: float) -> float | None:
        """Mark the beacons before *now_s* as sent. Return when the last one was sent.

        Parameters
        ----------
        now_s
            The current time, in seconds.
        free_s
            Time from which the channel was free, in seconds.

        Returns
        -------
        float or None
            Start of the transmission in seconds; None if there was no further beacon.
        """
        last = self._beacons.after(now_s - self._pifs_s) - 1
        if last <= self._sent:
            return None
        self._sent = last
        return max(self._beacons.time(last), free_s) + self._pifs_s

    def notify_listeners(self) -> None:
        """Call the listeners and remove them."""
        listeners, self.listeners = self.listeners, []
        for listener in listeners:
            listener()

    def report_late(self, free_s: float) -> None:
        """Report the next beacon as late if it is due before the channel is free at *free_s* seconds."""
        due_s = self._beacons.time(self._sent + 1)
        if due_s < free_s:
            start_s, air_s = free_s + self._pifs_s, self._air_s
            late = AirFrame(
                "beacon", False, due_s, start_s, air_s, start_s + air_s, None, False, False, False
            )
            for notify in self.on_late_beacon:
                notify(late)
