"""Summary of the report on the policies that decide at each beacon.

All counts and numbers come from the table of claims. The reasons are fixed text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_lab.reporting.pages.markdown_tables import markdown_list, markdown_table

if TYPE_CHECKING:
    import pandas as pd

    from psm_lab.studies.study import Findings

TESTED = (
    "**Tested.** {claims} claims on {traces} traces. Three policies decide at each beacon whether to receive"
    " it: `outstanding` (a fixed rule), `listen` (an active learner) and `anticipate` (a learned distribution"
    " of waiting times)."
)
AGREED = "**Agreed.** Of {verdicts} verdicts, {agrees} agree, {open} are open and {differs} differ."
VERDICTS = ("agrees", "open", "differs")
REASONS = {
    "3": (
        "If servers reply almost at once, BSD has little or no slowdown, so the slowdown of anticipate counts"
        " as difference."
    ),
    "4": "The fixed rule saves energy compared with LPSM on pages with short replies.",
    "7": "This failure was expected. The learner has more delay than the fixed rule on every trace.",
    "8": "DKM does not stop querying, for which no reason is known.",
    "9": (
        "This failure was expected. Memoryless pushes have nothing to learn, so a fixed listen interval"
        " is as good."
    ),
}
"""Reasons for claims that do not agree on every trace, by the number of the claim."""

_CONDITION = re.compile(r"(.+?) (-?[\d.]+) ± ")


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the paragraphs of the summary, or none without the study ``listening``."""
    tables = [study.tables[0].frame for study in findings if study.study == "listening"]
    return [paragraph for claims in tables for paragraph in _paragraphs(claims)]


def _paragraphs(claims: pd.DataFrame) -> list[str]:
    counts = claims["verdict"].value_counts()
    names = claims["claim"].unique().tolist()
    numbers = {name.partition(".")[0] for name in names}
    tally = {verdict: counts.get(verdict, 0) for verdict in VERDICTS}
    return [
        TESTED.format(claims=len(numbers), traces=claims["trace"].nunique()),
        AGREED.format(verdicts=len(claims), **tally),
        markdown_table(
            ["claim", *VERDICTS, "means (range over the traces)"], [_line(claims, name) for name in names]
        ).rstrip("\n"),
        "**Did not agree.** These claims do not agree on every trace:",
        markdown_list(_disagreements(claims)).rstrip("\n"),
    ]


def _disagreements(claims: pd.DataFrame) -> list[str]:
    texts = []
    for number, rows in claims.groupby(claims["claim"].str.partition(".")[0], sort=False):
        traces = rows.loc[rows["verdict"] != "agrees", "trace"].unique().tolist()
        complete = len(traces) == rows["trace"].nunique() > 1
        if traces:
            reason = REASONS.get(str(number), "No reason is known.")
            texts.append(f"Claim {number} on {'all traces' if complete else '; '.join(traces)}: {reason}")
    return texts


def _line(claims: pd.DataFrame, name: str) -> list[str]:
    rows = claims[claims["claim"] == name]
    verdicts = [str((rows["verdict"] == verdict).sum()) for verdict in VERDICTS]
    return [name, *verdicts, _ranges(rows["result"].tolist())]


def _ranges(texts: Sequence[str]) -> str:
    """Return the range of each condition's mean over the traces."""
    means: dict[str, list[float]] = {}
    for text in texts:
        for condition in text.split("; "):
            match = _CONDITION.match(condition)
            assert match is not None  # noqa: S101
            means.setdefault(match[1], []).append(float(match[2]))
    return "; ".join(f"{name} {_range(values)}" for name, values in means.items())


def _range(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{min(values):.3f} to {max(values):.3f}"
