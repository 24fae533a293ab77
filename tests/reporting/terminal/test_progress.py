"""The progress bar, on a terminal and only for runs that take a while, and heartbeats without a bar."""

from __future__ import annotations

import io
import time

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


def test_a_long_command_prints_heartbeats(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each interval is twice as long as the previous one."""
    monkeypatch.setattr(progress, "FIRST_HEARTBEAT_S", 0.05)
    with progress.heartbeat():
        progress.record_progress(3, 1000, "psm")
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 3
    assert lines[0].startswith("psm_sim: psm: 3 of 1,000, 0 s elapsed")
    assert all(line.endswith(" s elapsed") for line in lines)


@pytest.mark.parametrize(
    ("taken_s", "share", "words"),
    [
        (10, 0.05, " [#-------------------] about 3.2 minutes left"),
        (70, 0.7, " [##############------] about 30.0 seconds left"),
        (10, 0.2, ""),
        (10, 0.0, ""),
        (70, 1.0, ""),
    ],
)
def test_a_heartbeat_shows_the_remaining_time_of_more_than_a_minute(taken_s, share, words) -> None:
    """The bar is part of the line, so it also works if standard error is a file."""
    assert progress.time_left(taken_s, share) == words
