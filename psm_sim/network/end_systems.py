"""Client and server hosts, the browser and the HTTP server."""

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
from psm_sim.network.segment import Request, Segment
from psm_sim.network.station import Station
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.timers import ReusableEvent
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.workload.page_view import Page


class ServerConnection:
    """Server's end of one HTTP connection. Requests are answered in the order in which replies are ready."""

    __slots__ = ("_answered", "_endpoint", "_env", "_received", "_wanted")

    def __init__(self, env: Environment, endpoint: Endpoint) -> None:
        self._env, self._endpoint = env, endpoint
        self._received = 0
        self._wanted = 0
        self._answered = 0

    def established(self) -> None:
        """Answer a request of 0 bytes, for which :meth:`received` is not called."""
        self.received(0)

    def received(self, payload_bytes: int) -> None:
        """Count received bytes, and answer each request that is now complete."""
        self._received += payload_bytes
        requests = self._endpoint.connection.requests
        while self._answered < len(requests):
            request = requests[self._answered]
            if self._received < self._wanted + request.request_bytes:
                return
            self._wanted += request.request_bytes
            self._answered += 1
            self._schedule_reply(request)

    def peer_closed(self) -> None:
        """Close this end after the client has closed."""
        self._endpoint.close()

    def _schedule_reply(self, request: Request) -> None:
        if request.server_delay_s > 0:
            ready = ReusableEvent(self._env, lambda _: self._reply(request))
            ready.arm(self._env.now + request.server_delay_s)
        else:
            self._reply(request)

    def _reply(self, request: Request) -> None:
        if self._endpoint.closing:  # the client has closed a connection that it no longer needs
            return
        self._endpoint.connection.replies.append(request)
        self._endpoint.write(request.reply_bytes, last=request.closes)


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

    A world calls the methods in the order of their definition. The subclass
    :class:`~psm_sim.network.parts.faults.fault_injection.Faults` injects faults.
    """

    def __init__(self, env: Environment, topology: Topology) -> None:
        self.env, self.topology = env, topology

    def host(
        self, transmit: Callable[[Segment], None], accept: Callable[[Endpoint], Application] | None = None
    ) -> Host:
        """Return a host. See :class:`~psm_sim.network.host.Host` for the arguments."""
        return Host(self.env, self.topology.tcp, transmit, accept)

    def serve(self, end: Endpoint) -> Application:
        """Return the server program for *end*, the server's end of a connection."""
        return ServerConnection(self.env, end)

    def browser(self, client: Host, on_page: Sequence[Callable[[Visit], None]]) -> Browser:
        """Return the browser. See :class:`~psm_sim.network.browser.Browser` for the arguments."""
        return Browser(self.env, client, self.topology.browser, on_page)

    def watch(self, server: Host, client: Host, browser: Browser, failures: PageFailureHandler) -> None:
        """Set the callbacks of the hosts and the browser, for failures and for pages with dependencies."""
        server.give_up = partial(failures.given_up, "server")
        client.give_up = partial(failures.given_up, "client")
        browser.stalled = failures.stalled
        browser.load_by_dependencies = partial(PageLoad, self.env, browser, (client, server), self.topology)

    def begin(self, path: FramePath, pages: Sequence[Page]) -> None:
        """Do nothing. A subclass starts the faults of a run here."""

    def lost_bytes(self, direction: str) -> int:
        """Return the bytes lost to faults in *direction* ("up" or "down"), including headers."""
        return 0

    def lost_frames(self, direction: str) -> int:
        """Return the number of frames lost to faults in *direction* ("up" or "down")."""
        return 0

    def report(self) -> dict[str, float]:
        """Return fault counts by name; empty without faults."""
        return {}
