"""World of one station, from the browser to the server, and the group of worlds on one clock."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from simpy import Event

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_FRAMES
from psm_sim.network.background_messages import BackgroundMessages
from psm_sim.network.browser import Visit
from psm_sim.network.end_systems import EndSystems, FramePath
from psm_sim.network.energy_ledger import Usage
from psm_sim.network.link import Link
from psm_sim.network.observers import Observer, ObserverHooks
from psm_sim.network.page_outcomes import PageFailureHandler, PageVisits
from psm_sim.network.station import Station
from psm_sim.network.timers import run_events
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.policies import Policy
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page


class World:
    """Simulated world of one station with one policy.

    Parameters
    ----------
    topology
        The topology.
    policy
        The policy itself, not a copy. The world calls its ``start``, and the caller must call its ``finish``.
    observers
        Observers, notified after the energy ledger.
    hop, ends
        Wireless hop and end systems, which :func:`~psm_sim.network.build.build_world` creates for this world.

    Attributes
    ----------
    visits : PageVisits
        The loaded and failed pages, each with the usage of the radio at its end.
    events : int
        Number of SimPy events of all worlds in the group until the end of this world's last page.
    messenger : BackgroundMessages or None
        Sender of the background traffic, with its latencies.
    progress : callable
        Called with the number of ended pages at the end of each page.
    done : callable
        Called when the last page is complete, or a page has failed.
    """

    def __init__(
        self,
        topology: Topology,
        policy: Policy,
        observers: Sequence[Observer],
        hop: WirelessHop,
        ends: EndSystems,
    ) -> None:
        self.hop, self.ends = hop, ends
        self.topology, self.env, self.beacons, self.ledger = topology, hop.env, hop.beacons, hop.ledger
        self.visits = PageVisits()
        self.events = 0
        self.messenger: BackgroundMessages | None = None
        self.browsing = False
        self.progress: Callable[[int], None] = lambda _: None
        self.done: Callable[[], None] = lambda: None
        self._hooks = hooks = ObserverHooks([hop.ledger, *hop.observers(), *observers])

        hop.make_links(hooks)
        self.wireless_up, self.wireless_down = hop.up, hop.down
        self.wired_up = Link(self.env, "wired up", topology.wired, hooks.frame)
        self.wired_down = Link(self.env, "wired down", topology.wired, hooks.frame)
        hop.attach(self.wired_up)
        self.port, self.radio = hop.port, hop.radio
        on_frame = hop.ledger.process_frame if topology.power.frame_j else None
        self.station = Station(self.env, policy, self.radio, hooks.decisions, on_frame)
        self.server = ends.host(self.wired_down.send, ends.serve)
        self.client = ends.host(self.station.send)
        # _record_visit must run first: it advances the radio before observers see the page.
        self.browser = ends.browser(self.client, (self._record_visit, *hooks.page))
        failures = PageFailureHandler(topology, self.visits, self.port, policy.name)
        ends.watch(self.server, self.client, self.browser, failures)

        self._connect()
        hop.start(self.station)
        self.station.start(self.beacons.interval_s, topology)
        for begin in hooks.begin:
            begin(topology, policy)

    def _connect(self) -> None:
        """Connect the links to their receivers, and the radio to its port and its station."""
        self.wireless_up.deliver = self.wired_up.send
        self.wired_up.deliver = self.server.receive
        self.wired_down.deliver = self.port.forward
        self.wireless_down.deliver = self.radio.receive
        self.radio.deliver = self.station.receiver(self.client.receive)
        self.radio.decide = self.station.rest
        self.port.radio = self.radio

    def begin(self, pages: Sequence[Page], messages: Messages = NO_MESSAGES) -> None:
        """Start to load the pages. ``browsing`` becomes false when all pages are complete or the run fails.

        Raises
        ------
        InputError
            If the run would exceed ``MAX_FRAMES``.
        """
        check_work(self.topology, pages, messages)
        if messages:
            self._add_messenger(messages)
        path = self.hop, self.wired_up, self.wired_down, self.station, self.visits, self.messenger
        self.ends.begin(FramePath(*path), pages)
        self.browsing = True
        self._process = self.env.process(self._browse(pages))

    def end(self) -> None:
        """Notify the observers that the last page is complete.

        Raises
        ------
        PageError
            If a page cannot be loaded and failures are not reported.
        """
        if not self._process.ok:
            failure: Any = self._process.value
            raise failure
        self.radio.advance(self.env.now)
        self.hop.doze.report_plan_followed()
        for finish in self._hooks.finish:
            finish(self.env.now)

    def _add_messenger(self, messages: Messages) -> None:
        """Create the sender of background messages, and pass it new connections and downlink frames."""
        self.messenger = messenger = BackgroundMessages(self.env, self.client, self.server, messages)
        self.server.accept = messenger.at_listener(self.ends.serve)
        self.wired_down.deliver = messenger.at_access_point(self.wired_down.deliver)
        self.env.process(messenger.send())

    def _browse(self, pages: Sequence[Page]) -> Generator[Event, None, None]:
        try:
            yield from self.browser.browse(pages)
        finally:
            self.browsing = False
            self.done()

    def usage(self) -> Usage:
        """Return the radio's usage so far."""
        now_s = self.env.now
        self.radio.settle(now_s)
        return self.ledger.usage(now_s)

    @property
    def undelivered_bytes(self) -> int:
        """Bytes between server and client, on the links and buffered, including headers."""
        return self.wired_down.in_flight_bytes + self.port.buffered_bytes + self.wireless_down.in_flight_bytes

    def _record_visit(self, visit: Visit) -> None:
        self.visits.append(visit, self.usage())
        self.progress(len(self.visits))


