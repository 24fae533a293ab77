"""CSV tables: text is harmless in any program, and numbers are unchanged."""

from __future__ import annotations

import io

import pytest

from psm_sim.common.csv_output import harmless_cell, write_csv_records


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\\t=1"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("-1.5", "-1.5"),
        ("+1e3", "+1e3"),
        ("a=b", "a=b"),
        ("Zürich, 3 €", "Zürich, 3 €"),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_formulas_and_control_characters_in_texts_are_escaped(value: object, cell: object) -> None:
    assert harmless_cell(value) == cell


def test_records_with_different_keys_are_written_as_one_table() -> None:
    """Missing values are empty; names of columns are escaped, too."""
    stream = io.StringIO()
    write_csv_records(stream, [{"a": 1, "=b": "x"}, {"a": -2.5, "c": None, "d": True}])
    assert stream.getvalue() == "a,'=b,c,d\n1,x,,\n-2.5,,,True\n"
