"""Beacon turn: when the next beacon goes on the air, and who waits to hear it."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.beacons import Beacons
from psm_sim.network.air_frame import AirCallback, AirFrame
from psm_sim.network.frame_timing import FrameTiming


class BeaconSchedule:
    """Turn of the beacons: each goes on the air a PIFS after it is due, or after the air has become free.

    ``listeners`` are called at the end of the next beacon. While nobody waits for the air, beacons are no
    events: :meth:`passed` says afterwards when the last one was sent. ``tell`` are told of late ones.
    """

    def __init__(self, beacons: Beacons, timing: FrameTiming) -> None:
        self._beacons, self._air_s = beacons, timing.beacon_s
        self._pifs_s = timing.pifs_s
        self._sent = -1
        self.listeners: list[Callable[[], None]] = []
        self.notify: list[AirCallback] = []

    def start_s(self, free_s: float) -> float:
        """Return when the next beacon goes on the air, if that is free from *free_s* seconds on."""
        return max(self._beacons.time(self._sent + 1), free_s) + self._pifs_s

    def sent(self, now_s: float) -> None:
        """Take note that the beacon due last is on the air from now on."""
        self._sent = self._beacons.after(now_s) - 1

    def passed(self, now_s: float, free_s: float) -> float | None:
        """Return when the last beacon went on the air of which nobody has heard; ``None``: there was none.

        Parameters
        ----------
        now_s
            The time, in seconds.
        free_s
            From when on the air was free, in seconds.
        """
        last = self._beacons.after(now_s - self._pifs_s) - 1
        if last <= self._sent:
            return None
        self._sent = last
        return max(self._beacons.time(last), free_s) + self._pifs_s

    def heard(self) -> None:
        """Call the listeners, once."""
        heard, self.listeners = self.listeners, []
        for listener in heard:
            listener()

    def defer(self, free_s: float) -> None:
        """Tell of the beacon that is late since the air is not free before a time in seconds, if one is."""
        due_s = self._beacons.time(self._sent + 1)
        if due_s < free_s:
            start_s, air_s = free_s + self._pifs_s, self._air_s
            late = AirFrame(
                "beacon", False, due_s, start_s, air_s, start_s + air_s, None, False, False, False
            )
            for notify in self.notify:
                notify(late)
