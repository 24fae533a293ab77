"""Checks of the arguments of a trace command, made before the trace is read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import check_writable
from psm_sim.workload import Workload

BYTES_PER_RECORD = 100
"""Upper bound of the size of a synthetic record with its request line, in bytes."""


def check_unused(values: Mapping[str, Any], reason: str) -> None:
    """Raise InputError if one of *values* is set, because it has no effect for the given *reason*."""
    for name, value in values.items():
        if value is not None:
            raise InputError(f"{name}={value} has no effect because {reason}; remove it.")


def check_pages(workload: Workload) -> None:
    """Raise InputError if the trace has no page views, because its page list would be empty."""
    if not any(page.objects for page in workload.pages):
        raise InputError(f"trace {workload.name} has only messages; a page list requires a trace with pages.")


def check_target(path: Path, to: Path) -> None:
    """Raise InputError if the output file *to* is the trace *path*, or is not writable."""
    check_writable(to)
    if to.exists() and to.samefile(path):
        raise InputError(f"--to: the output file {str(to)!r} is the input trace; choose another file.")


def check_disk_space(to: Path, records: int) -> None:
    """Raise InputError if the disk of *to* has too little space for *records*."""
    free, needed = shutil.disk_usage(to.resolve().parent).free, BYTES_PER_RECORD * records
    if needed > free:
        raise InputError(
            f"--records {records:,} requires about {needed >> 20:,} MiB, but the disk has only "
            f"{free >> 20:,} MiB of free space; reduce the number of records."
        )
