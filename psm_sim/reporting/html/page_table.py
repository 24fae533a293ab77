"""Pages of a comparison as a table for the reader to sort: the first ones of each policy and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.html_document import Section
from psm_sim.reporting.html.markup import html_paragraphs, plain_text
from psm_sim.simulation.seed_average import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result
    from psm_sim.simulation.run_records import PageRecord

MAX_ROWS = 8_000
"""The most rows of the table; ``pages.csv`` has all."""

_COLUMNS = {
    "page": "page",
    "objects": "objects",
    "bytes": "bytes",
    "think_s": "think time (s)",
    "page_time_s": "page time (s)",
    "always_on_time_s": "without power saving (s)",
    "slowdown": "slowdown",
    "energy_j": "energy (J)",
    "beacons": "beacons",
}


def pages_section(comparison: Comparison) -> Section:
    """Return the section, which the page's program fills."""
    total = sum(len(run.page_records) for run in comparison.runs)
    left = f" The first {MAX_ROWS} of {total}; pages.csv has all." if total > MAX_ROWS else ""
    words = f"A click on a heading sorts, a second one in falling order.{left}"
    return Section("pages", "Page by page", html_paragraphs([words]) + "<div id=rows></div>")


def pages_table(comparison: Comparison) -> dict[str, Any]:
    """Return the columns and the rows, at most :data:`MAX_ROWS`, as many of each policy and run."""
    several = [(run, *each) for run in comparison.runs for each in _runs_of(run)]
    each = max(MAX_ROWS // len(several), 1)
    first = comparison.runs[0]
    kind = [first.KIND] if isinstance(first, Average) else []
    rows = [
        [run.policy, *([name] if kind else []), *_values(record)]
        for run, name, result in several
        for record in result.page_records[:each]
    ]
    return {"columns": ["policy", *kind, *_COLUMNS.values()], "rows": rows[:MAX_ROWS]}


def _runs_of(run: Result) -> Iterator[tuple[str, Result]]:
    yield from zip(run.names, run.results, strict=True) if isinstance(run, Average) else [("", run)]


def _values(record: PageRecord) -> list[Any]:
    return [plain_text(getattr(record, name)) for name in _COLUMNS]
