"""Table of a sweep as CSV, JSON or Parquet, with one row per task."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from psm_sim import __version__
from psm_sim.campaign.sweep.results import table_rows
from psm_sim.campaign.sweep.store import StoredRow
from psm_sim.common.csv_output import write_csv_records
from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write, atomic_write_text
from psm_sim.reporting.files.result_json import to_text


def write_csv(rows: Sequence[StoredRow], stream: TextIO) -> None:
    """Write a header and one row per task. Missing values are empty cells."""
    if rows:
        write_csv_records(stream, table_rows(rows))


def write_json(rows: Sequence[StoredRow], stream: TextIO) -> None:
    """Write one object with the version and ``tasks``, a list of one object per task."""
    stream.write(to_text({"psm_sim": __version__, "tasks": table_rows(rows)}))


def export(rows: Sequence[StoredRow], path: Path) -> None:
    """Write the table to a file in the format of its suffix.

    Raises
    ------
    InputError
        If the suffix is not ``.csv``, ``.json`` or ``.parquet``, or if pyarrow is not installed.
    """
    if path.suffix == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise InputError(
                f"{str(path)!r} requires pyarrow; install it with pip install 'psm_sim[parquet]', "
                "or use a name that ends in .csv."
            ) from None
        with atomic_write(path) as file:
            pq.write_table(pa.Table.from_pylist(table_rows(rows)), file)
    elif path.suffix in _WRITERS:
        text = io.StringIO()
        _WRITERS[path.suffix](rows, text)
        atomic_write_text(path, text.getvalue())
    else:
        raise InputError(f"--to must end in .csv, .json or .parquet, got {str(path)!r}.")


_WRITERS = {".csv": write_csv, ".json": write_json}
