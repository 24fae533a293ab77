"""The progress bar: on a terminal, and only for runs that take a while."""

from __future__ import annotations

import io

import pytest

from psm_sim.reporting.terminal import progress


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock: its only element is the time in seconds."""
    now_s = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s[0])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return now_s


def test_a_short_run_shows_nothing(clock: list[float]) -> None:
    """Less than a second, and the terminal stays as it was."""
    stream = Terminal()
    with progress.progress_on(stream) as report:
        report(1, 2, "psm")
        clock[0] = 0.9
        report(2, 2, "psm")
    assert stream.getvalue() == ""


def test_a_long_run_shows_the_pages_done(clock: list[float]) -> None:
    """With the policy that is being run, from the first second on; the bar goes at the end."""
    stream = Terminal()
    with progress.progress_on(stream) as report:
        clock[0] = 1.5
        report(40, 100, "lpsm:loss=[x]")
        assert "lpsm:loss=[x]" in stream.getvalue()
        assert " 40/100" in stream.getvalue()
        clock[0] = 2.0
        report(60, 100, "psm")
        assert " 60/100" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_the_bar_is_drawn_a_few_times_a_second(clock: list[float]) -> None:
    """Whatever the number of pages."""
    stream = Terminal()
    with progress.progress_on(stream) as report:
        clock[0] = 1.5
        report(1, 100, "psm")
        drawn = len(stream.getvalue())
        report(2, 100, "psm")
        assert len(stream.getvalue()) == drawn


def test_a_pipe_gets_nothing_at_all(clock: list[float]) -> None:
    """Logs stay clean."""
    stream = io.StringIO()
    with progress.progress_on(stream) as report:
        clock[0] = 100.0
        report(1, 2, "psm")
    assert stream.getvalue() == ""


def test_an_interrupt_takes_the_bar_away(clock: list[float]) -> None:
    """And is passed on."""
    stream = Terminal()

    def interrupted() -> None:
        with progress.progress_on(stream) as report:
            clock[0] = 1.5
            report(1, 2, "psm")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().endswith("\x1b[2K")