class WorldGroup:
    """Group of worlds, one for each station, on the same clock. Several worlds share one BSS.

    Attributes
    ----------
    events : int
        Number of SimPy events of all worlds.
    browsing : bool
        False if a station has just loaded its last page. This stops the clock, so that :meth:`run` can handle
        it.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        self.events, self.browsing = 0, True
        for world in worlds:
            world.done = self._stop

    def run(
        self,
        pages: Sequence[Sequence[Page]],
        messages: Sequence[Messages],
        over: Callable[[int], None],
        until: int | None = None,
    ) -> None:
        """Load the pages of all stations. The clock stops when the last station is done.

        Parameters
        ----------
        pages, messages
            Pages and messages of each station.
        over
            Called with the index of a station when its last page is complete. The station stays associated,
            but loads no more pages.
        until : int or None
            Index of a station: the run ends when this station is done. None: the run ends when all are done.

        Raises
        ------
        PageError
            If a page of any station cannot be loaded.
        """
        for world, own_pages, own_messages in zip(self._worlds, pages, messages, strict=True):
            world.begin(own_pages, own_messages)
        busy = list(enumerate(self._worlds))
        while busy and (until is None or any(number == until for number, _ in busy)):
            self.events += run_events(self._worlds[0].env, self, 0x1000)
            for number, world in self._done(busy):
                busy.remove((number, world))
                world.events = self.events
                world.end()
                over(number)

    def _done(self, busy: Sequence[tuple[int, World]]) -> list[tuple[int, World]]:
        """Return the stations that are done. If there are none, check for stalled pages."""
        if self.browsing:
            for _, world in busy:
                world.browser.check()
        self.browsing = True
        return [entry for entry in busy if not entry[1].browsing]

    def _stop(self) -> None:
        self.browsing = False


def run_alone(world: World, pages: Sequence[Page], messages: Messages = NO_MESSAGES) -> None:
    """Load the pages of the only station of an access point, and send the messages.

    Raises
    ------
    PageError
        If a page cannot be loaded and failures are not reported.
    """
    WorldGroup([world]).run([pages], [messages], lambda _: None)


def check_work(topology: Topology, pages: Sequence[Page], messages: Messages) -> None:
    """Raise an error if a run would have more than :data:`~psm_sim.common.input_limits.MAX_FRAMES`.

    Raises
    ------
    InputError
        If the estimate exceeds the limit. The message names the source of most frames.
    """
    frames = estimate_frames(topology, pages, messages)
    total, source = sum(frames.values()), max(frames, key=lambda name: frames[name])
    if total > MAX_FRAMES:
        raise InputError(
            f"A run must have at most {MAX_FRAMES:,} frames, got about {total:,.0f}, most of them from"
            f" {source}; use fewer pages or change it."
        )


def estimate_frames(topology: Topology, pages: Sequence[Page], messages: Messages) -> dict[str, float]:
    """Return the estimated number of simulated frames and beacon events, by their source.

    The length of the run is estimated as the sum of think times and server delays.
    """
    length_s = sum(page.waiting_s for page in pages)
    segment, beacon = topology.tcp.segment_bytes, topology.beacon
    is_each_beacon = beacon.loss or topology.mac.model == "dcf"
    keep_alive_s = topology.station.keep_alive_s
    return {
        f"the pages with tcp.segment_bytes={segment}": float(
            sum(
                size // segment + 1
                for page in pages
                if page.objects
                for size in (page.main_bytes, *page.image_bytes, *page.request_bytes)
            )
        ),
        f"the messages with tcp.segment_bytes={segment}": messages.frames(segment),
        "the beacon interval": length_s / beacon.interval_s if is_each_beacon else 0.0,
        f"station.keep_alive_s={keep_alive_s}": length_s / keep_alive_s if keep_alive_s else 0.0,
        f"access_point.group_per_s={topology.access_point.group_per_s:g}": length_s
        * topology.access_point.group_per_s,
    }
