"""Browser with a watch on each page: one that takes too long, or makes no progress, fails at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from simpy import Environment

from psm_sim.network.browser import Browser, Fetcher, Visit
from psm_sim.network.faults.host import ResettingHost
from psm_sim.network.http_request import Request
from psm_sim.network.segment import ConnectionId
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.timers import Alarm
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.workload.page_view import Page


class WatchedBrowser(Browser):
    """Browser as :class:`~psm_sim.network.browser.Browser`; it can give a page up, and asks for the next one.

    ``overdue`` is called with what happened, and what to change, when a page has run out of time; ``stalled``
    at the very time at which no new byte has come for too long.

    Parameters
    ----------
    env, host, parameters, on_page
        As for :class:`~psm_sim.network.browser.Browser`.
    """

    def __init__(
        self,
        env: Environment,
        host: ResettingHost,
        parameters: BrowserParameters,
        on_page: Sequence[Callable[[Visit], None]] = (),
    ) -> None:
        super().__init__(env, host, parameters, on_page)
        self._aborting = host
        self._max_page_s, self._patience_s = parameters.max_page_s or inf, inf
        self._started_s = 0.0
        self._endpoints: list[Endpoint] = []
        self._alarm = Alarm(env, self._look)
        self.overdue: Callable[[str, str], None] = lambda _, __: None

    def set_patience(self, patience_s: float | None) -> None:
        """Take note that the user abandons a page after *patience_s* seconds; None: never."""
        self._patience_s = patience_s or inf

    def fail(self, reason: str) -> None:
        """Give the page up, if one is on its way, and break off its connections."""
        if not self._missing:
            return
        self._missing = self._open = 0
        self._waiting.clear()
        self._idle.clear()
        self._alarm.cancel()
        for endpoint in self._endpoints:
            self._aborting.abort(endpoint)
        self._complete.succeed(reason)

    def abort(self, endpoint: Endpoint) -> None:
        """Break off a connection of its host, whosever it is."""
        self._aborting.abort(endpoint)

    def uses(self, connection: ConnectionId) -> bool:
        """Say whether a connection belongs to the page that is on its way."""
        return self._missing > 0 and any(endpoint.connection is connection for endpoint in self._endpoints)

    def check(self) -> None:
        """Leave it to the alarm, which is never late."""

    def done(self, fetcher: Fetcher) -> None:
        """Note that *fetcher* has an object complete; the watch ends with the page."""
        super().done(fetcher)
        if not self._missing:
            self._alarm.cancel()

    def _request(self, page: Page) -> None:
        self._started_s = self._env.now
        self._endpoints.clear()
        super()._request(page)
        self._alarm.at(self._due_s)

    def _open_for(self, request: Request) -> None:
        self._open += 1
        self._endpoints.append(self._host.connect(lambda endpoint: Fetcher(endpoint, self, request)))

    @property
    def _due_s(self) -> float:
        limit_s = min(self._max_page_s, self._patience_s)
        return min(self._started_s + limit_s, self._moved_s + self._stall_s)

    def _look(self) -> None:
        """Say what is over; nothing is if a byte has come since the alarm was set."""
        now_s = self._env.now
        if self._due_s > now_s:
            self._alarm.at(self._due_s)
        elif now_s >= self._started_s + self._patience_s:
            self.overdue(
                f"its user has abandoned it after {self._patience_s:g} s",
                "expected it by then; take faster links or fewer faults, or raise faults.patience_s",
            )
        elif now_s >= self._started_s + self._max_page_s:
            self.overdue(
                f"it has taken longer than {self._max_page_s:g} s",
                "expected it by then; take faster links or fewer faults, or raise browser.max_page_s",
            )
        else:
            self.stalled()
