"""Web server that stalls. It sends no replies during a stall, but TCP still acknowledges data."""

from __future__ import annotations

from simpy import Environment

from psm_sim.network.parts.faults.outages import OutageSchedule
from psm_sim.network.parts.faults.resetting_host import ResettingHost
from psm_sim.network.segment import Request
from psm_sim.network.server import ServerConnection
from psm_sim.network.tcp_endpoint import Endpoint


class StallingServer(ServerConnection):
    """Server's end of one HTTP connection, which a stall delays and a reset of the peer ends.

    Parameters
    ----------
    env, endpoint, persistent
        As for :class:`~psm_sim.network.server.ServerConnection`.
    host
        Host of the server, which knows whether the connection is open.
    stalls : OutageSchedule or None
        Times of the stalls; None disables them.
    """

    __slots__ = ("_host", "_stalls")

    def __init__(
        self,
        env: Environment,
        endpoint: Endpoint,
        persistent: bool,
        host: ResettingHost,
        stalls: OutageSchedule | None,
    ) -> None:
        super().__init__(env, endpoint, persistent)
        self._host, self._stalls = host, stalls

    def _reply(self, request: Request) -> None:
        if not self._host.knows(self._endpoint):
            return
        left_s = 0.0 if self._stalls is None else self._stalls.left_s(self._env.now)
        if left_s > 0:
            over = self._env.timeout(left_s)
            over.callbacks.append(lambda _: self._reply(request))
        else:
            super()._reply(request)
