"""Checks of what a trace command is asked for, before the trace is read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.files.atomic_file import check_writable
from psm_sim.workload import Workload

BYTES_PER_RECORD = 100
"""Bytes of a synthetic record with its request line, at most."""


def check_unused(given: Mapping[str, Any], why: str) -> None:
    """Refuse an option or parameter, by name, that would be ignored; None: it is not given."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is {value!r}, but {why}; leave it out.")


def check_pages(workload: Workload) -> None:
    """Refuse a trace without page views, of which a page list would be empty."""
    if not any(page.objects for page in workload.pages):
        raise InputError(
            f"trace {workload.name} has no page views, only messages; expected one with pages to convert."
        )


def check_target(path: Path, to: Path) -> None:
    """Refuse a target that is the trace itself or cannot be written, before the trace is read."""
    check_writable(to)
    if to.exists() and to.samefile(path):
        raise InputError(f"--to is {str(to)!r}, the trace itself; expected another file.")


def check_disk_space(to: Path, records: int) -> None:
    """Refuse more records than the disk has room for."""
    free, needed = shutil.disk_usage(to.resolve().parent).free, BYTES_PER_RECORD * records
    if needed > free:
        raise InputError(
            f"--records is {records:,}, about {needed >> 20:,} MiB, but the disk has {free >> 20:,} MiB "
            "left; give fewer."
        )
