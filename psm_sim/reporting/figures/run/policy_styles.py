"""Looks of the policies of one comparison: colour, marker and line by their place; names cut to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psm_sim.formatting import truncate
from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS
from psm_sim.simulation.seed_average import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_MAX_NAME_LENGTH = 40


def style_of(place: int) -> tuple[str, str, Any]:
    """Return colour, marker and line style of the policy at a place; no two of the first 64 look alike."""
    return COLOURS[place % 8], MARKERS[(place + place // 8) % 8], LINES[place % 8]


def truncate_name(policy: str) -> str:
    """Return a policy's name, cut where it is too long for a legend."""
    return truncate(policy, _MAX_NAME_LENGTH, "...")


def subtitle(comparison: Comparison) -> str:
    """Return the line that tells what a figure shows, where it stands alone."""
    run = comparison.runs[0]
    seeds = f"seed {comparison.seed}"
    if isinstance(run, Average):
        seeds = f"means over {len(run.names)} {run.KIND}s with 95 % intervals"
    trace, topology = truncate_name(comparison.trace), truncate_name(comparison.topology)
    return f"{comparison.pages} pages of {trace}, {seeds}, {topology}"


def representative_run(run: Result) -> Result:
    """Return the run itself, or the first of an average."""
    return run.results[0] if isinstance(run, Average) else run
