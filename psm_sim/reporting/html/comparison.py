"""HTML report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.html.html_document import (
    Section,
    escape_text,
    html_conclusion,
    html_definitions,
    html_figure,
    html_paragraphs,
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

    *provenance* has ``command``, ``packages`` and ``files`` as in ``metadata.json``. *pictures* are the
    figures of :func:`~psm_sim.reporting.figures.comparison.figures_of` by name, as SVG.
    """
    sections = [
        Section("summary", "", html_conclusion(comparison.conclusion()) + html_numbers(comparison)),
        *(
            Section(name, title, html_figure(pictures[name], title))
            for name, title in _titles(comparison).items()
            if name in pictures
        ),
        Section("parameters", "Parameters", _parameters(comparison, provenance)),
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


def html_numbers(comparison: Comparison) -> str:
    """Return the tables of the command line, and the caption that explains them."""
    tables = "".join(html_table(table.main_columns) for table in tables_of(comparison))
    return tables + html_paragraphs(caption(comparison))


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
