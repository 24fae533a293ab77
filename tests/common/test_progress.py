"""Heartbeats of long commands."""

from __future__ import annotations

import time

import pytest

from psm_sim.common import progress


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
