"""The bar of a sweep: tasks done and the time left, on a terminal alone."""

from __future__ import annotations

import io

import pytest

from psm_sim.campaign.sweep.eta import EtaEstimator
from psm_sim.reporting.terminal import progress
from psm_sim.reporting.terminal.progress import format_time_left, sweep_progress_on


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def half_done() -> EtaEstimator:
    """Return two of four tasks done, which took ten minutes each."""
    remaining = EtaEstimator([("psm", 100)] * 4)
    for _ in range(2):
        remaining.done("psm", 100, 600.0)
    return remaining


def test_the_time_left_is_told_in_words() -> None:
    """Nothing is said before anything is known."""
    assert format_time_left(EtaEstimator([("psm", 100)])) == ""
    assert format_time_left(half_done()) == ", about 20.0 minutes left"


def test_a_bar_shows_tasks_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a second, and vanishes."""
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    terminal = Terminal()
    with sweep_progress_on(terminal) as watch:
        watch(half_done())
        shown = terminal.getvalue()
    assert "2/4" in shown
    assert "tasks, about 20.0 minutes left" in shown
    assert len(terminal.getvalue()) > len(shown)


def test_a_quick_sweep_shows_no_bar() -> None:
    """Neither does one without a terminal."""
    for stream in (Terminal(), io.StringIO()):
        with sweep_progress_on(stream) as watch:
            watch(half_done())
        assert stream.getvalue() == ""
