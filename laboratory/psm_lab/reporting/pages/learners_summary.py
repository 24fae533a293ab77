"""Summary of the report on the online active learners.

All counts come from the claims of the studies. The reasons are fixed text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_lab.studies.published_claims import tally

if TYPE_CHECKING:
    from psm_lab.studies.study import Findings

ROLES = {"published": "published", "theorem": "theorems", "control": "controls"}
"""Names of the roles of the claims, which are counted separately."""

REASONS = {
    "ocr": (
        "Tuning uses few images, so the chosen parameters and the labels vary between splits. Five problems"
        " are few for a test over problems."
    ),
    "drift": (
        'Learners named "coin" are controls with a fixed query probability. After a jump of the target, the'
        " margin-based rule is certain and wrong, and queries too few labels. On digits all second-order"
        " learners are similar."
    ),
    "isal-1d": (
        "Under noise ISALg concentrates its draws near the threshold, where the errors carry little"
        " information."
    ),
    "isal-planes": (
        "The gain of ISALg comes from the location of its draws. Its importance weights increase the error."
    ),
    "isal-pool": (
        "With flipped labels the difference is smaller than its confidence interval, and so it is on"
        " vehicles, whose splits overlap."
    ),
    "trees": (
        "The tree is optimal for the naive Bayes model of the data, and not for the data. Folds overlap, and"
        " there are six tables."
    ),
    "lmu": "The images are synthetic, and the first choice is bad in some sets.",
}
"""Reasons for claims that do not agree, by study."""


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the paragraphs of the summary, or none if there is no study of a learner."""
    from psm_lab.studies import ACTIVE_STUDIES

    studies = [study for study in findings if study.study in ACTIVE_STUDIES and study.claims]
    if not studies:
        return []
    claims = [claim for study in studies for claim in study.claims]
    counts = [
        f"* {name}: {tally(claim.verdict for claim in own)}"
        for role, name in ROLES.items()
        if (own := [claim for claim in claims if claim.role == role])
    ]
    reasons = [
        f"* {study.study}: {text}. {REASONS.get(study.study, 'No reason is known.')}"
        for study in studies
        if (text := _disagreements(study))
    ]
    return [
        f"**Tested.** {len(claims)} claims in {len(studies)} studies, by role:",
        "\n".join(counts),
        "**Did not agree.** These claims differ or are open. No study tests the reasons, which are ours:",
        "\n".join(reasons),
    ]


def _disagreements(study: Findings) -> str:
    """Return the claims of a study that do not agree, by role and verdict."""
    parts = []
    for role, name in ROLES.items():
        for verdict in ("differs", "open"):
            names = Counter(
                claim.published.policy
                for claim in study.claims
                if (claim.role, claim.verdict) == (role, verdict)
            )
            texts = [f"`{policy}`{f' ({count})' if count > 1 else ''}" for policy, count in names.items()]
            if texts:
                parts.append(f"{name} {verdict} {', '.join(texts)}")
    return "; ".join(parts)
