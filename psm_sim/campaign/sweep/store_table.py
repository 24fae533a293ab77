"""Table of a sweep, with one row per task and one column per parameter and measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.task_outcome import StoredRow
from psm_sim.common.component_spec import name_of
from psm_sim.common.output_files import atomic_write

if TYPE_CHECKING:
    import pandas as pd

TASK_COLUMNS = ("policy", "name", "trace", "topology", "pages", "seed", "state")
"""Columns before the parameters: policy spec, policy name, scenario and state."""


def table_rows(rows: Iterable[StoredRow]) -> list[dict[str, Any]]:
    """Return rows as dictionaries with the same keys in the same order. Missing values are None.

    The keys are :data:`TASK_COLUMNS`, the parameters, the measures and ``error``.
    """
    rows = list(rows)
    parameters = dict.fromkeys(key for row in rows for key in row.parameters)
    measures = dict.fromkeys(key for row in rows for key in row.measures)
    return [
        {
            **{column: _task_value(row, column) for column in TASK_COLUMNS},
            **{key: row.parameters.get(key) for key in parameters},
            **{key: row.measures.get(key) for key in measures},
            "error": row.error or None,
        }
        for row in rows
    ]


def table_frame(rows: Iterable[StoredRow]) -> pd.DataFrame:
    """Return rows as a DataFrame. See :func:`table_rows` for the columns."""
    import pandas as pd

    return pd.DataFrame(table_rows(rows))


def write_parquet(rows: Sequence[StoredRow], path: Path) -> None:
    """Write rows as a Parquet file.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    InputError
        If the file cannot be written. An existing file stays unchanged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(table_rows(rows))
    with atomic_write(path) as file:
        pq.write_table(table, file)


def _task_value(row: StoredRow, column: str) -> Any:
    return name_of(row.policy, "policy") if column == "name" else getattr(row, column)
