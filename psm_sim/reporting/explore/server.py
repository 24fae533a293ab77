"""Local server of the page, whose address contains a secret token."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import MSG_PEEK
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.formatting import one_line_message
from psm_sim.common.progress import Progress
from psm_sim.reporting.explore.page import Compare, cell_of, page_text, to_json
from psm_sim.reporting.explore.settings import PARAMETERS, Settings, controls_of, fitting_sizes, read_settings
from psm_sim.reporting.figures.comparison import frontier_of

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

_ADDRESS = "127.0.0.1"
_INTRODUCTION = "Every change of a control simulates anew. Point at a control for its explanation."
_MAX_KEPT = 50  # comparisons


class Simulator:
    """Simulator that handles one request at a time and keeps the latest comparisons.

    *compare* takes the arguments of a command line and returns a comparison. *settings* are the initial
    values of the controls.
    """

    def __init__(self, compare: Compare, settings: Settings) -> None:
        self._compare, self.controls = compare, controls_of(settings)
        self._lock = Lock()
        self._kept: dict[tuple[str, ...], tuple[Comparison, list[ParetoCorner]]] = {}

    @property
    def page(self) -> str:
        """The page with its controls, as HTML."""
        sizes = {trace: fitting_sizes(trace) for trace, _ in self.controls["trace"]["options"]}
        return page_text({"controls": self.controls, "sizes": sizes}, _INTRODUCTION, connect="'self'")

    def answer(self, chosen: Mapping[str, list[str]], check: Progress) -> dict[str, Any]:
        """Return the data for the *chosen* values of the controls, or the message of an error.

        *check* is called from time to time. It raises ConnectionError when the answer is no longer wanted.
        """
        facts: dict[str, Any] = {}
        try:
            settings = read_settings(self.controls, chosen)
            facts["disabled"] = [name for name in PARAMETERS if not settings.has_effect(name)]
            facts["command"] = settings.command
            with self._lock:
                check(0, 1, "")
                policies = settings.completed_policies
                comparison, frontier = self._simulate(settings, check)
                cell = cell_of(comparison, replace(settings, policies=policies), {"": policies}, frontier)
            return {**facts, **cell}
        except ConnectionError:
            raise
        except InputError as error:
            return {**facts, "error": one_line_message(str(error))}
        except (Exception, SystemExit) as error:  # raised by a user's policy
            return {**facts, "error": f"{describe_error(error)}."}

    def _simulate(self, settings: Settings, check: Progress) -> tuple[Comparison, list[ParetoCorner]]:
        key = tuple(settings.arguments)
        if key not in self._kept:
            comparison = self._compare(settings.arguments, check)
            if len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = comparison, frontier_of(comparison, workers=1, progress=check)
        return self._kept[key]


def serve(simulator: Simulator, port: int, announce: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted; see :func:`open_server` for *port* and the errors.

    *announce* is called with the address once the server accepts requests.
    """
    server, address = open_server(simulator, port)
    with server:
        announce(address)
        server.serve_forever()


def open_server(simulator: Simulator, port: int) -> tuple[ThreadingHTTPServer, str]:
    """Return a server of the page on this computer, and its address. *port* 0 selects a free port.

    The address contains a random token. A request without the token, or with the host name of another site,
    gets status 403.

    Raises
    ------
    InputError
        If the port is not available.
    """
    token = secrets.token_urlsafe(24)
    try:
        server = _Server((_ADDRESS, port), partial(_Handler, simulator, token))
    except OSError as error:
        raise InputError(
            f"--port {port} is not available: {os.strerror(error.errno or 0)}; choose another one, or omit "
            "--port for a free one."
        ) from error
    return server, f"http://{_ADDRESS}:{server.server_port}/{token}/"


class _Server(ThreadingHTTPServer):
    allow_reuse_address = os.name == "posix"  # on Windows, another program could take the port

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore interrupted requests, which are not errors of the server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Handler of a request for the page, or for the data of chosen values of the controls."""

    timeout = 60.0  # seconds without a request

    def __init__(self, simulator: Simulator, token: str, *arguments: Any) -> None:
        self._simulator, self._token = simulator, token
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer a request. The status is 403 without the token, or with the host name of another server."""
        port = self.connection.getsockname()[1]
        host = self.headers.get("Host", "").lower()
        token, _, rest = self.path[1:].partition("/")
        is_allowed = secrets.compare_digest(token.encode(), self._token.encode())
        path, _, query = rest.partition("?")
        if not is_allowed or host not in (f"{_ADDRESS}:{port}", f"localhost:{port}"):
            self.send_error(403)
        elif path == "view":
            answer = self._simulator.answer(parse_qs(query, keep_blank_values=True), self._check_open)
            self._send("application/json", to_json(answer))
        elif rest:
            self.send_error(403)
        else:
            self._send("text/html; charset=utf-8", self._simulator.page)

    def _check_open(self, *_: object) -> None:
        """Raise ConnectionError if the browser has closed the connection, as it does for a newer request."""
        if select([self.connection], [], [], 0)[0] and not self.connection.recv(1, MSG_PEEK):
            raise ConnectionAbortedError

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""
