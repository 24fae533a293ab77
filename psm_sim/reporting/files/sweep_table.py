"""Table of a sweep as CSV, JSON or Parquet: one row per task."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from psm_sim import __version__
from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.campaign.sweep.store_table import table_rows, write_parquet
from psm_sim.errors import InputError
from psm_sim.files.atomic_file import atomic_write_text
from psm_sim.reporting.files.result_json import to_text


def write_csv(rows: Sequence[StoredRow], stream: TextIO) -> None:
    """Write a header and one row per task; what a task lacks is an empty cell."""
    found = table_rows(rows)
    if found:
        writer = csv.DictWriter(stream, fieldnames=list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def write_json(rows: Sequence[StoredRow], stream: TextIO) -> None:
    """Write one object: the version, and ``tasks``, a list of one object per task."""
    stream.write(to_text({"psm_sim": __version__, "tasks": table_rows(rows)}))


def export(rows: Sequence[StoredRow], path: Path) -> None:
    """Write the table to a file, in the format that its name ends with.

    Raises
    ------
    InputError
        If the name ends with none of ``.csv``, ``.json`` and ``.parquet``, or Parquet is not installed.
    """
    if path.suffix == ".parquet":
        try:
            write_parquet(rows, path)
        except ImportError:
            raise InputError(
                f"{str(path)!r} needs pyarrow, which is not installed; use pip install 'psm_sim[parquet]', "
                "or a name ending in .csv."
            ) from None
    elif path.suffix in _WRITERS:
        text = io.StringIO()
        _WRITERS[path.suffix](rows, text)
        atomic_write_text(path, text.getvalue())
    else:
        raise InputError(f"--to is {str(path)!r}; expected a name ending in .csv, .json or .parquet.")


_WRITERS = {".csv": write_csv, ".json": write_json}
