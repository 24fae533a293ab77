"""Summary of the report on measured hardware, which repeats the first remark of each study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_lab.studies.study import Findings


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the tallies of the studies, or none if there is no validation."""
    from psm_lab.studies import VALIDATIONS

    tallies = [
        f"* [{study.study}](#{study.study}): {study.remarks[0]}"
        for study in findings
        if study.study in VALIDATIONS
    ]
    return ["**Verdicts.** Each tally names the role of its values:", "\n".join(tallies)] if tallies else []
