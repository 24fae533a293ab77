"""Local server of one bokeh page, which only the holder of its address can open."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError
from psm_sim.common.signal_handling import wait_for_signal

if TYPE_CHECKING:
    from bokeh.document import Document

_ADDRESS = "127.0.0.1"
_URI = r"(ws|static/[\w./-]+(\?v=\w+)?)?"
"""Paths that a browser requests below the token."""


def serve(make_page: Callable[[Document], object], port: int, announce: Callable[[str], None]) -> None:
    """Serve a page on this computer until the process is interrupted.

    The address contains a random token. A request without the token, or with the host name of another site,
    gets status 403. *make_page* fills the document of one browser tab. *announce* is called with the address
    once the server accepts requests. *port* 0 selects a free port.

    Raises
    ------
    InputError
        If the port is not available.
    """
    asyncio.run(serve_until_cancelled(make_page, port, announce))


async def serve_until_cancelled(
    make_page: Callable[[Document], object], port: int, announce: Callable[[str], None]
) -> None:
    """Serve a page until the task is cancelled; see :func:`serve`."""
    from bokeh.server.server import BaseServer
    from bokeh.server.tornado import BokehTornado
    from tornado.httpserver import HTTPServer
    from tornado.ioloop import IOLoop

    def fill(document: Document) -> None:
        make_page(document)

    try:
        listener = socket.create_server((_ADDRESS, port))
    except OSError as error:
        raise InputError(
            f"--port {port} is not available: {os.strerror(error.errno or 0)}; choose another one, or omit "
            "--port for a free one."
        ) from error
    listener.setblocking(False)
    port, token = listener.getsockname()[1], secrets.token_urlsafe(24)
    hosts = [f"{_ADDRESS}:{port}", f"localhost:{port}"]
    application = BokehTornado({"/": fill}, prefix=token, extra_websocket_origins=hosts, use_index=False)
    http = HTTPServer(_guard(application, token, hosts))
    http.add_socket(listener)
    server = BaseServer(IOLoop.current(), application, http)
    server.start()
    try:
        announce(f"http://{_ADDRESS}:{port}/{token}/")
        await wait_for_signal()
    finally:
        server.stop(wait=False)


def _guard(application: Any, token: str, hosts: list[str]) -> Any:
    """Return a router that rejects a wrong token, a host not in *hosts*, and paths the page does not use."""
    from tornado.routing import AnyMatches, Matcher, Rule, RuleRouter
    from tornado.web import Application, ErrorHandler

    class HasToken(Matcher):
        def match(self, request: Any) -> dict[str, Any] | None:
            sent_token, _, rest = request.uri[1:].partition("/")
            is_allowed = secrets.compare_digest(sent_token.encode(), token.encode())
            is_allowed &= request.host.lower() in hosts
            return {} if is_allowed and re.fullmatch(_URI, rest) else None

    refusal = Application([(".*", ErrorHandler, {"status_code": 403})])
    return RuleRouter([Rule(HasToken(), application), Rule(AnyMatches(), refusal)])
