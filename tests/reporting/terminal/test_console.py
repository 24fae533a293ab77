"""Tables on a terminal or in a file."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from psm_sim.reporting.columns import Column, number_column, text_column
from psm_sim.reporting.terminal.console import console_on, print_table


def printed(*columns: Column) -> list[str]:
    """Return the lines of a table in a file, without the heading and the line below it."""
    stream = io.StringIO()
    with console_on(stream) as console:
        print_table(console, columns)
    return stream.getvalue().splitlines()[2:]


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=4))
def test_text_is_wrapped_and_never_truncated(texts: list[str]) -> None:
    """The characters are random; unprintable ones are escaped, so a text has no line breaks."""
    column = text_column("policy", texts)
    ranks = Column("rank", [str(number) for number in range(len(texts))])
    shown = [""] * len(texts)
    number = 0
    for line in printed(ranks, column):
        assert len(line) <= 100
        number = int(line[:5].strip() or number)
        shown[number] += line[5:]
    assert ["".join(text.split()) for text in shown] == ["".join(text.split()) for text in column.cells]


def test_columns_of_the_highest_rank_are_removed_first_and_the_removed_columns_are_named() -> None:
    columns = [number_column(f"column-{rank:02}-of-many", [1.0, 2.0], rank=rank) for rank in range(10)]
    stream = io.StringIO()
    with console_on(stream) as console:
        shown, left_out = print_table(console, columns)
    assert [column.rank for column in shown] == list(range(len(shown)))
    assert left_out == [column.measure for column in reversed(columns[len(shown) :])]
    assert max(map(len, stream.getvalue().splitlines())) <= 100


def test_columns_of_the_same_measure_share_one_heading() -> None:
    """The heading spans the columns, and makes none of them wider."""
    stream = io.StringIO()
    with console_on(stream) as console:
        print_table(console, [number_column("page time", [1.0], name, "s") for name in ("p50", "p90")])
    first, second = stream.getvalue().splitlines()[:2]
    assert (first.split(), second.split()) == (["page", "time", "s"], ["p50", "p90"])
    assert len(first) == len(second)
