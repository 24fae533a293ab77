"""Command line and server of the interactive page."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import url2pathname

import pytest

from psm_sim.cli import main
from psm_sim.commands.explore import compare_arguments
from psm_sim.common.progress import no_progress
from psm_sim.reporting.explore.server import Simulator, open_server
from psm_sim.reporting.explore.settings import Settings, controls_of

QUICK = Settings(policies=("anticipate",), pages="2", seeds="1")


@contextmanager
def server(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the server, and return its process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "psm_sim", "explore", "--no-browser", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def status_of(address: str, **headers: str) -> int:
    """Return the HTTP status of a request with these headers."""
    parts = urlsplit(address)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port)) as connection:
        connection.request("GET", path, headers={name.replace("_", "-"): headers[name] for name in headers})
        return connection.getresponse().status


@contextmanager
def running(simulator: Simulator) -> Iterator[str]:
    """Run a server in a thread, and return its address."""
    opened, address = open_server(simulator, 0)
    thread = threading.Thread(target=opened.serve_forever)
    thread.start()
    with opened:
        try:
            yield address
        finally:
            opened.shutdown()
    thread.join()


def view_of(address: str) -> str:
    """Return the address of the data for the initial values of the controls."""
    values = {name: control["values"] for name, control in controls_of(QUICK).items()}
    return f"{address}view?{urlencode(values, doseq=True)}"


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Send a signal, and return the exit status and the messages of the process."""
    process.send_signal(number)
    _, messages = process.communicate()
    return process.returncode, messages


@pytest.mark.parametrize(
    "settings",
    [
        Settings(round_trip_ms="160", dtim="3", price="10", pages="2", seeds="2", seed="4"),
        Settings(bound="0.1", gamma="0.01", switching_rate="0.1", pages="2", seeds="2"),
        Settings("cbr", "esp32", policies=("dynamic:listen_interval=3",), pages="1", seeds="1"),
        Settings(policies=(), pages="1", seeds="1"),
    ],
)
def test_the_displayed_command_prints_the_displayed_results(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = compare_arguments(settings.arguments, no_progress)
    assert main([*shlex.split(settings.command)[3:], "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    energies = {run["policy"]: run["energy_per_page_j"] for run in [*printed["baselines"], *printed["runs"]]}
    assert energies == {run.policy: run.energy_per_page_j for run in shown.shown}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--trace", "nowhere.har"], "nowhere.har"),
        (["--port", "0"], "must be an integer"),
    ],
)
def test_a_wrong_option_is_reported_before_the_server_starts(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", "--no-browser", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_port_in_use_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["explore", "--no-browser", "--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"psm_sim: --port {port} is not available: ")


def test_the_page_requires_the_token() -> None:
    with running(Simulator(compare_arguments, QUICK)) as address:
        parts = urlsplit(address)
        assert parts.hostname == "127.0.0.1"
        assert status_of(address) == 200
        for wrong in ("/", "/view", "/favicon.ico", f"/x{parts.path}", "/%C3%A4"):
            assert status_of(f"http://{parts.netloc}{wrong}") == 403
        for odd in ("view/", "?trace=ucb", "page.html", "../view"):
            assert status_of(f"{address}{odd}") == 403
        for line in ("OPTIONS *", "CONNECT psm.example:1", "GET x", "GET //[/", "GET /\u00e4"):
            with socket.create_connection((parts.hostname, parts.port)) as client:
                client.sendall(f"{line} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
                assert client.recv(12) in (b"HTTP/1.0 403", b"HTTP/1.0 501")
        assert status_of(address, Host="psm.example") == 403


def test_a_closed_connection_ends_its_simulation() -> None:
    begun, ended = threading.Event(), threading.Event()

    def slow(arguments, progress):
        begun.set()
        try:
            while True:
                time.sleep(0.01)
                progress(0, 1, "")
        finally:
            ended.set()

    with running(Simulator(slow, QUICK)) as address:
        parts = urlsplit(view_of(address))
        with closing(http.client.HTTPConnection(parts.hostname or "", parts.port)) as connection:
            connection.request("GET", f"{parts.path}?{parts.query}")
            assert begun.wait(600)
            assert not ended.wait(0.1)
        assert ended.wait(600)


@pytest.mark.parametrize("words", [[], ["--no-browser"]])
def test_the_address_is_printed_and_opened(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = threading.Event()

    def serve(simulator, port, announce):
        assert port == 5006
        assert [simulator.controls[name]["values"] for name in ("trace", "profile")] == [["phone"], ["esp32"]]
        announce("http://127.0.0.1:5006/token/")
        assert opened.wait(0.2 if words else 600) == (not words)

    def follow(address: str) -> None:
        link = Path(url2pathname(urlsplit(address).path))
        assert "token" not in address
        assert link.stat().st_mode & 0o077 == 0 or os.name != "posix"
        assert "url=http://127.0.0.1:5006/token/" in link.read_text()
        opened.set()

    monkeypatch.setattr("webbrowser.open", follow)
    monkeypatch.setattr("psm_sim.reporting.explore.server.serve", serve)
    assert main(["explore", "--port", "5006", "--trace", "phone", "--profile", "esp32", *words]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:5006/token/\n")


def test_a_signal_ends_the_server() -> None:
    """The signal arrives during a simulation. No process remains, and the command prints no other lines."""
    with server("--trace", "modern") as (process, address):
        assert status_of(address) == 200
        load = threading.Thread(target=request_until_closed, args=(view_of(address),))
        load.start()
        time.sleep(0.5)
        assert ended(process, signal.SIGTERM) == (143, "psm_sim: terminated by SIGTERM.\n")
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
        load.join()


def request_until_closed(address: str) -> None:
    """Request an address again and again until there is no server."""
    with suppress(OSError, http.client.HTTPException):
        while True:
            status_of(address)
