"""Radio and access point without hosts, for tests that inject frames."""

from __future__ import annotations

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.access_point import Port
from psm_sim.network.doze import Doze
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.link import Link
from psm_sim.network.observers import Observer, ObserverHooks
from psm_sim.network.radio import Radio
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.station import Station
from psm_sim.network.topology_sections import AccessPointParameters, LinkParameters, PowerParameters


class Recorder(Observer):
    """Record the states of the radio and its beacons."""

    def __init__(self):
        self.changes, self.heard = [], []

    def radio(self, time_s, awake):
        self.changes.append((time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [round(first_s + number * every_s, 6) for number in range(count)]


class RadioBench:
    """Radio without hosts, on a wireless hop of 0.1 Tbit/s that takes almost no time."""

    def __init__(
        self,
        policy,
        beacon_s=0.1,
        release_on_uplink=True,
        late_frames="join",
        buffer_frames=256,
        rate_mbps=1e5,
    ):
        self.env = env = Environment()
        self.ledger, self.recorder = EnergyLedger(PowerParameters()), Recorder()
        hooks = ObserverHooks([self.ledger, self.recorder])
        hop = LinkParameters(rate_mbps, 0.0)
        uplink, downlink = Link(env, "wireless up", hop), Link(env, "wireless down", hop)
        parameters = AccessPointParameters(buffer_frames, release_on_uplink, late_frames)
        self.port = Port(env, parameters, downlink)
        self.radio = Radio(env, Doze(Beacons(beacon_s)), self.port, uplink, hooks.radio, hooks.beacons)
        self.station = Station(env, policy, self.radio)
        self.delivered: list[float] = []
        uplink.deliver, downlink.deliver = lambda _: None, self.radio.receive
        self.radio.deliver = lambda _: self.delivered.append(env.now)
        self.port.radio, self.radio.decide = self.radio, self.station.rest
        policy.start(beacon_s)

    def at(self, time_s, action):
        """Schedule *action* at *time_s*."""
        self.env.timeout(time_s - self.env.now).callbacks.append(lambda _: action())

    def send_at(self, time_s):
        """Schedule an uplink packet of 40 bytes."""
        self.at(time_s, lambda: self.station.send(self.frame(40)))

    def arrive_at(self, time_s, size=1500):
        """Schedule a frame for the station at the access point."""
        self.at(time_s, lambda: self.port.forward(self.frame(size)))

    def run(self, until):
        """Run, and return the times of the received beacons."""
        self.env.run(until=until)
        self.radio.advance(until)
        return self.recorder.heard

    @staticmethod
    def frame(size):
        return Segment(ConnectionId(), 0, size - 40, 0, False, False, size)
