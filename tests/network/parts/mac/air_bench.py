"""A station on the air with nothing else: frames are put in by hand."""

from __future__ import annotations

from dataclasses import replace

from simpy import Environment

from psm_sim.network import Observer, load_topology
from psm_sim.network.access_point import AccessPoint
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.observers import ObserverHooks
from psm_sim.network.parts.mac.bss import Bss
from psm_sim.network.parts.mac.wireless_hop import MacHop
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.station import Station

LEGACY = {"access_point.release_on_uplink": False}


class Recorder(Observer):
    """Keeps what the radio does, and when frames pass, in ms."""

    def __init__(self):
        self.changes, self.heard, self.up, self.down = [], [], [], []

    def radio(self, time_s, awake):
        self.changes.append((round(1000 * time_s, 3), awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [round(1000 * (first_s + number * every_s), 3) for number in range(count)]

    def frame(self, link, queued_s, arrives_s, segment):
        kept = self.up if link.name == "wireless up" else self.down
        kept.append((round(1000 * queued_s, 3), round(1000 * arrives_s, 3)))


class AirBench:
    """One station, or several with the same policies, on one access point; beacons every 100 ms."""

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
        told = ObserverHooks([ledger, recorder])
        hop = MacHop(topology, self.bss)
        hop.ledger = ledger
        hop.make_links(told)
        hop.attach(AccessPoint(env, topology.access_point), hop.up)
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
        """Do something at a time."""
        self.env.timeout(time_s - self.env.now).callbacks.append(lambda _: action())

    def send_at(self, time_s, size=1500, station=0):
        """A station sends a packet."""
        self.at(time_s, lambda: self.stations[station].send(self.frame(size)))

    def arrive_at(self, time_s, size=1500, station=0):
        """A packet for a station reaches the access point."""
        self.at(time_s, lambda: self.ports[station].forward(self.frame(size)))

    def run(self, until=1.0):
        """Run, and return what the first station's recorder has."""
        self.env.run(until=until)
        for station in self.stations:
            station._radio.advance(until)
        return self.recorders[0]

    @staticmethod
    def frame(size):
        return Segment(ConnectionId(), 0, size - 40, 0, False, False, size)
