"""First section of a report: what was tested, what agreed, what did not, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.lab.reporting.pages import learners_summary, listening_summary, reproduction_summary

if TYPE_CHECKING:
    from psm_sim.lab.studies.study import Findings


def summary_section(findings: Sequence[Findings]) -> str:
    """Return the summary of the studies that have one, or an empty string."""
    texts = [
        text
        for summarise in (
            reproduction_summary.summarise,
            learners_summary.summarise,
            listening_summary.summarise,
        )
        for text in summarise(findings)
    ]
    return "## Summary\n\n" + "\n".join(f"{text}\n" for text in texts) + "\n" if texts else ""
