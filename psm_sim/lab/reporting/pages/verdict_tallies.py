"""Counts of the verdicts under each preset, by role, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.lab.reporting import claim_tables
from psm_sim.lab.reporting.pages import markdown

if TYPE_CHECKING:
    from psm_sim.lab.studies.published_claims import Claim
    from psm_sim.lab.studies.study import Findings
    from psm_sim.simulation.preset import Preset


def tally_sections(findings: Sequence[Findings], presets: dict[str, list[Claim]]) -> list[str]:
    """Return sections with the counts, all published numbers, and the choices of each preset.

    *presets* are the claims of *findings* by the name of their preset.
    """
    all_claims = [claim for claims in presets.values() for claim in claims]
    lines = [
        [name, role, tally]
        for name, claims in presets.items()
        for role, tally in claim_tables.verdict_tallies(claims).items()
    ]
    return [
        "## Tallies\n",
        f"{claim_tables.ROLES} The table above uses the first preset.{_provisional_note(findings)}\n",
        markdown.markdown_table(["preset", "role of the published numbers", "verdicts"], lines),
        "## All published numbers under each preset\n",
        markdown.markdown_table(*claim_tables.side_by_side(all_claims)),
        *_choice_sections(findings),
    ]


def _provisional_note(findings: Sequence[Findings]) -> str:
    if not any(study.provisional for study in findings):
        return ""
    return " All verdicts are provisional, because they need more and longer replications."


def _choice_sections(findings: Sequence[Findings]) -> list[str]:
    presets = {preset.name: preset for study in findings for preset in study.presets}
    parts = ["## Choices of the presets\n"]
    for name, preset in presets.items():
        parts += [f"Preset {name}: {markdown.escape_markdown(preset.description)}.\n", _choice_table(preset)]
        texts = [f"Evidence for it: {text}" for text in preset.evidence] + [
            f"Evidence against it: {text}" for text in preset.doubts
        ]
        parts += [markdown.markdown_list(texts)] if texts else []
    return parts


def _choice_table(preset: Preset) -> str:
    headings = ["choice", "role", "based on", "candidates", "seeds"]
    lines = [
        [choice.choice, role, ", ".join(choice.looked_at), ", ".join(choice.tried), choice.seeds]
        for role, choices in (("calibrated", preset.calibrated), ("fitted", preset.fitted))
        for choice in choices
    ]
    return markdown.markdown_table(headings, lines)
