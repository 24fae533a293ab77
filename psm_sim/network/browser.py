"""Browser: thinks, asks for a page, fetches its objects over a few connections."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple

from simpy import Environment, Event

from psm_sim.network.host import Host
from psm_sim.network.http_request import Request
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.workload.page_view import Page


class Visit(NamedTuple):
    """Page as it was loaded: when, in seconds, it was asked for, and its last object was complete.

    ``failure`` says why it failed, at ``ended_s``, if it did.
    """

    page: Page
    started_s: float
    ended_s: float
    failure: str = ""


class Browser:
    """Loads pages one after the other (thesis, section 2.5.4, as the HTTP model of ns-2).

    The main object first, then the embedded ones over at most ``connections`` parallel connections:
    one object for each connection, or, if persistent, one after another on each until the page is complete.
    Each of *on_page* is called with a :class:`Visit` when a page is over; ``stalled``, when no new byte
    of a page has come for too long.
    """

    def __init__(
        self,
        env: Environment,
        host: Host,
        parameters: BrowserParameters,
        on_page: Sequence[Callable[[Visit], None]] = (),
    ) -> None:
        self._env, self._host, self._on_page = env, host, on_page
        self.persistent = parameters.persistent
        self._stall_s = parameters.stall_s
        self._moved_s = 0.0  # when the page was asked for, or its last new byte came
        self.stalled: Callable[[], None] = lambda: None
        self._connections, self._asks_first = parameters.connections, parameters.asks_first
        self._waiting: deque[Request] = deque()
        self._idle: list[Fetcher] = []
        self._open = 0
        self._missing = 0
        self._complete: Event

    def browse(self, pages: Iterable[Page]) -> Generator[Event, Any, None]:
        """Load the pages in order, and tell of each (a SimPy process)."""
        env = self._env
        for page in pages:
            yield env.timeout(page.think_s)
            started, failure = env.now, None
            self._complete = env.event()
            if page.objects:
                self._request(page)
                failure = yield self._complete
            visit = Visit(page, started, env.now, failure or "")
            for notify in self._on_page:
                notify(visit)

    def check(self) -> None:
        """Tell if a page is on its way of which no new byte has come for too long."""
        if self._missing and self._env.now - self._moved_s > self._stall_s:
            self.stalled()

    def moved(self) -> None:
        """Note that a new byte has come."""
        now_s = self._env.now
        if now_s - self._moved_s > self._stall_s:
            self.stalled()
        self._moved_s = now_s

    def done(self, fetcher: Fetcher) -> None:
        """Note that *fetcher* has an object complete: go on, or the page is complete."""
        self._missing -= 1
        self._open -= 1
        if self.persistent:
            self._idle.append(fetcher)
        if self._missing:
            if self._waiting:
                self._fetch()
            return
        for idle in self._idle:
            idle.close()
        self._idle.clear()
        self._complete.succeed()

    def _request(self, page: Page) -> None:
        sizes = (page.main_bytes, *page.image_bytes)
        objects = zip(page.request_bytes, sizes, page.server_delay_s, strict=True)
        self._waiting.extend(Request(*each) for each in objects)
        self._missing, self._moved_s = len(sizes), self._env.now
        self._open_for(self._waiting.popleft())

    def _fetch(self) -> None:
        count = min(len(self._waiting), self._connections - self._open)
        requests = [self._waiting.popleft() for _ in range(count)]
        kept = min(len(self._idle), count)
        asks = [(self._ask, request) for request in requests[:kept]]
        opens = [(self._open_for, request) for request in requests[kept:]]
        for start, request in asks + opens if self._asks_first else opens + asks:
            start(request)

    def _ask(self, request: Request) -> None:
        self._open += 1
        self._idle.pop().ask(request)

    def _open_for(self, request: Request) -> None:
        self._open += 1
        self._host.connect(lambda endpoint: Fetcher(endpoint, self, request))


class Fetcher:
    """The browser's side of one HTTP connection."""

    __slots__ = ("_browser", "_endpoint", "_missing", "_request")

    def __init__(self, endpoint: Endpoint, browser: Browser, request: Request) -> None:
        self._endpoint, self._browser, self._request = endpoint, browser, request
        self._missing = 0

    def established(self) -> None:
        """Ask for the object the connection was opened for."""
        self.ask(self._request)

    def ask(self, request: Request) -> None:
        """Ask for one object."""
        self._missing = request.reply_bytes
        self._endpoint.connection.requests.append(request)
        self._endpoint.write(request.request_bytes)

    def received(self, payload_bytes: int) -> None:
        """Read bytes of the object."""
        self._browser.moved()
        self._missing = missing = self._missing - payload_bytes
        if not missing:
            self._browser.done(self)

    def peer_closed(self) -> None:
        """Close this side too."""
        self._endpoint.close()

    def close(self) -> None:
        """Close an idle persistent connection."""
        self._endpoint.close()
