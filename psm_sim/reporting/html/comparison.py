"""HTML report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.html.html_document import (
    html_command,
    html_conclusion,
    html_definitions,
    html_figure,
    html_paragraphs,
    html_section,
    html_table,
    render_document,
)
from psm_sim.reporting.marks import (
    axes_of,
    first_run,
)
from psm_sim.simulation.table import ENERGY

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison


def html_of(comparison: Comparison, provenance: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Return the report of a *comparison* as HTML.

    *provenance* comes from :func:`~psm_sim.reporting.files.result_folder.provenance_of`. *pictures* are the
    figures of :func:`~psm_sim.reporting.figures.comparison.figures_of` as SVG texts, by name.
    """
    tables = "".join(html_table(table.main_columns) for table in tables_of(comparison))
    numbers = html_conclusion(comparison.conclusion()) + tables + html_paragraphs(caption(comparison))
    sections = [
        html_section("summary", "", numbers),
        *(
            html_section(name, title, html_figure(pictures[name], title))
            for name, title in _titles(comparison).items()
            if name in pictures
        ),
        html_section("parameters", "Parameters", _parameters(comparison, provenance)),
    ]
    policies = ", ".join(dict.fromkeys(run.policy_name for run in comparison.runs))
    title = f"{comparison.scenario.trace_name}: {policies}"
    return render_document(title, sections)


def _titles(comparison: Comparison) -> dict[str, str]:
    """Return the title of each figure."""
    plotted = "Energy" if axes_of(comparison)[1] == ENERGY else "Power"
    return {
        "energy-slowdown": f"{plotted} against {'slowdown' if plotted == 'Energy' else 'latency'}",
        "energy-by-state": f"{plotted} by radio state",
        "slowdowns": "Distribution of page slowdown",
        "page-timeline": f"Timeline of a page, {first_run(comparison)}",
        "polling-times": f"Polling times, {first_run(comparison)}",
    }


def _parameters(comparison: Comparison, provenance: Mapping[str, Any]) -> str:
    scenario, files = comparison.scenario, provenance["files"]
    values = [
        *((run.label, run.parameters) for run in comparison.shown),
        (f"trace {scenario.trace_name}", comparison.workload.parameters),
        (f"topology {scenario.topology_name}", comparison.resolved_topology.config()),
        ("package versions", {"psm_sim": provenance["psm_sim"], **provenance["packages"]}),
        *([("SHA-256 of the input files", files)] if files else []),
    ]
    return html_command(provenance["command"]) + "".join(html_definitions(*each) for each in values)
