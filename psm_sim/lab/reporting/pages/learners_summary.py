"""Summary of the report on the online active learners.

All counts come from the claims of the studies. The reasons are fixed text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.lab.reporting import claim_tables

if TYPE_CHECKING:
    from psm_sim.lab.studies.study import Findings

REASONS = {
    "ocr": "Tuning uses few images, so the chosen parameters and the labels vary between splits.",
    "drift": (
        'Learners named "coin" are controls with a fixed query probability, which the papers do not have.'
        " After a jump of the target, the margin-based rule is certain and wrong, and queries too few labels."
    ),
    "isal-1d": (
        "Under noise ISALg concentrates its draws near the threshold, where the errors carry little"
        " information."
    ),
    "isal-planes": (
        "The gain of ISALg comes from the location of its draws. Its importance weights increase the error"
        " under noise."
    ),
    "isal-pool": "With flipped labels the difference is smaller than its confidence interval.",
    "trees": "The tree is optimal for the naive Bayes model of the data, and not for the data.",
    "lmu": (
        "LMU needs more images than claimed. The images are synthetic, and the first choice is bad in some"
        " sets."
    ),
}
"""Reasons for claims that do not agree, by study."""


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the paragraphs of the summary, or none if there is no study of a learner."""
    from psm_sim.lab.studies import ACTIVE_STUDIES

    studies = [study for study in findings if study.study in ACTIVE_STUDIES and study.claims]
    if not studies:
        return []
    claims = [claim for study in studies for claim in study.claims]
    complete = [study for study in studies if all(claim.verdict == "agrees" for claim in study.claims)]
    partial = [study for study in studies if study not in complete]
    return [
        f"**Tested.** {len(claims)} claims in {len(studies)} studies: {claim_tables.tally(claims)}.",
        f"**Agreed.** All claims agree in {_counts(complete)}. Some claims agree in {_counts(partial)}.",
        "**Did not agree.** These claims differ or are open, for the stated reason:",
        "\n".join(f"* {_describe(study)}" for study in partial),
    ]


def _counts(studies: Sequence[Findings]) -> str:
    texts = []
    for study in studies:
        agreeing = sum(claim.verdict == "agrees" for claim in study.claims)
        texts.append(f"{study.study} ({agreeing} of {len(study.claims)})")
    return ", ".join(texts) or "none"


def _describe(study: Findings) -> str:
    parts = []
    for verdict in ("differs", "open"):
        names = Counter(claim.published.policy for claim in study.claims if claim.verdict == verdict)
        if names:
            texts = [f"`{name}`{f' ({count} claims)' if count > 1 else ''}" for name, count in names.items()]
            parts.append(f"{verdict} {', '.join(texts)}")
    return f"{study.study}: {'; '.join(parts)}. {REASONS.get(study.study, 'No reason is known.')}"
