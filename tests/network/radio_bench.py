"""A station on an access point with nothing else: frames are put in by hand."""

from __future__ import annotations

from simpy import Environment

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.ledger import EnergyLedger, RadioObserver
from psm_sim.network.link import Link
from psm_sim.network.segment import Connection, Segment
from psm_sim.network.station import Station
from psm_sim.network.topology import AccessPointParameters, LinkParameters, PowerParameters


class Recorder:
    """Keeps what the radio does."""

    def __init__(self):
        self.changes, self.heard = [], []

    def radio(self, time_s, awake):
        self.changes.append((time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [first_s + number * every_s for number in range(count)]


class RadioBench:
    """The radio alone, over a wireless hop that takes next to no time (a terabit a second)."""

    def __init__(self, policy, beacon_s=0.1, release_on_uplink=True, buffer_frames=256, rate_mbps=1e6):
        self.env = env = Environment()
        self.ledger, self.recorder = EnergyLedger(PowerParameters()), Recorder()
        hop = LinkParameters(rate_mbps, 0.0)
        observers: list[RadioObserver] = [self.ledger, self.recorder]
        self.station = Station(env, policy, beacon_s, release_on_uplink, observers)
        downlink = Link(env, hop, self.station.receive)
        self.delivered: list[float] = []
        parameters = AccessPointParameters(buffer_frames, release_on_uplink)
        self.access_point = AccessPoint(env, parameters, downlink, self.station)
        self.station.attach(
            self.access_point, Link(env, hop, lambda _: None), lambda _: self.delivered.append(env.now)
        )

    def at(self, time_s, action):
        """Do something at a time."""
        self.env.timeout(time_s - self.env.now).callbacks.append(lambda _: action())

    def send_at(self, time_s):
        """The station sends 40 bytes."""
        self.at(time_s, lambda: self.station.send(self.frame(40)))

    def arrive_at(self, time_s, size=1500):
        """A frame for the station reaches the access point."""
        self.at(time_s, lambda: self.access_point.forward(self.frame(size)))

    def run(self, until):
        """Run, and return the beacons heard."""
        self.env.run(until=until)
        self.station.advance(until)
        return [round(time, 6) for time in self.recorder.heard]

    @staticmethod
    def frame(size):
        return Segment(Connection(), 0, size - 40, 0, False, False, size)
