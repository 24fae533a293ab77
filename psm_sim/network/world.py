"""World: the whole scenario put together, from the browser to the server and back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from simpy import Event

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.browser import Visit
from psm_sim.network.clock import run_events
from psm_sim.network.end_systems import EndSystems, FramePath
from psm_sim.network.link import Link
from psm_sim.network.message_sender import MessageSender
from psm_sim.network.observers import Observer, ObserverHooks, Usage
from psm_sim.network.page_failure_handler import PageFailureHandler
from psm_sim.network.page_visits import PageVisits
from psm_sim.network.station import Station
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.policies import Policy
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page


class Parts(NamedTuple):
    """Parts of a world that a topology can exchange: the hop of its station, and its end systems."""

    hop: WirelessHop
    ends: EndSystems


def plain_parts(topology: Topology) -> Parts:
    """Return the parts of the papers' model, whatever else the topology switches on."""
    hop = WirelessHop(topology)
    return Parts(hop, EndSystems(hop.env, topology))


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
    parts
        Made for this world alone, usually by :func:`~psm_sim.network.build.parts_for`.
    """

    def __init__(
        self, topology: Topology, policy: Policy, observers: Sequence[Observer], parts: Parts
    ) -> None:
        self.hop, self.ends = hop, ends = parts
        self.env, self.beacons, self.ledger, self.power = hop.env, hop.beacons, hop.ledger, topology.power
        self.visits = PageVisits()
        self.events = 0
        self.messenger: MessageSender | None = None
        self.browsing = False
        self.done: Callable[[], None] = lambda: None
        self._hooks = hooks = ObserverHooks([hop.ledger, *hop.observers(), *observers])

        hop.make_links(hooks)
        self.wireless_up, self.wireless_down = hop.up, hop.down
        self.wired_up = Link(self.env, "wired up", topology.wired, hooks.frame)
        self.wired_down = Link(self.env, "wired down", topology.wired, hooks.frame)
        self.access_point = AccessPoint(self.env, topology.access_point)
        hop.attach(self.access_point, self.wired_up)
        self.radio = hop.radio
        self.station = Station(self.env, policy, self.radio, hooks.decisions)
        self.server = ends.host(self.wired_down.send, ends.serve)
        self.client = ends.host(self.station.send)
        # _loaded first: then observers of a page have been told all that the radio did before its end.
        self.browser = ends.browser(self.client, (self._loaded, *hooks.page))
        failures = PageFailureHandler(topology, self.visits, self.access_point, policy.name)
        ends.watch(self.server, self.client, self.browser, failures)

        self._join()
        hop.start(self.station)
        self.station.start(self.beacons.interval_s, topology)
        for notify in hooks.begin:
            notify(topology, policy)

    def _join(self) -> None:
        """Say where frames go at the end of each link, and join the radio to its port and its station."""
        self.wireless_up.deliver = self.wired_up.send
        self.wired_up.deliver = self.server.receive
        self.wired_down.deliver = self.hop.port.forward
        self.wireless_down.deliver = self.radio.receive
        self.radio.deliver = self.station.receiver(self.client.receive)
        self.radio.decide = self.station.rest
        self.hop.port.radio = self.radio

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
        path = self.hop, self.wired_up, self.wired_down, self.station, self.visits, self.messenger
        self.ends.begin(FramePath(*path), pages)
        self.browsing = True
        self._process = self.env.process(self._browse(pages))

    def end(self) -> None:
        """Tell the observers that the last page is complete, now; errors as :meth:`run`."""
        if not self._process.ok:
            failure: Any = self._process.value
            raise failure
        self.radio.advance(self.env.now)
        self.hop.doze.report_plan_followed()
        for notify in self._hooks.finish:
            notify(self.env.now)

    def _send(self, messages: Messages) -> None:
        """Put a messenger on the way of frames: only now, so that a run without one is as fast as ever."""
        self.messenger = messenger = MessageSender(self.env, self.client, self.server, messages)
        self.server.accept = messenger.at_listener(self.ends.serve)
        self.wired_down.deliver = messenger.at_access_point(self.wired_down.deliver)
        self.radio.deliver = messenger.at_station(self.radio.deliver)
        self.wired_up.deliver = messenger.at_server(self.wired_up.deliver)
        self.env.process(messenger.send())

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
            + self.access_point.buffered_bytes
            + self.wireless_down.in_flight_bytes
        )

    def _loaded(self, visit: Visit) -> None:
        self.visits.append(visit, self.usage())
