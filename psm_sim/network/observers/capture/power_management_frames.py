"""Signals that the plain MAC leaves out: null frames that tell of doze and wake, and PS-Polls.

They take no time there, so that each stands at the moment of what it tells. What a real station would send
follows from the topology: see docs/captures.md.
"""

from __future__ import annotations

from psm_sim.network.observers.capture.pending_frames import NULL_FRAME, PS_POLL, PendingFrames
from psm_sim.network.topology import Topology


class ImpliedFrames:
    """Signals of one station; ``sleeps`` is its power-management bit as the access point knows it.

    ``awaited`` is how many frames it has asked for by PS-Polls still to be told; with neither of the two,
    :meth:`before` has nothing to tell.

    Parameters
    ----------
    topology
        Says how held frames are retrieved.
    served
        Whether the station has service periods: it then never says that it is awake.
    aid
        The number of its association.
    waiting
        Takes the frames of the station.
    """

    def __init__(self, topology: Topology, served: bool, aid: int, waiting: PendingFrames) -> None:
        access_point, poll_ms = topology.access_point, topology.station.ps_poll_ms
        polls = poll_ms > 0 or access_point.late_frames == "wait"
        self._poll_s = poll_ms / 1000
        self._served, self._release = served, access_point.release_on_uplink
        self._says_awake = not polls and not served
        self._aid, self._waiting = aid, waiting
        self.awaited = 0
        self.sleeps = False

    def radio(self, time_s: float, awake: bool, by_beacon: bool) -> None:
        """Tell of a change of the radio's state.

        Parameters
        ----------
        time_s, awake
            When, in seconds, and the state that begins.
        by_beacon
            Whether it wakes for a beacon, and not to send: the frame that it sends says so itself.
        """
        if not awake:
            if not self.sleeps:
                self._say(time_s, True)
        elif by_beacon:
            if self.sleeps and self._says_awake:
                self._say(time_s, False)
        elif self._release and self._says_awake:
            self.sleeps = False

    def retrieved(self, time_s: float, frames: int) -> None:
        """Ask for frames that were held."""
        if self._says_awake:
            if self.sleeps:
                self._say(time_s, False)
        elif not self._served:
            self.awaited += frames

    def before(self, queued_s: float, starts_s: float) -> None:
        """Tell what must precede a data frame to the station, which is queued and starts at some seconds."""
        if self.awaited:
            self.awaited -= 1
            self._waiting.signal(starts_s - self._poll_s, PS_POLL, self._aid, True)
        elif self.sleeps and not self._served:
            self._say(queued_s, False)

    def _say(self, time_s: float, sleeps: bool) -> None:
        self.sleeps = sleeps
        self._waiting.signal(time_s, NULL_FRAME, self._aid, sleeps)
