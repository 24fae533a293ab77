"""Page of a comparison: its table, trade-off, states, slowdowns, timelines, pages and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.formatting import truncate
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
from psm_sim.simulation.seed_average import MEASURES, Average

if TYPE_CHECKING:
    from psm_sim.campaign.pareto_frontier import ParetoCorner
    from psm_sim.simulation import Comparison, Result

_MAX_NAME_LENGTH = 28

MAX_RUNS = 5
"""The most policies whose timeline is in the page."""


def page_of(
    comparison: Comparison, known: Mapping[str, Any], frontier: Sequence[ParetoCorner] = (), preset: str = ""
) -> str:
    """Return the page.

    Parameters
    ----------
    comparison : Comparison
        The runs to show.
    known : mapping of str to values
        What made them, as ``metadata.json`` has it: ``command``, ``packages``, ``files``.
    frontier : sequence of Corner
        Hindsight's; empty for none.
    preset : str
        The name of the preset that was used; empty for none.
    """
    shown = [mark_of(run, comparison) for run in comparison.shown]
    runs = comparison.shown[:MAX_RUNS]
    sections = [
        Section("summary", "", html_paragraphs(caption(comparison, preset)) + _summary(shown)),
        _trade_off(shown, frontier),
        _states(shown),
        _slowdowns(comparison),
        _timelines(runs, comparison.runs[0].policy),
        pages_section(comparison),
        Section("parameters", "Parameters", _parameters(comparison, known)),
    ]
    title = f"{comparison.trace}: {', '.join(run.policy for run in comparison.runs)}"
    values = {
        "timelines": [record_timeline(representative_run(run)) for run in runs],
        "table": pages_table(comparison),
    }
    return render_document(title, sections, values)


def mark_of(run: Result, comparison: Comparison) -> Mark:
    """Return a policy's measures, with their intervals where there are several runs."""
    values = {name: float(value(run)) for name, value in MEASURES.items()}
    values |= {"slowdown.p95": run.slowdown.p95, "slowdown.max": run.slowdown.max}
    halves = {name: run.interval(name).half_width for name in MEASURES} if isinstance(run, Average) else {}
    if comparison.reference is not None:
        saved = paired_difference(run, comparison.reference).saved_percent
        values[SAVED] = saved.mean
        halves |= {SAVED: saved.half_width} if isinstance(run, Average) else {}
    return Mark(truncate(run.policy, _MAX_NAME_LENGTH, "..."), run.policy, values, halves)


def _summary(shown: Sequence[Mark]) -> str:
    names = [trade_off.Y, SAVED, "page_time_s.mean", trade_off.X, "slowdown.p95", "slowdown.max"]
    names = [name for name in names if name in shown[0].values]
    rows = [[mark.name, *(_told(mark, name) for name in names)] for mark in shown]
    return html_table(["policy", *(trade_off.LABELS[name] for name in names)], rows)


def _told(mark: Mark, name: str) -> str:
    half = mark.half_widths.get(name)
    return f"{mark.values[name]:.4g}" + ("" if half is None else f" ± {half:.2g}")


def _trade_off(shown: Sequence[Mark], frontier: Sequence[ParetoCorner]) -> Section:
    options = trade_off.choices(shown)
    chosen = [
        html_select("x-axis", "from left to right", options, trade_off.X),
        html_select("y-axis", "from bottom to top", options, trade_off.Y),
    ]
    words = "A click on a name hides or shows it; policies that need far more energy are hidden at first."
    line = [(point.slowdown, point.energy_j) for point in frontier]
    html = html_paragraphs([words]) + "".join(chosen)
    return Section("frontier", "Energy against slowdown", html, trade_off.draw(shown, line))


def _states(shown: Sequence[Mark]) -> Section:
    words = (
        ["A bar that runs out of view is far longer: drag, or zoom out."]
        if energy_bars.is_clipped(shown)
        else []
    )
    return Section("states", "Energy by radio state", html_paragraphs(words), energy_bars.draw(shown))


def _slowdowns(comparison: Comparison) -> Section:
    lines = {truncate_name(run.policy): complete_slowdowns(run) for run in comparison.shown}
    return Section("slowdowns", "Slowdown of pages", "", slowdown_distribution.draw(lines))


def _timelines(runs: Sequence[Result], first: str) -> Section:
    """Return the timelines, at first that of the policy called *first*."""
    policies = {str(place): truncate_name(run.policy) for place, run in enumerate(runs)}
    asked = next((place for place, run in enumerate(runs) if run.policy == first), 0)
    numbers = {
        str(page_record.page): f"page {page_record.page}"
        for page_record in representative_run(runs[0]).page_records[:MAX_LISTED]
    }
    html = html_select("policy", "policy", policies, str(asked))
    html += html_select("page", "show", {"": "the whole run", **numbers}, next(iter(numbers)))
    return Section("timeline", "Timeline of the first seed or client", html, timeline.draw())


MAX_LISTED = 500
"""The most pages that the timeline lists; the others are reached by dragging."""


def _parameters(comparison: Comparison, known: Mapping[str, Any]) -> str:
    command = f"<pre><code>{escape_text(known['command'])}</code></pre>" if "command" in known else ""
    tables = [html_definitions(run.policy, run.parameters) for run in comparison.shown]
    tables.append(html_definitions(f"trace {comparison.trace}", comparison.workload.parameters))
    tables.append(html_definitions(f"topology {comparison.topology}", comparison.resolved_topology.config()))
    tables.append(
        html_definitions("versions", {"psm_sim": known.get("psm_sim", ""), **known.get("packages", {})})
    )
    files = known.get("files", {})
    return command + "".join(tables) + (html_definitions("files, by SHA-256", files) if files else "")
