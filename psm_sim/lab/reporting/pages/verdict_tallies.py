"""Tallies of the verdicts under each preset, calibrated, fitted and predicted apart, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.lab.reporting import claim_table
from psm_sim.lab.reporting.pages import markdown

if TYPE_CHECKING:
    from psm_sim.lab.studies.published import Claim
    from psm_sim.lab.studies.study import Findings
    from psm_sim.simulation.preset import Preset


def tally_sections(findings: Sequence[Findings], presets: dict[str, list[Claim]]) -> list[str]:
    """Return the tallies, all published numbers under each preset, and what each preset was chosen by.

    *presets* are the claims of *findings* by the name of their preset.
    """
    every = [claim for mine in presets.values() for claim in mine]
    lines = [
        [name, role, words]
        for name, mine in presets.items()
        for role, words in claim_table.verdict_tallies(mine).items()
    ]
    return [
        "## Tallies\n",
        f"{claim_table.ROLES} Verdicts above are those under the first preset.{_provisional(findings)}\n",
        markdown.markdown_table(["preset", "role of the published numbers", "verdicts"], lines),
        "## All published numbers under each preset\n",
        markdown.markdown_table(*claim_table.side_by_side(every)),
        *_histories(findings),
    ]


def _provisional(findings: Sequence[Findings]) -> str:
    if not any(found.provisional for found in findings):
        return ""
    return " All verdicts are provisional: there are fewer and shorter replications than a verdict needs."


def _histories(findings: Sequence[Findings]) -> list[str]:
    used = {preset.name: preset for found in findings for preset in found.presets}
    parts = ["## Choices of the presets\n"]
    for name, preset in used.items():
        parts += [f"Preset {name}: {markdown.escape_markdown(preset.description)}.\n", _choices(preset)]
        words = [f"For it: {text}" for text in preset.evidence] + [
            f"Against it: {text}" for text in preset.doubts
        ]
        parts += [markdown.markdown_list(words)] if words else []
    return parts


def _choices(preset: Preset) -> str:
    headings = ["choice", "role", "looked at", "tried", "seeds"]
    lines = [
        [each.choice, role, ", ".join(each.looked_at), ", ".join(each.tried), each.seeds]
        for role, choices in (("calibrated", preset.calibrated), ("fitted", preset.fitted))
        for each in choices
    ]
    return markdown.markdown_table(headings, lines)
