"""Table of a sweep: one row per task, one column per parameter and per measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.common.component_spec import name_of
from psm_sim.common.output_files import atomic_write

if TYPE_CHECKING:
    import pandas as pd

WORDS = ("policy", "name", "trace", "topology", "pages", "seed", "state")
"""The columns before the parameters: the policy as given, its name alone, its scenario, its state."""


def table_rows(rows: Iterable[StoredRow]) -> list[dict[str, Any]]:
    """Return rows as dictionaries with the same keys in the same order; what a row lacks is None.

    The columns are :data:`WORDS`, the parameters, the measures and ``error``.
    """
    rows = list(rows)
    parameters = dict.fromkeys(key for row in rows for key in row.parameters)
    measures = dict.fromkeys(key for row in rows for key in row.measures)
    return [
        {
            **{word: _word(row, word) for word in WORDS},
            **{key: row.parameters.get(key) for key in parameters},
            **{key: row.measures.get(key) for key in measures},
            "error": row.error or None,
        }
        for row in rows
    ]


def table_frame(rows: Iterable[StoredRow]) -> pd.DataFrame:
    """Return rows as a DataFrame, one row per task, columns as :func:`table_rows`."""
    import pandas as pd

    return pd.DataFrame(table_rows(rows))


def write_parquet(rows: Sequence[StoredRow], path: Path) -> None:
    """Write rows as a Parquet file.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    InputError
        If the file cannot be written; an earlier one is left as it was.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(table_rows(rows))
    with atomic_write(path) as file:
        pq.write_table(table, file)


def _word(row: StoredRow, word: str) -> Any:
    return name_of(row.policy, "policy") if word == "name" else getattr(row, word)
