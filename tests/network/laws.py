"""Laws of every run, checked during the run and at its end."""

from __future__ import annotations

from math import inf

import pytest

from psm_sim.beacons import TOLERANCE_S
from psm_sim.network import Observer
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.radio import DOZING
from psm_sim.network.segment import is_null


class Watch(Observer):
    """Observer that checks that a dozing radio receives no frame, and that it follows its policy."""

    def __init__(self):
        self.broken = []
        self.rested, self.dozing, self.due_s = None, False, inf

    def over(self, world):
        """Check *world* from now on, which must have this observer."""
        self.grid, receive = world.beacons, world.wireless_down.deliver

        def watched(segment):
            self.law(world.radio._state is not DOZING, "a frame reached a dozing radio", world.env.now)
            receive(segment)

        world.wireless_down.deliver = watched

    def law(self, holds, words, time_s):
        if not holds:
            self.broken.append(f"{words} at {time_s} s")

    def rest(self, time_s, poll, rest):
        self.rested = rest
        if self.dozing:
            self._dozes_from(time_s)

    def radio(self, time_s, awake):
        self.law(not awake or time_s <= self.due_s + TOLERANCE_S, "it slept too long", time_s)
        self.dozing, self.due_s = not awake, inf
        if not awake:
            self._dozes_from(time_s)

    def beacons(self, first_s, count, every_s):
        self.law(self.grid.on(first_s), "a beacon was heard off the grid", first_s)
        self.law(self.grid.on(every_s) or count == 1, "beacons were heard off the grid", first_s)
        self.law(first_s <= self.due_s + TOLERANCE_S, "it slept through a beacon", first_s)
        self._dozes_from(first_s + (count - 1) * every_s)

    def at_end(self, now_s):
        self.law(not self.dozing or now_s <= self.due_s + TOLERANCE_S, "it sleeps too long", now_s)

    def _dozes_from(self, time_s):
        self.due_s = self.grid.time(self.grid.after(time_s) + self.rested.beacons - 1)


def balance(world, which=""):
    """Check that time, energy and bytes add up, also after a failed run."""
    usage, power = world.usage(), world.topology.power
    assert usage.awake_s + usage.asleep_s == pytest.approx(world.env.now, rel=1e-9), which
    assert min(usage) >= 0, which
    energy_j = power.awake_w * (usage.awake_s - usage.transmit_s) + power.asleep_w * usage.asleep_s
    energy_j += (power.transmit_w or 0.0) * usage.transmit_s
    energy_j += power.beacon_j * usage.beacons + power.wake_j * usage.wake_ups
    energy_j += power.frame_j * usage.frames
    assert usage.total_j == pytest.approx(energy_j, rel=1e-9), which
    lost = {way: world.ends.lost_bytes(way) for way in ("up", "down")}
    arrived = world.client.received_bytes + world.port.dropped_bytes + lost["down"]
    buffered = [segment for _, segment in world.port._buffered]
    waiting = [*buffered, *(segment for _, segment in world.wireless_down.flying)]
    polls = sum(segment.wire_bytes for segment in waiting if is_null(segment))
    assert world.server.sent_bytes == arrived + world.undelivered_bytes - polls, which
    uplink = flying(world.wireless_up) + flying(world.wired_up)
    if isinstance(world.wireless_up, AirLink):
        uplink += world.wireless_up.lost_bytes + world.wireless_up.in_flight_bytes
    assert world.client.sent_bytes == world.server.received_bytes + lost["up"] + uplink, which


def flying(link):
    """Return the bytes in transit on a link, without null data frames, which no host sends."""
    return sum(segment.wire_bytes for _, segment in link.flying if not is_null(segment))
