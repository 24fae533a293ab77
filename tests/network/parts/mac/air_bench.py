"""Stations on a channel without hosts, for tests that inject frames."""

from __future__ import annotations

from dataclasses import replace

from simpy import Environment

from psm_sim.network import Observer, load_topology
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.observers import ObserverHooks
from psm_sim.network.parts.mac.bss import Bss
from psm_sim.network.parts.mac.wireless_hop import MacHop
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.station import Station

LEGACY = {"access_point.release_on_uplink": False}


class Recorder(Observer):
    """Record the states of the radio, and the times of frames in ms."""

    def __init__(self):
        self.changes, self.heard, self.up, self.down = [], [], [], []

    def radio(self, time_s, awake):
        self.changes.append((round(1000 * time_s, 3), awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [round(1000 * (first_s + number * every_s), 3) for number in range(count)]

    def frame(self, link, queued_s, arrives_s, segment):
        times_ms = self.up if link.name == "wireless up" else self.down
        times_ms.append((round(1000 * queued_s, 3), round(1000 * arrives_s, 3)))


class AirBench:
    """Access point with a station per policy, and beacons every 100 ms."""

    def __init__(self, *policies, **settings):
        self.env = env = Environment()
        seed = settings.pop("seed", 1)
        topology = replace(load_topology("three-node", {"mac.model": "dcf"} | settings), seed=seed)
        self.topology = topology
        self.bss = Bss(env, topology)
        self.stations, self.ports, self.recorders, self.ledgers, self.hops = [], [], [], [], []
        for policy in policies:
            self.join(policy)

    def join(self, policy):
        topology, env = self.topology, self.env
        ledger, recorder = EnergyLedger(topology.power), Recorder()
        hooks = ObserverHooks([ledger, recorder])
        hop = MacHop(topology, self.bss)
        hop.ledger = ledger
        hop.make_links(hooks)
        hop.attach(hop.up)
        up, down, port, radio = hop.up, hop.down, hop.port, hop.radio
        station = Station(env, policy, radio)
        up.deliver, down.deliver = lambda _: None, radio.receive
        radio.deliver = lambda _: None
        port.radio, radio.decide = radio, station.rest
        station.start(self.bss.beacons.interval_s, topology)
        self.stations.append(station)
        self.ports.append(port)
        self.recorders.append(recorder)
        self.ledgers.append(ledger)
        self.hops.append(hop)

    def at(self, time_s, action):
        """Schedule *action* at *time_s*."""
        self.env.timeout(time_s - self.env.now).callbacks.append(lambda _: action())

    def send_at(self, time_s, size=1500, station=0):
        """Schedule an uplink packet of a station."""
        self.at(time_s, lambda: self.stations[station].send(self.frame(size)))

    def arrive_at(self, time_s, size=1500, station=0):
        """Schedule a packet for a station at the access point."""
        self.at(time_s, lambda: self.ports[station].forward(self.frame(size)))

    def run(self, until=1.0):
        """Run, and return the recorder of the first station."""
        self.env.run(until=until)
        for station in self.stations:
            station._radio.advance(until)
        return self.recorders[0]

    @staticmethod
    def frame(size):
        return Segment(ConnectionId(), 0, size - 40, 0, False, False, size)
