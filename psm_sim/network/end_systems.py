"""Client and server hosts with their programs, without faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from simpy import Environment

from psm_sim.network.background_messages import BackgroundMessages
from psm_sim.network.browser import Browser, Visit
from psm_sim.network.host import Host
from psm_sim.network.link import Link
from psm_sim.network.page_load import PageLoad
from psm_sim.network.page_outcomes import PageFailureHandler, PageVisits
from psm_sim.network.segment import Segment
from psm_sim.network.server import ServerConnection
from psm_sim.network.station import Station
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.workload.page_view import Page


class FramePath(NamedTuple):
    """Path of the frames between a station and its server, with the traffic on it."""

    hop: WirelessHop
    wired_up: Link
    wired_down: Link
    station: Station
    visits: PageVisits
    messenger: BackgroundMessages | None


class EndSystems:
    """Factory of the hosts and their programs.

    A world calls the methods in the order of their definition. The class
    :class:`~psm_sim.network.parts.faults.fault_injection.Faults` overrides them to inject faults.

    Parameters
    ----------
    env, topology
        The clock and the topology.
    """

    def __init__(self, env: Environment, topology: Topology) -> None:
        self.env, self.topology = env, topology

    def host(
        self, transmit: Callable[[Segment], None], accept: Callable[[Endpoint], Application] | None = None
    ) -> Host:
        """Return a host; arguments as for :class:`~psm_sim.network.host.Host`."""
        return Host(self.env, self.topology.tcp, transmit, accept)

    def serve(self, end: Endpoint) -> Application:
        """Return the server program for *end*, the server's end of a connection."""
        return ServerConnection(self.env, end)

    def browser(self, client: Host, on_page: Sequence[Callable[[Visit], None]]) -> Browser:
        """Return the browser; arguments as for :class:`~psm_sim.network.browser.Browser`."""
        return Browser(self.env, client, self.topology.browser, on_page)

    def watch(self, server: Host, client: Host, browser: Browser, failures: PageFailureHandler) -> None:
        """Connect hosts and browser, also to the handler of page failures.

        Parameters
        ----------
        server, client, browser
            Sources of failures.
        failures
            Handler that receives them.
        """
        server.give_up = partial(failures.given_up, "server")
        client.give_up = partial(failures.given_up, "client")
        browser.stalled = failures.stalled
        browser.load_by_dependencies = partial(PageLoad, self.env, browser, (client, server), self.topology)

    def begin(self, path: FramePath, pages: Sequence[Page]) -> None:
        """Start the faults on a *path* for a run of *pages*. Without faults this does nothing."""

    def lost_bytes(self, direction: str) -> int:
        """Return the bytes lost to faults in *direction* ("up" or "down"), including headers."""
        return 0

    def lost_frames(self, direction: str) -> int:
        """Return the number of frames lost to faults in *direction* ("up" or "down")."""
        return 0

    def report(self) -> dict[str, float]:
        """Return fault counts by name; empty without faults."""
        return {}
