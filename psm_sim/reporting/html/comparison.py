"""Page of a comparison: its table, trade-off, states, slowdowns, timelines, pages and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.formatting import truncate
from psm_sim.reporting.figures.run.policy_styles import representative_run, truncate_name
from psm_sim.reporting.html import bars, distribution, marks, timeline
from psm_sim.reporting.html.document import Section, document
from psm_sim.reporting.html.marks import Mark
from psm_sim.reporting.html.markup import choice, facts, paragraphs, table, text
from psm_sim.reporting.html.pages import pages_section, pages_table
from psm_sim.reporting.html.timeline_data import record_timeline
from psm_sim.reporting.terminal.comparison import caption
from psm_sim.simulation.average import MEASURES, Average
from psm_sim.simulation.differences import SAVED, difference
from psm_sim.simulation.failed_pages import slowdowns

if TYPE_CHECKING:
    from psm_sim.campaign.pareto_frontier import Corner
    from psm_sim.simulation import Comparison, Result

_MAX_NAME_LENGTH = 28

MAX_RUNS = 5
"""The most policies whose timeline is in the page."""


def page_of(
    comparison: Comparison, known: Mapping[str, Any], frontier: Sequence[Corner] = (), preset: str = ""
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
        Section("summary", "", paragraphs(caption(comparison, preset)) + _summary(shown)),
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
    return document(title, sections, values)


def mark_of(run: Result, comparison: Comparison) -> Mark:
    """Return a policy's measures, with their intervals where there are several runs."""
    values = {name: float(value(run)) for name, value in MEASURES.items()}
    values |= {"slowdown.p95": run.slowdown.p95, "slowdown.max": run.slowdown.max}
    halves = {name: run.interval(name).half_width for name in MEASURES} if isinstance(run, Average) else {}
    if comparison.reference is not None:
        saved = difference(run, comparison.reference).saved_percent
        values[SAVED] = saved.mean
        halves |= {SAVED: saved.half_width} if isinstance(run, Average) else {}
    return Mark(truncate(run.policy, _MAX_NAME_LENGTH, "..."), run.policy, values, halves)


def _summary(shown: Sequence[Mark]) -> str:
    names = [marks.Y, SAVED, "page_time_s.mean", marks.X, "slowdown.p95", "slowdown.max"]
    names = [name for name in names if name in shown[0].values]
    rows = [[mark.name, *(_told(mark, name) for name in names)] for mark in shown]
    return table(["policy", *(marks.LABELS[name] for name in names)], rows)


def _told(mark: Mark, name: str) -> str:
    half = mark.half_widths.get(name)
    return f"{mark.values[name]:.4g}" + ("" if half is None else f" ± {half:.2g}")


def _trade_off(shown: Sequence[Mark], frontier: Sequence[Corner]) -> Section:
    options = marks.choices(shown)
    chosen = [
        choice("x-axis", "from left to right", options, marks.X),
        choice("y-axis", "from bottom to top", options, marks.Y),
    ]
    words = "A click on a name hides or shows it; policies that need far more energy are hidden at first."
    line = [(point.slowdown, point.energy_j) for point in frontier]
    html = paragraphs([words]) + "".join(chosen)
    return Section("frontier", "Energy against slowdown", html, marks.draw(shown, line))


def _states(shown: Sequence[Mark]) -> Section:
    words = (
        ["A bar that runs out of view is far longer: drag, or zoom out."] if bars.is_clipped(shown) else []
    )
    return Section("states", "Energy by radio state", paragraphs(words), bars.draw(shown))


def _slowdowns(comparison: Comparison) -> Section:
    lines = {truncate_name(run.policy): slowdowns(run) for run in comparison.shown}
    return Section("slowdowns", "Slowdown of pages", "", distribution.draw(lines))


def _timelines(runs: Sequence[Result], first: str) -> Section:
    """Return the timelines, at first that of the policy called *first*."""
    policies = {str(place): truncate_name(run.policy) for place, run in enumerate(runs)}
    asked = next((place for place, run in enumerate(runs) if run.policy == first), 0)
    numbers = {
        str(page_record.page): f"page {page_record.page}"
        for page_record in representative_run(runs[0]).page_records[:MAX_LISTED]
    }
    html = choice("policy", "policy", policies, str(asked))
    html += choice("page", "show", {"": "the whole run", **numbers}, next(iter(numbers)))
    return Section("timeline", "Timeline of the first seed or client", html, timeline.draw())


MAX_LISTED = 500
"""The most pages that the timeline lists; the others are reached by dragging."""


def _parameters(comparison: Comparison, known: Mapping[str, Any]) -> str:
    command = f"<pre><code>{text(known['command'])}</code></pre>" if "command" in known else ""
    tables = [facts(run.policy, run.parameters) for run in comparison.shown]
    tables.append(facts(f"trace {comparison.trace}", comparison.workload.parameters))
    tables.append(facts(f"topology {comparison.topology}", comparison.place.config()))
    tables.append(facts("versions", {"psm_sim": known.get("psm_sim", ""), **known.get("packages", {})}))
    files = known.get("files", {})
    return command + "".join(tables) + (facts("files, by SHA-256", files) if files else "")
