"""Pages of a result as objects, for tests that look at single ones."""

from __future__ import annotations

from types import SimpleNamespace

from psm_sim.simulation import Result


def page_rows(result: Result) -> list[SimpleNamespace]:
    """Return the rows of ``pages.csv`` of all runs of a result."""
    records = []
    for block in result.blocks:
        columns = block.page_columns()
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        records += [SimpleNamespace(**dict(zip(columns, row, strict=True))) for row in values]
    return records


def check_bytes_are_conserved(result: Result) -> None:
    """Check that every byte sent by the server was received, is in transit, or was dropped or lost."""
    names = ("client_received", "undelivered", "dropped", "lost")
    assert result["traffic.server_sent_bytes"] == sum(
        result.row.get(f"traffic.{name}_bytes", 0) for name in names
    )


def run_text(result: Result, *, with_events: bool = True) -> str:
    """Return all values and pages of a result as text, for comparisons of every bit. NaN is equal to NaN."""
    left_out = {"wall_s", *([] if with_events else ["events"])}
    values = {name: value for name, value in result.row.items() if name not in left_out}
    return repr((values, page_rows(result)))
