"""Browser that abandons pages which take too long or make no progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from simpy import Environment

from psm_sim.network.browser import Browser, Fetcher, Visit
from psm_sim.network.parts.faults.resetting_host import ResettingHost
from psm_sim.network.segment import ConnectionId, Request
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.timers import Alarm
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.workload.page_view import Page


class AbandoningBrowser(Browser):
    """Browser that can abandon a page and continue with the next one.

    Parameters
    ----------
    env, host, parameters, on_page
        As for :class:`~psm_sim.network.browser.Browser`.

    Attributes
    ----------
    overdue : callable
        Called with the reason and the advice to the user when a page exceeds its time limit.
    stalled : callable
        Called exactly when a page has made no progress for ``stall_s`` seconds.
    """

    def __init__(
        self,
        env: Environment,
        host: ResettingHost,
        parameters: BrowserParameters,
        on_page: Sequence[Callable[[Visit], None]] = (),
    ) -> None:
        super().__init__(env, host, parameters, on_page)
        self._resetting_host = host
        self._max_page_s, self._patience_s = parameters.max_page_s or inf, inf
        self._started_s = 0.0
        self._endpoints: list[Endpoint] = []
        self._alarm = Alarm(env, self._check_limits)
        self.overdue: Callable[[str, str], None] = lambda _, __: None

    def set_patience(self, patience_s: float | None) -> None:
        """Set the time in seconds after which the user abandons a page; None disables the limit."""
        self._patience_s = patience_s or inf

    def fail(self, reason: str) -> None:
        """Abandon the current page, if there is one, and abort its connections."""
        if not self._missing:
            return
        self._missing = self._open = 0
        self._waiting.clear()
        self._idle.clear()
        self._alarm.cancel()
        for endpoint in self._endpoints:
            self._resetting_host.abort(endpoint)
        self._complete.succeed(reason)

    def abort(self, endpoint: Endpoint) -> None:
        """Abort any connection of the host."""
        self._resetting_host.abort(endpoint)

    def uses(self, connection: ConnectionId) -> bool:
        """Return whether a connection belongs to the current page."""
        return self._missing > 0 and any(endpoint.connection is connection for endpoint in self._endpoints)

    def check(self) -> None:
        """Do nothing; the alarm detects stalled pages on time."""

    def done(self, fetcher: Fetcher) -> None:
        """Handle a complete object on *fetcher*. The end of the page cancels the alarm."""
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
        return min(self._started_s + limit_s, self._progress_s + self._stall_s)

    def _check_limits(self) -> None:
        """Fail the page if a limit is exceeded; otherwise set the alarm again."""
        now_s = self._env.now
        if self._due_s > now_s:
            self._alarm.at(self._due_s)
        elif now_s >= self._started_s + self._patience_s:
            self.overdue(
                f"its user has abandoned it after {self._patience_s:g} s",
                "use faster links or fewer faults, or increase faults.patience_s",
            )
        elif now_s >= self._started_s + self._max_page_s:
            self.overdue(
                f"it has taken longer than {self._max_page_s:g} s",
                "use faster links or fewer faults, or increase browser.max_page_s",
            )
        else:
            self.stalled()
