"""Null data frames and PS-Polls that a plain link implies but does not transmit.

They have no duration, so each is placed at the time of the event that it announces. The frames that a
real station would send follow from the topology, see docs/captures.md.
"""

from __future__ import annotations

from psm_sim.network.parts.capture.pending_frames import NULL_FRAME, PS_POLL, PendingFrames
from psm_sim.network.topology import Topology


class ImpliedFrames:
    """Implied frames of one station.

    Parameters
    ----------
    topology
        Determines how buffered frames are retrieved.
    served
        Whether the station has service periods. It then never announces that it is awake.
    aid
        Association of the station.
    pending
        Receives the frames.

    Attributes
    ----------
    sleeps : bool
        PM bit of the station, as the access point knows it.
    awaited : int
        Number of frames for which a PS-Poll is still to be added. If this is 0 and ``sleeps`` is
        false, :meth:`add_before` has no effect.
    """

    def __init__(self, topology: Topology, served: bool, aid: int, pending: PendingFrames) -> None:
        access_point, poll_ms = topology.access_point, topology.station.ps_poll_ms
        polls = poll_ms > 0 or access_point.late_frames == "wait"
        self._poll_s = poll_ms / 1000
        self._served, self._release = served, access_point.release_on_uplink
        self._announces_awake = not polls and not served
        self._aid, self._pending = aid, pending
        self.awaited = 0
        self.sleeps = False

    def radio(self, time_s: float, awake: bool, by_beacon: bool) -> None:
        """Add the null data frame of a change of the radio state.

        Parameters
        ----------
        time_s, awake
            Time of the change in seconds, and the new state.
        by_beacon
            Whether the station wakes for a beacon. If it wakes to transmit, the PM bit of the
            transmitted frame announces that it is awake.
        """
        if not awake:
            if not self.sleeps:
                self._add_null(time_s, True)
        elif by_beacon:
            if self.sleeps and self._announces_awake:
                self._add_null(time_s, False)
        elif self._release and self._announces_awake:
            self.sleeps = False

    def retrieved(self, time_s: float, frames: int) -> None:
        """Announce that the station is awake, or request *frames* PS-Polls, when buffered frames are sent."""
        if self._announces_awake:
            if self.sleeps:
                self._add_null(time_s, False)
        elif not self._served:
            self.awaited += frames

    def add_before(self, queued_s: float, starts_s: float) -> None:
        """Add the frame that precedes a downlink data frame with these times, in seconds."""
        if self.awaited:
            self.awaited -= 1
            self._pending.add_implied(starts_s - self._poll_s, PS_POLL, self._aid, True)
        elif self.sleeps and not self._served:
            self._add_null(queued_s, False)

    def _add_null(self, time_s: float, sleeps: bool) -> None:
        self.sleeps = sleeps
        self._pending.add_implied(time_s, NULL_FRAME, self._aid, sleeps)
