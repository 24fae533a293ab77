"""CSV tables whose cells are harmless in a spreadsheet and on a terminal."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from psm_sim.common.formatting import escape_unprintable

_FORMULA = ("=", "+", "-", "@")
"""First characters of a formula in a spreadsheet."""


def write_csv(stream: TextIO, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write *header* and one line for each of the *rows* to *stream*. None is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(harmless_cell, header))
    writer.writerows(map(harmless_cell, row) for row in rows)


def write_csv_records(stream: TextIO, records: Sequence[Mapping[str, Any]]) -> None:
    """Write one line per record. The columns are the keys of all records, in order of first occurrence."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    write_csv(stream, columns, ([record.get(column) for column in columns] for record in records))


def harmless_cell(value: Any) -> Any:
    """Return a text that neither runs as a formula nor controls a terminal; return other values unchanged.

    Unprintable characters are escaped. An apostrophe is put before a formula, so that a spreadsheet shows it
    as text. A text that is a number, such as ``-1``, is left unchanged.
    """
    if not isinstance(value, str):
        return value
    text = escape_unprintable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
