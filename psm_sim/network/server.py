"""Web server."""

from __future__ import annotations

from simpy import Environment

from psm_sim.network.segment import Request
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.timers import ReusableEvent


class ServerConnection:
    """Server's end of one HTTP connection. Requests are answered in the order in which replies are ready."""

    __slots__ = ("_answered", "_endpoint", "_env", "_received", "_wanted")

    def __init__(self, env: Environment, endpoint: Endpoint) -> None:
        self._env, self._endpoint = env, endpoint
        self._received = 0
        self._wanted = 0
        self._answered = 0

    def established(self) -> None:
        """Answer a request of zero bytes, which is complete at once."""
        self.received(0)

    def received(self, payload_bytes: int) -> None:
        """Receive bytes and answer the requests that they complete."""
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
        """Close this end as well."""
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
