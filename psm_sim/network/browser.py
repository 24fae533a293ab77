"""Browser that loads pages over a few parallel connections."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple

from simpy import Environment, Event

from psm_sim.network.host import Host
from psm_sim.network.segment import Request
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.workload.page_view import DependencyPage, Page

STALL_S = 3600.0
"""Time in seconds without a new byte after which a page fails. TCP gives up earlier."""


class Visit(NamedTuple):
    """Loaded or failed page.

    Attributes
    ----------
    page : Page
        The page.
    started_s, ended_s : float
        Times of the first request and of the end (page complete or failed), in seconds.
    failure : str
        Reason of the failure; empty if the page was loaded.
    """

    page: Page
    started_s: float
    ended_s: float
    failure: str = ""


class Browser:
    """Browser that loads one page after another (thesis, section 2.5.4), like the HTTP model of ns-2.

    It loads the main object first, then the embedded objects over at most ``connections`` parallel
    connections. A connection carries a single object, or several in sequence if it is persistent.

    Parameters
    ----------
    env, host, parameters
        The clock, the client's host, and the parameters of the browser.
    on_page
        Called with a :class:`Visit` at the end of each page.

    Attributes
    ----------
    stalled : callable
        Called when no new byte of a page has arrived for :data:`STALL_S` seconds.
    load_by_dependencies : callable
        Function that loads a ``DependencyPage``. Set it before such a page is loaded.
    page_ended : Event
        Event that fires at the end of the current page.
    """

    def __init__(
        self,
        env: Environment,
        host: Host,
        parameters: BrowserParameters,
        on_page: Sequence[Callable[[Visit], None]],
    ) -> None:
        self._env, self._host, self._on_page = env, host, on_page
        self.persistent = parameters.persistent
        self._progress_s = 0.0  # time of the request, or of the page's last new byte
        self.stalled: Callable[[], None] = lambda: None
        self.load_by_dependencies: Callable[[DependencyPage], object]
        self._closes = not parameters.persistent and parameters.closes_first == "client"
        self._connections, self._asks_first = parameters.connections, parameters.asks_first
        self._waiting: deque[Request] = deque()
        self._idle: list[Fetcher] = []
        self._open = 0
        self._missing = 0
        self.page_ended: Event

    def browse(self, pages: Iterable[Page]) -> Generator[Event, Any, None]:
        """Load the pages in order and report each one (a SimPy process)."""
        env = self._env
        for page in pages:
            yield env.timeout(page.think_s)
            started, failure = env.now, None
            self.page_ended = env.event()
            if page.objects:
                self._request(page)
                failure = yield self.page_ended
            visit = Visit(page, started, env.now, failure or "")
            for callback in self._on_page:
                callback(visit)

    def check(self) -> None:
        """Call ``stalled`` if the current page has made no progress for too long."""
        if self._missing and self._env.now - self._progress_s > STALL_S:
            self.stalled()

    def note_progress(self) -> None:
        """Record that a new byte has arrived."""
        now_s = self._env.now
        if now_s - self._progress_s > STALL_S:
            self.stalled()
        self._progress_s = now_s

    def done(self, fetcher: Fetcher) -> None:
        """Handle the end of an object: request waiting objects, or finish the page if there are none."""
        self._missing -= 1
        self._open -= 1
        if self.persistent:
            self._idle.append(fetcher)
        elif self._closes:
            fetcher.close()
        if self._missing:
            if self._waiting:
                self._fetch()
        else:
            self.finish_page()

    def finish_page(self) -> None:
        """End the current page, whose objects are all complete."""
        self._missing = 0
        for idle in self._idle:
            idle.close()
        self._idle.clear()
        self.page_ended.succeed()

    def connect(self, application: Callable[[Endpoint], Application]) -> Endpoint:
        """Open a connection for the current page."""
        return self._host.connect(application)

    def _request(self, page: Page) -> None:
        self._missing, self._progress_s = page.objects, self._env.now
        if isinstance(page, DependencyPage):
            self.load_by_dependencies(page)
        else:
            self._load_in_parallel(page)

    def _load_in_parallel(self, page: Page) -> None:
        sizes = (page.main_bytes, *page.image_bytes)
        objects = zip(page.request_bytes, sizes, page.server_delay_s, strict=True)
        server_closes = not self.persistent and not self._closes
        self._waiting.extend(Request(*fields, server_closes) for fields in objects)
        self._open_for(self._waiting.popleft())

    def _fetch(self) -> None:
        count = min(len(self._waiting), self._connections - self._open)
        requests = [self._waiting.popleft() for _ in range(count)]
        reused = min(len(self._idle), count)
        reuses = [(self._reuse, request) for request in requests[:reused]]
        opens = [(self._open_for, request) for request in requests[reused:]]
        for start, request in reuses + opens if self._asks_first else opens + reuses:
            start(request)

    def _reuse(self, request: Request) -> None:
        self._open += 1
        self._idle.pop().request(request)

    def _open_for(self, request: Request) -> None:
        self._open += 1
        self.connect(lambda endpoint: Fetcher(endpoint, self, request))


class Fetcher:
    """Browser's end of one HTTP connection."""

    __slots__ = ("_browser", "_endpoint", "_missing", "_request")

    def __init__(self, endpoint: Endpoint, browser: Browser, request: Request) -> None:
        self._endpoint, self._browser, self._request = endpoint, browser, request
        self._missing = 0

    def established(self) -> None:
        """Request the first object."""
        self.request(self._request)

    def request(self, request: Request) -> None:
        """Request one object."""
        self._missing = request.reply_bytes
        self._endpoint.connection.requests.append(request)
        self._endpoint.write(request.request_bytes)

    def received(self, payload_bytes: int) -> None:
        """Receive bytes of the object."""
        self._browser.note_progress()
        self._missing = missing = self._missing - payload_bytes
        if not missing:
            self._browser.done(self)

    def peer_closed(self) -> None:
        """Close this end after the server has closed."""
        self._endpoint.close()

    def close(self) -> None:
        """Close the connection."""
        self._endpoint.close()
