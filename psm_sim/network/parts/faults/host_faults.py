"""Hosts and programs with faults: connection resets and abandoned pages."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from simpy import Environment

from psm_sim.network.browser import STALL_S, Browser
from psm_sim.network.end_systems import ServerConnection
from psm_sim.network.host import Host
from psm_sim.network.segment import ConnectionId, Request, ResetSegment, Segment
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.timers import Alarm
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.workload.page_view import Page


class ResettingHost(Host):
    """Host whose connections can be aborted. It answers later segments of such a connection with a reset."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._aborted: set[ConnectionId] = set()

    def knows(self, endpoint: Endpoint) -> bool:
        """Return whether a connection is open or half closed."""
        return self.endpoints.get(endpoint.connection) is endpoint

    def abort(self, endpoint: Endpoint) -> None:
        """Abort a connection, and reset the peer if the SYN was acknowledged (RFC 9293, section 3.10.5)."""
        if not self.knows(endpoint):
            return
        self._aborted.add(endpoint.connection)
        self._remove(endpoint)
        if endpoint.acknowledged > 0:
            self._reset(endpoint.connection, endpoint.next)

    def receive(self, segment: Segment) -> None:
        """Pass one segment to its connection, or end the connection if the segment is a reset."""
        if not segment.rst:
            super().receive(segment)
            return
        self.received_bytes += segment.wire_bytes
        endpoint = self.endpoints.get(segment.connection)
        if endpoint is not None:
            self._remove(endpoint)

    def _give_up(self, endpoint: Endpoint) -> None:
        self._aborted.add(endpoint.connection)
        super()._give_up(endpoint)

    def _receive_unknown(self, segment: Segment) -> Endpoint | None:
        if segment.connection not in self._aborted:
            return super()._receive_unknown(segment)
        self._reset(segment.connection, segment.ack)
        return None

    def _reset(self, connection: ConnectionId, seq: int) -> None:
        self.send(ResetSegment(connection, seq, 0, 0, False, False, self._constants.header))


class ResettableServer(ServerConnection):
    """Server's end of one HTTP connection that the peer can reset."""

    __slots__ = ("_host",)

    def __init__(self, env: Environment, endpoint: Endpoint, host: ResettingHost) -> None:
        super().__init__(env, endpoint)
        self._host = host

    def _reply(self, request: Request) -> None:
        if self._host.knows(self._endpoint):
            super()._reply(request)


class AbandoningBrowser(Browser):
    """Browser that can abandon a page and continue with the next one.

    Attributes
    ----------
    stalled : callable
        Called as soon as a page has made no progress for :data:`~psm_sim.network.browser.STALL_S` seconds.
    """

    _host: ResettingHost

    def __init__(
        self, env: Environment, host: ResettingHost, parameters: BrowserParameters, *arguments: Any
    ) -> None:
        super().__init__(env, host, parameters, *arguments)
        self._max_page_s = parameters.max_page_s or inf
        self._started_s = 0.0
        self._endpoints: list[Endpoint] = []
        self._alarm = Alarm(env, self._check_limits)

    def fail(self, reason: str) -> None:
        """Abandon the current page, if there is one, and abort its connections."""
        if not self._missing:
            return
        self._missing = self._open = 0
        self._waiting.clear()
        self._idle.clear()
        self._alarm.cancel()
        for endpoint in self._endpoints:
            self._host.abort(endpoint)
        self.page_ended.succeed(reason)

    def uses(self, connection: ConnectionId) -> bool:
        """Return whether a connection belongs to the current page."""
        return self._missing > 0 and any(endpoint.connection is connection for endpoint in self._endpoints)

    def check(self) -> None:
        """Do nothing, because an alarm detects stalled pages."""

    def finish_page(self) -> None:
        """End the page, and cancel the alarm."""
        super().finish_page()
        self._alarm.cancel()

    def connect(self, application: Callable[[Endpoint], Application]) -> Endpoint:
        """Open a connection, which is aborted if the page is abandoned."""
        endpoint = super().connect(application)
        self._endpoints.append(endpoint)
        return endpoint

    def _request(self, page: Page) -> None:
        self._started_s = self._env.now
        self._endpoints.clear()
        super()._request(page)
        self._alarm.at(self._due_s)

    @property
    def _due_s(self) -> float:
        return min(self._started_s + self._max_page_s, self._progress_s + STALL_S)

    def _check_limits(self) -> None:
        """Fail the page if a limit is exceeded; otherwise set the alarm again."""
        now_s = self._env.now
        if self._due_s > now_s:
            self._alarm.at(self._due_s)
        elif now_s >= self._started_s + self._max_page_s:
            self.fail(f"it has taken longer than {self._max_page_s:g} s")
        else:
            self.stalled()
