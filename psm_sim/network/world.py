"""The whole scenario put together: browser, station, access point, server, and the links between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nextafter
from typing import Any

from simpy import Environment

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.browser import Browser, Visit
from psm_sim.network.host import Host
from psm_sim.network.ledger import EnergyLedger, RadioObserver, Usage
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.server import ServerConnection
from psm_sim.network.station import Station
from psm_sim.network.timer import AFTER_ALL, Alarm
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy
from psm_sim.workload.page import Page


class World:
    """One station under one policy, in one topology.

    Observers, the energy ledger among them, are told what the radio does and change nothing. ``visits``
    has each page as it was loaded, with the ledger's state at its end.
    """

    def __init__(self, topology: Topology, policy: Policy, observers: Sequence[RadioObserver] = ()) -> None:
        self.env = env = Environment()
        self.ledger = EnergyLedger(topology.power)
        beacon_s = topology.beacon.interval_ms / 1000
        self.station = station = Station(
            env, policy, beacon_s, topology.access_point.release_on_uplink, [self.ledger, *observers]
        )
        self._wired_up = Link(env, topology.wired, self._to_server)
        self.wireless_up = Link(env, topology.wireless, self._wired_up.send)
        self.wireless_down = Link(env, topology.wireless, station.receive)
        self.access_point = AccessPoint(env, topology.access_point, self.wireless_down, station)
        self.wired_down = Link(env, topology.wired, self.access_point.forward)
        self.client = Host(env, topology.tcp, station.send)
        persistent = topology.browser.persistent
        self.server = Host(
            env, topology.tcp, self.wired_down.send, lambda end: ServerConnection(env, end, persistent)
        )
        self.browser = Browser(env, self.client, topology.browser)
        station.attach(self.access_point, self.wireless_up, self.client.receive)
        self.visits: list[tuple[Visit, Usage]] = []
        self.events = 0
        if topology.beacon.fire_all:
            self._fire_all_beacons(beacon_s)

    def run(self, pages: Sequence[Page], progress: Callable[[int], None] = lambda _: None) -> None:
        """Load the pages; *progress* is told how many are done. The clock stops at the end of the last."""

        def loaded(visit: Visit) -> None:
            self.visits.append((visit, self.usage()))
            progress(len(self.visits))

        browsing = self.env.process(self.browser.browse(pages, loaded))
        step = self.env.step
        events = 0
        while browsing.is_alive:
            step()
            events += 1
        self.events += events
        if not browsing.ok:  # a process that fails is dead before its failure is raised
            failure: Any = browsing.value
            raise failure

    def usage(self) -> Usage:
        """Return what the radio has used so far."""
        now_s = self.env.now
        self.station.advance(now_s)
        return self.ledger.usage(now_s)

    @property
    def undelivered_bytes(self) -> int:
        """Bytes, headers included, between server and client: on the links and held."""
        return (
            self.wired_down.in_flight_bytes
            + self.access_point.held_bytes
            + self.wireless_down.in_flight_bytes
        )

    def _to_server(self, segment: Segment) -> None:
        self.server.receive(segment)

    def _fire_all_beacons(self, beacon_s: float) -> None:
        number = 0

        def beacon() -> None:
            nonlocal number
            self.station.advance(nextafter(number * beacon_s, inf))
            number += 1
            alarm.at(number * beacon_s)

        alarm = Alarm(self.env, beacon, AFTER_ALL)
        alarm.at(0.0)
