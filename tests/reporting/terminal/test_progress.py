"""Progress: a bar on a terminal, lines elsewhere, with phase, count and remaining time."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from psm_sim.reporting.terminal import progress
from tests.reporting.terminal.test_comparison import Terminal


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return Terminal()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock: its only element is the time in seconds."""
    now_s = [0.0]
    monkeypatch.setattr(progress, "LINE_INTERVAL_S", 10.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s[0])
    return now_s


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_terminal_shows_the_phase_and_the_count_and_is_cleared_at_the_end(
    terminal: Terminal, error: type[BaseException] | None
) -> None:
    """An interrupt clears the terminal, too."""

    def phase() -> None:
        with progress.progress("simulating", "pages") as report:
            report(40, 100, "lpsm:loss=[x]")
            if error:
                raise error

    with redirect_stderr(terminal):
        if error:
            with pytest.raises(error):
                phase()
        else:
            phase()
    assert "simulating lpsm:loss=[x]" in terminal.getvalue()
    assert "40/100" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_output_redirected_during_a_progress_phase_is_restored(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = io.StringIO()
    monkeypatch.setattr(sys, "stdout", own)
    shown = progress.progress
    with redirect_stderr(terminal), shown("simulating", "tasks") as report, redirect_stdout(sys.stderr):
        report(1, 2, "")
    assert sys.stdout is own


def test_progress_on_a_pipe_is_one_line_every_ten_seconds(clock: list[float]) -> None:
    """The first line is after five seconds. The remaining time follows after the first unit."""
    pipe = io.StringIO()
    with redirect_stderr(pipe), progress.progress("simulating", "pages") as report:
        for now_s, done in ((0, 0), (4, 1), (5, 0), (14, 2), (15, 1500), (700, 7000)):
            clock[0] = now_s
            report(done, 8000, "psm")
        clock[0] = 710
        report(1, 5, "", "seeds")
    assert pipe.getvalue().splitlines() == [
        "psm_sim: simulating psm: 0 of 8,000 pages, 5 s elapsed",
        "psm_sim: simulating psm: 1,500 of 8,000 pages, 15 s elapsed, 65 s left",
        "psm_sim: simulating psm: 7,000 of 8,000 pages, 11.7 minutes elapsed, 100 s left",
        "psm_sim: simulating: 1 of 5 seeds, 11.8 minutes elapsed, 47.3 minutes left",
    ]
