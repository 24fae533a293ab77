"""Progress: a bar on a terminal, lines elsewhere, with phase, count, rate and remaining time."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest

from psm_sim.reporting.terminal import progress


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal; bars appear on it soon."""
    monkeypatch.setattr(progress, "PATIENCE_S", 0.05)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return Terminal()


@contextmanager
def shown_on(stream: io.StringIO) -> Iterator[None]:
    """Show the progress on a terminal or in a pipe."""
    with redirect_stderr(stream), progress.shown_progress():
        yield


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock: its only element is the time in seconds."""
    now_s = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s[0])
    return now_s


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until the thread that shows the progress has done something, for at most 20 s."""
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)


def test_a_short_phase_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 60.0)
    with shown_on(terminal), progress.progress("simulating", "pages") as report:
        report(1, 2, "psm")
        time.sleep(0.3)
    assert terminal.getvalue() == ""


def test_a_terminal_shows_phase_count_and_rate_and_is_cleared(terminal: Terminal) -> None:
    with shown_on(terminal):
        with progress.progress("simulating", "pages") as report:
            report(0, 100, "lpsm:loss=[x]")
            report(40, 100, "lpsm:loss=[x]")
            wait_until(lambda: "pages/s" in terminal.getvalue())
        simulating = terminal.getvalue()
        assert "simulating lpsm:loss=[x]" in simulating
        assert "40 of 100 pages" in simulating
        assert " left" in simulating
        assert simulating.endswith("\x1b[2K")
        with progress.progress("drawing"):
            wait_until(lambda: "drawing" in terminal.getvalue())
    assert "drawing" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_an_interrupt_removes_the_bar(terminal: Terminal) -> None:

    def interrupted() -> None:
        with shown_on(terminal), progress.progress("simulating", "pages") as report:
            report(1, 2, "psm")
            wait_until(lambda: "psm" in terminal.getvalue())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_output_redirected_during_a_phase_is_restored(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = io.StringIO()
    monkeypatch.setattr(sys, "stdout", own)
    with shown_on(terminal), progress.progress("simulating", "tasks") as report:
        redirected = redirect_stdout(sys.stderr)
        with redirected:
            report(1, 2, "")
            wait_until(lambda: "1 of 2 tasks" in terminal.getvalue())
    assert sys.stdout is own


def test_a_pipe_gets_lines_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with phase, count, rate, elapsed and remaining time."""
    monkeypatch.setattr(progress, "LINE_INTERVAL_S", 0.05)
    pipe = io.StringIO()
    with shown_on(pipe), progress.progress("simulating", "pages") as report:
        report(0, 1000, "psm")
        report(3, 1000, "psm")
        wait_until(lambda: pipe.getvalue().count("\n") >= 3)
    lines = pipe.getvalue().splitlines()
    assert len(lines) >= 3
    assert lines[0].startswith("psm_sim: simulating psm: 3 of 1,000 pages, ")
    assert all(" s elapsed, " in line and line.endswith(" left") for line in lines)


def test_a_line_names_what_is_known(clock: list[float]) -> None:
    """Phase and elapsed time always; count, rate and remaining time from the first reports on."""
    assert progress._line(12) == "still running, 12 s elapsed"
    with progress.progress("drawing"):
        assert progress._line(130) == "drawing, 2.2 minutes elapsed"
    with progress.progress("simulating", "tasks") as report:
        assert progress._line(10) == "preparing, 10 s elapsed"
        clock[0] = 5.0
        report(0, 1200, "")
        assert progress._line(15) == "simulating: 0 of 1,200 tasks, 15 s elapsed"
        clock[0] = 15.0
        report(200, 1200, "")
        assert progress._line(25) == "simulating: 200 of 1,200 tasks, 20 tasks/s, 25 s elapsed, 50 s left"
        clock[0] = 605.0
        report(400, 1200, "")
        assert progress._line(615).endswith(", 40 tasks/min, 10.2 minutes elapsed, 20.0 minutes left")
        report(1200, 1200, "")
        assert progress._line(620) == "evaluating, 10.3 minutes elapsed"
    with progress.progress("reading", "bytes") as report:
        report(0, 40_000_000, "a.pcap")
        clock[0] += 2.0
        report(10_000_000, 40_000_000, "a.pcap")
        expected = "reading a.pcap: 10.0 of 40.0 MB, 5 MB/s, 3 s elapsed, 6 s left"
        assert progress._line(3) == expected
