"""Fixture that writes small UCB traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workload.recordings.ucb_files import record, write_records


@pytest.fixture
def trace(tmp_path: Path):
    """Return a function that writes records to a file, binary unless the name selects text."""

    def write(*records, name="t.tr"):
        write_records(tmp_path / name, records)
        return tmp_path / name

    write.record = record
    return write
