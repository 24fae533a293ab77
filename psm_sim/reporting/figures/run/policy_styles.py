"""Styles and truncated names of the policies of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psm_sim.common.formatting import truncate
from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_MAX_NAME_LENGTH = 40


def style_of(index: int) -> tuple[str, str, Any]:
    """Return colour, marker and line style of the policy at an index. The first 64 styles are distinct."""
    return COLOURS[index % 8], MARKERS[(index + index // 8) % 8], LINES[index % 8]


def truncate_name(policy: str) -> str:
    """Return the name of a policy, truncated if it is too long for a legend."""
    return truncate(policy, _MAX_NAME_LENGTH, "...")


def subtitle(comparison: Comparison) -> str:
    """Return the title of a figure: pages, trace, seeds and topology."""
    run = comparison.runs[0]
    seeds = f"seed {comparison.seed}"
    if isinstance(run, Average):
        seeds = f"means over {len(run.names)} {run.KIND}s with 95 % intervals"
    trace, topology = truncate_name(comparison.trace), truncate_name(comparison.topology)
    return f"{comparison.pages} pages of {trace}, {seeds}, {topology}"


def representative_run(run: Result) -> Result:
    """Return the first run of an average, or the run itself."""
    return run.results[0] if isinstance(run, Average) else run
