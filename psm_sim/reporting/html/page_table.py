"""Sortable table of the pages of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.html_document import Section
from psm_sim.reporting.html.markup import html_paragraphs, plain_text
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result
    from psm_sim.simulation.result_parts import PageRecord

MAX_ROWS = 8_000
"""Maximum number of rows in the table. ``pages.csv`` has all rows."""

_COLUMNS = {
    "page": "page",
    "objects": "objects",
    "bytes": "bytes",
    "think_s": "think time (s)",
    "page_time_s": "page time (s)",
    "always_on_time_s": "page time without power saving (s)",
    "slowdown": "slowdown",
    "energy_j": "energy (J)",
    "beacons": "beacons",
}


def pages_section(comparison: Comparison) -> Section:
    """Return the section of the table, whose rows a script inserts."""
    total = sum(len(run.page_records) for run in comparison.runs)
    omitted = (
        f" Only {MAX_ROWS} of {total} rows are listed. pages.csv has all rows." if total > MAX_ROWS else ""
    )
    hint = f"Click a column heading to sort. Click it again to reverse the order.{omitted}"
    return Section("pages", "Pages", html_paragraphs([hint]) + "<div id=rows></div>")


def pages_table(comparison: Comparison) -> dict[str, Any]:
    """Return the columns and at most :data:`MAX_ROWS` rows, the same number for each policy and run."""
    results = [(run, *pair) for run in comparison.runs for pair in _runs_of(run)]
    rows_per_result = max(MAX_ROWS // len(results), 1)
    first = comparison.runs[0]
    kind = [first.KIND] if isinstance(first, Average) else []
    rows = [
        [run.policy, *([name] if kind else []), *_values(record)]
        for run, name, result in results
        for record in result.page_records[:rows_per_result]
    ]
    return {"columns": ["policy", *kind, *_COLUMNS.values()], "rows": rows[:MAX_ROWS]}


def _runs_of(run: Result) -> Iterator[tuple[str, Result]]:
    yield from zip(run.names, run.results, strict=True) if isinstance(run, Average) else [("", run)]


def _values(record: PageRecord) -> list[Any]:
    return [plain_text(getattr(record, name)) for name in _COLUMNS]
