"""HTML report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.comparison_table import caption, plain_rows, tables_of
from psm_sim.reporting.html.figures import (
    draw_energy_by_state,
    draw_slowdowns,
    draw_timeline,
)
from psm_sim.reporting.html.html_document import (
    Section,
    escape_text,
    html_definitions,
    html_paragraphs,
    html_select,
    html_table,
    plain_text,
    render_document,
    trade_off_section,
)
from psm_sim.reporting.marks import (
    ENERGY,
    Mark,
    axes_of,
    first_run,
    has_pages,
    marks_of,
    short_name,
    split_far,
)
from psm_sim.reporting.run_events import Recorded, record_runs
from psm_sim.simulation.table import Block

if TYPE_CHECKING:
    from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
    from psm_sim.simulation import Comparison, Result


def page_of(
    comparison: Comparison,
    provenance: Mapping[str, Any],
    frontier: Sequence[ParetoCorner] = (),
    preset: str = "",
    recorded: Recorded | None = None,
) -> str:
    """Return the report of a *comparison* as HTML.

    *provenance* has ``command``, ``packages`` and ``files`` as in ``metadata.json``. *frontier* is that of
    the offline optimum. *preset* is the name of the preset, if any. *recorded* are events from
    :func:`~psm_sim.reporting.run_events.record_runs`; None records them.
    """
    marks, recorded = marks_of(comparison), recorded or record_runs(comparison)
    runs = [run for run, _ in recorded]
    sections = [
        Section(
            "summary",
            "",
            _conclusion(comparison) + html_numbers(comparison, preset),
        ),
        trade_off_section(
            _TRADE_OFF_HINT,
            marks,
            [(corner.slowdown, corner.energy_j) for corner in frontier],
            *axes_of(comparison),
        ),
        _states(marks, axes_of(comparison)[1]),
        *([_slowdowns(comparison)] if has_pages(comparison) else []),
        _timelines(runs, comparison),
        *([_pages(comparison)] if has_pages(comparison) else []),
        Section("parameters", "Parameters", _parameters(comparison, provenance)),
    ]
    policies = ", ".join(dict.fromkeys(run.policy_name for run in comparison.runs))
    title = f"{comparison.scenario.trace_name}: {policies}"
    values = {
        "timelines": [
            {name: times for name, times in events.items() if name != "rests"} for _, events in recorded
        ],
        "table": pages_table(comparison),
    }
    return render_document(title, sections, values)


def _conclusion(comparison: Comparison) -> str:
    return f"<p class=conclusion>{escape_text(comparison.conclusion())}</p>"


def html_numbers(comparison: Comparison, preset: str = "") -> str:
    """Return the tables of the command line, and the caption that explains them."""
    rows = (plain_rows(comparison, table) for table in tables_of(comparison))
    return "".join(html_table(*each) for each in rows) + html_paragraphs(caption(comparison, preset))


_TRADE_OFF_HINT = (
    "Click a legend entry to hide or show it. Policies with far higher energy are hidden initially."
)


def _states(marks: Sequence[Mark], measure: str) -> Section:
    hint = (
        ["Some bars extend beyond the axis. Drag or zoom out to see where they end."]
        if split_far(marks, measure)[1]
        else []
    )
    title = "Energy by radio state" if measure == ENERGY else "Power by radio state"
    return Section("states", title, html_paragraphs(hint), draw_energy_by_state(marks, measure))


def _slowdowns(comparison: Comparison) -> Section:
    figure = draw_slowdowns(comparison.shown)
    return Section("slowdowns", "Distribution of page slowdown", "", figure)


def _timelines(runs: Sequence[Result], comparison: Comparison) -> Section:
    """Return the section of the timelines, with the first policy and page selected."""
    policies = {str(index): short_name(run.policy_name) for index, run in enumerate(runs)}
    selected = next((index for index, run in enumerate(runs) if run is comparison.runs[0]), 0)
    count = len(runs[0].blocks[0]) if has_pages(comparison) else 0
    numbers = {str(number): f"page {number}" for number in range(1, min(count, MAX_LISTED) + 1)}
    html = html_select("policy", "policy", policies, str(selected))
    html += html_select("page", "show", {"": "whole run", **numbers}, next(iter(numbers), ""))
    return Section("timeline", f"Timeline of {first_run(comparison)}", html, draw_timeline())


MAX_LISTED = 500
"""Maximum number of pages in the list of the timeline. The user can drag the timeline to the others."""


def _parameters(comparison: Comparison, provenance: Mapping[str, Any]) -> str:
    command = (
        f"<pre><code>{escape_text(provenance['command'])}</code></pre>" if "command" in provenance else ""
    )
    tables = [html_definitions(run.label, run.parameters) for run in comparison.shown]
    scenario, topology = comparison.scenario, comparison.resolved_topology
    tables.append(html_definitions(f"trace {scenario.trace_name}", comparison.workload.parameters))
    tables.append(html_definitions(f"topology {scenario.topology_name}", topology.config()))
    tables.append(
        html_definitions(
            "package versions", {"psm_sim": provenance.get("psm_sim", ""), **provenance.get("packages", {})}
        )
    )
    files = provenance.get("files", {})
    return (
        command + "".join(tables) + (html_definitions("SHA-256 of the input files", files) if files else "")
    )


MAX_ROWS = 8_000
"""Maximum number of rows in the table. ``pages.csv`` has all rows."""

_PAGE_COLUMNS = {
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


def _pages(comparison: Comparison) -> Section:
    """Return the section of the table, whose rows a script inserts."""
    total = sum(run["pages"] for run in comparison.runs)
    omitted = (
        f" Only {MAX_ROWS} of {total} rows are listed. pages.csv has all rows." if total > MAX_ROWS else ""
    )
    hint = f"Click a column heading to sort. Click it again to reverse the order.{omitted}"
    return Section("pages", "Pages", html_paragraphs([hint]) + "<div id=rows></div>")


def pages_table(comparison: Comparison) -> dict[str, Any]:
    """Return the columns and at most :data:`MAX_ROWS` rows, the same number for each policy and run."""
    blocks = [(run.policy_name, block) for run in comparison.runs for block in run.blocks]
    rows_per_block = max(MAX_ROWS // len(blocks), 1)
    rows = [
        [name, *(str(block.keys[level]) for level in comparison.levels), *map(plain_text, values)]
        for name, block in blocks
        for values in _page_values(block, rows_per_block)
    ]
    return {"columns": ["policy", *comparison.levels, *_PAGE_COLUMNS.values()], "rows": rows[:MAX_ROWS]}


def _page_values(block: Block, count: int) -> Iterator[tuple[Any, ...]]:
    """Return the values of the first pages of a block."""
    columns = block.page_columns()
    return zip(*(columns[name][:count].tolist() for name in _PAGE_COLUMNS), strict=True)
