"""World: the whole scenario put together, from the browser to the server and back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from simpy import Event

from psm_sim.network.access_point import AccessPoint, Port
from psm_sim.network.beacon_events import schedule_every_beacon
from psm_sim.network.browser import Browser, Visit
from psm_sim.network.clock import Clock, run_events
from psm_sim.network.device import build, service_periods
from psm_sim.network.doze import Doze
from psm_sim.network.faults.build import build_faults
from psm_sim.network.faults.path import Path
from psm_sim.network.host import Host
from psm_sim.network.link import Link
from psm_sim.network.mac.air_link import hop
from psm_sim.network.mac.build import Cell
from psm_sim.network.messenger import Messenger
from psm_sim.network.observers import Observer, ObserverHooks, Usage
from psm_sim.network.page_failure_log import PageFailureLog
from psm_sim.network.server import ServerConnection
from psm_sim.network.station import Station
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.topology import Topology
from psm_sim.network.visits import Visits
from psm_sim.policies import Policy
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page import Page


class World:
    """World of one station under one policy, in one topology.

    ``visits`` has each page as it was loaded, with the ledger's state at its end; ``events`` is the number of
    SimPy events so far; ``messenger`` has the latencies of what is sent beside the pages, if anything is.
    ``done`` is called when the last page is complete, or one has failed.

    Parameters
    ----------
    topology
        The scenario in numbers.
    policy
        Used as it is, not copied; it is started here, and whoever runs the world tells it of the end.
    observers
        Told what happens, after the energy ledger.
    cell
        Where other stations are, whose clock and air it shares; ``None``: it is alone.
    """

    def __init__(
        self, topology: Topology, policy: Policy, observers: Sequence[Observer] = (), cell: Cell | None = None
    ) -> None:
        self.env = env = Clock() if cell is None else cell.env
        self._topology = topology
        service = service_periods.check_service_period(policy.service, topology)
        self.beacons = beacons = service_periods.wake_grid(topology, service)
        self.ledger = service_periods.make_ledger(topology, service)
        self.visits = Visits()
        self.events = 0
        self.messenger: Messenger | None = None
        self.browsing = False
        self.done: Callable[[], None] = lambda: None
        self.power = topology.power
        self._told = told = ObserverHooks(
            [self.ledger, *build.transmissions(topology, self.ledger), *observers]
        )
        self.wireless_up = hop(env, "wireless up", topology, told.frame, told.air)
        self.wired_up = Link(env, "wired up", topology.wired, told.frame)
        self.wired_down = Link(env, "wired down", topology.wired, told.frame)
        self.wireless_down = hop(env, "wireless down", topology, told.frame, told.air)

        station = 0 if cell is None else cell.stations
        self.faults = faults = build_faults(env, topology, told, lambda: len(self.visits), station)
        host, browser = (Host, Browser) if faults is None else (faults.host, faults.browser)
        self.server = host(env, topology.tcp, self.wired_down.send, self._accept)
        self.access_point = AccessPoint(env, topology.access_point)
        # Who is told of each question to the policy hears none of a plan's beacons, so none is followed.
        self._doze = Doze(beacons, takes_plans=not told.rest and not topology.beacon.loss)
        links = (self.wireless_up, self.wireless_down, self.wired_up)
        self.device, port, self.radio = build.build_radio(
            topology, env, beacons, self._doze, self.access_point, links, self.ledger, told, service, cell
        )
        self.station = Station(env, policy, self.radio, told.questions)
        self.client = host(env, topology.tcp, self.station.send)
        # _loaded first: then observers of a page have been told all that the radio did before its end.
        self.browser = browser(env, self.client, topology.browser, (self._loaded, *told.page))

        self.server.give_up = lambda end: self._given_up("server", end)
        self.client.give_up = lambda end: self._given_up("client", end)
        self._failures = PageFailureLog(topology, self.visits, self.access_point, policy.name)
        self.browser.stalled = self._failures.stalled
        if faults is not None:
            faults.watch(self._failures)
        self._join(port)
        if self.device is not None:
            self.device.start(self.station)
        self.station.start(beacons.interval_s, topology)
        for tell in told.begin:
            tell(topology, policy)
        if topology.beacon.fire_all:
            schedule_every_beacon(env, beacons, self.radio)

    def _join(self, port: Port) -> None:
        """Say where frames go at the end of each link, and join the radio to its port and its station."""
        self.wireless_up.deliver = self.wired_up.send
        self.wired_up.deliver = self.server.receive
        self.wired_down.deliver = port.forward
        self.wireless_down.deliver = self.radio.receive
        self.radio.deliver = self.station.receiver(self.client.receive)
        self.radio.decide = self.station.rest
        port.radio = self.radio

    def run(self, pages: Sequence[Page], messages: Messages = NO_MESSAGES) -> None:
        """Load the pages, and send the messages meanwhile. The clock stops at the end of the last page.

        Raises
        ------
        PageError
            If a page cannot be loaded, and failures are not reported.
        """
        self.begin(pages, messages)
        self.events += run_events(self.env, self, 0x1000)
        while self.browsing:
            self.browser.check()  # now and then; a new byte looks too, so that no stalled page is missed
            self.events += run_events(self.env, self, 0x1000)
        self.end()

    def begin(self, pages: Sequence[Page], messages: Messages = NO_MESSAGES) -> None:
        """Begin to load the pages: ``browsing`` is true until the last one is complete, or one fails."""
        if messages:
            self._send(messages)
        if self.faults is not None:
            self.faults.check(pages)
            links = (self.wireless_up, self.wired_up, self.wired_down, self.wireless_down)
            self.faults.begin(Path(*links, self.radio, self.station, self.device))
        self.browsing = True
        self._process = self.env.process(self._browse(pages))

    def end(self) -> None:
        """Tell the observers that the last page is complete, now; errors as :meth:`run`."""
        if not self._process.ok:
            failure: Any = self._process.value
            raise failure
        self.radio.advance(self.env.now)
        self._doze.settle()
        for tell in self._told.finish:
            tell(self.env.now)

    def _send(self, messages: Messages) -> None:
        """Put a messenger on the way of frames: only now, so that a run without one is as fast as ever."""
        self.messenger = messenger = Messenger(self.env, self.client, self.server, messages)
        self.wired_down.deliver = messenger.at_access_point(self.wired_down.deliver)
        self.radio.deliver = messenger.at_station(self.radio.deliver)
        self.wired_up.deliver = messenger.at_server(self.wired_up.deliver)
        self.env.process(messenger.send())

    def _accept(self, end: Endpoint) -> Application:
        """Return the server's program for a connection that the station opens."""
        standing = self.messenger.accept(end) if self.messenger else None
        if standing or self.faults is None:
            return standing or ServerConnection(self.env, end, self._topology.browser.persistent)
        return self.faults.accept(end, self.server)

    def _browse(self, pages: Sequence[Page]) -> Generator[Event, None, None]:
        # A flag of our own is read at each event in half the time that the process would take to answer.
        try:
            yield from self.browser.browse(pages)
        finally:
            self.browsing = False
            self.done()

    def usage(self) -> Usage:
        """Return what the radio has used so far."""
        now_s = self.env.now
        self.radio.advance(now_s)
        return self.ledger.usage(now_s)

    @property
    def undelivered_bytes(self) -> int:
        """Bytes, headers included, between server and client: on the links and held."""
        return (
            self.wired_down.in_flight_bytes
            + self.access_point.held_bytes
            + self.wireless_down.in_flight_bytes
        )

    def _loaded(self, visit: Visit) -> None:
        self.visits.append(visit, self.usage())

    def _given_up(self, side: str, end: Endpoint) -> None:
        # With faults on, connections of pages that have failed may be given up long after.
        if self.faults is None or self.faults.concerns_page(end):
            self._failures.given_up(side, end)
        elif self.messenger is not None:
            self.messenger.reopen(end, self.faults.abort)
