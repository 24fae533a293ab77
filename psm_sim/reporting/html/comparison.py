"""HTML report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.common.formatting import truncate
from psm_sim.reporting.figures.run.policy_styles import representative_run, truncate_name
from psm_sim.reporting.html import energy_bars, slowdown_distribution, timeline, trade_off
from psm_sim.reporting.html.html_document import Section, render_document
from psm_sim.reporting.html.markup import (
    escape_text,
    html_definitions,
    html_paragraphs,
    html_select,
    html_table,
)
from psm_sim.reporting.html.page_table import pages_section, pages_table
from psm_sim.reporting.html.timeline_data import record_timeline
from psm_sim.reporting.html.trade_off import Mark
from psm_sim.reporting.terminal.comparison import caption
from psm_sim.simulation.failed_pages import complete_slowdowns
from psm_sim.simulation.paired_differences import SAVED, paired_difference
from psm_sim.simulation.run_averages import MEASURES, Average

if TYPE_CHECKING:
    from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
    from psm_sim.simulation import Comparison, Result

_MAX_NAME_LENGTH = 28

MAX_RUNS = 5
"""Maximum number of policies with a timeline in the report."""


def page_of(
    comparison: Comparison,
    provenance: Mapping[str, Any],
    frontier: Sequence[ParetoCorner] = (),
    preset: str = "",
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.
    provenance : mapping of str to values
        ``command``, ``packages`` and ``files`` as in ``metadata.json``.
    frontier : sequence of ParetoCorner
        Frontier of the offline optimum. An empty sequence omits it.
    preset : str
        Name of the preset. An empty string means none.
    """
    marks = [mark_of(run, comparison) for run in comparison.shown]
    runs = comparison.shown[:MAX_RUNS]
    sections = [
        Section("summary", "", html_paragraphs(caption(comparison, preset)) + _summary(marks)),
        _trade_off(marks, frontier),
        _states(marks),
        _slowdowns(comparison),
        _timelines(runs, comparison.runs[0].policy),
        pages_section(comparison),
        Section("parameters", "Parameters", _parameters(comparison, provenance)),
    ]
    title = f"{comparison.trace}: {', '.join(run.policy for run in comparison.runs)}"
    values = {
        "timelines": [record_timeline(representative_run(run)) for run in runs],
        "table": pages_table(comparison),
    }
    return render_document(title, sections, values)


def mark_of(run: Result, comparison: Comparison) -> Mark:
    """Return the measures of a run, with confidence intervals if it is an average."""
    values = {name: float(value(run)) for name, value in MEASURES.items()}
    values |= {"slowdown.p95": run.slowdown.p95, "slowdown.max": run.slowdown.max}
    half_widths = (
        {name: run.interval(name).half_width for name in MEASURES} if isinstance(run, Average) else {}
    )
    if comparison.reference is not None:
        saved = paired_difference(run, comparison.reference).saved_percent
        values[SAVED] = saved.mean
        half_widths |= {SAVED: saved.half_width} if isinstance(run, Average) else {}
    return Mark(truncate(run.policy, _MAX_NAME_LENGTH, "..."), run.policy, values, half_widths)


def _summary(marks: Sequence[Mark]) -> str:
    names = [trade_off.Y, SAVED, "page_time_s.mean", trade_off.X, "slowdown.p95", "slowdown.max"]
    names = [name for name in names if name in marks[0].values]
    rows = [[mark.name, *(_format_measure(mark, name) for name in names)] for mark in marks]
    return html_table(["policy", *(trade_off.LABELS[name] for name in names)], rows)


def _format_measure(mark: Mark, name: str) -> str:
    half_width = mark.half_widths.get(name)
    return f"{mark.values[name]:.4g}" + ("" if half_width is None else f" ± {half_width:.2g}")


def _trade_off(marks: Sequence[Mark], frontier: Sequence[ParetoCorner]) -> Section:
    options = trade_off.choices(marks)
    selects = [
        html_select("x-axis", "x axis", options, trade_off.X),
        html_select("y-axis", "y axis", options, trade_off.Y),
    ]
    hint = "Click a legend entry to hide or show it. Policies with far higher energy are hidden initially."
    line = [(corner.slowdown, corner.energy_j) for corner in frontier]
    html = html_paragraphs([hint]) + "".join(selects)
    return Section("frontier", "Energy against slowdown", html, trade_off.draw(marks, line))


def _states(marks: Sequence[Mark]) -> Section:
    hint = (
        ["Some bars extend beyond the axis. Drag or zoom out to see where they end."]
        if energy_bars.is_clipped(marks)
        else []
    )
    return Section("states", "Energy by radio state", html_paragraphs(hint), energy_bars.draw(marks))


def _slowdowns(comparison: Comparison) -> Section:
    lines = {truncate_name(run.policy): complete_slowdowns(run) for run in comparison.shown}
    return Section("slowdowns", "Distribution of page slowdown", "", slowdown_distribution.draw(lines))


def _timelines(runs: Sequence[Result], first: str) -> Section:
    """Return the section of the timelines, with the policy *first* selected."""
    policies = {str(index): truncate_name(run.policy) for index, run in enumerate(runs)}
    selected = next((index for index, run in enumerate(runs) if run.policy == first), 0)
    numbers = {
        str(page_record.page): f"page {page_record.page}"
        for page_record in representative_run(runs[0]).page_records[:MAX_LISTED]
    }
    html = html_select("policy", "policy", policies, str(selected))
    html += html_select("page", "show", {"": "whole run", **numbers}, next(iter(numbers)))
    return Section("timeline", "Timeline of the first seed or client", html, timeline.draw())


MAX_LISTED = 500
"""Maximum number of pages in the list of the timeline. The user can drag the timeline to the others."""


def _parameters(comparison: Comparison, provenance: Mapping[str, Any]) -> str:
    command = (
        f"<pre><code>{escape_text(provenance['command'])}</code></pre>" if "command" in provenance else ""
    )
    tables = [html_definitions(run.policy, run.parameters) for run in comparison.shown]
    tables.append(html_definitions(f"trace {comparison.trace}", comparison.workload.parameters))
    tables.append(html_definitions(f"topology {comparison.topology}", comparison.resolved_topology.config()))
    tables.append(
        html_definitions(
            "package versions", {"psm_sim": provenance.get("psm_sim", ""), **provenance.get("packages", {})}
        )
    )
    files = provenance.get("files", {})
    return (
        command + "".join(tables) + (html_definitions("SHA-256 of the input files", files) if files else "")
    )
