"""Summary of the report on published results.

All counts and numbers come from the claims and remarks of the studies. The reasons are fixed text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from psm_lab.reporting import claim_tables
from psm_lab.reporting.pages.markdown_tables import escape_markdown
from psm_lab.studies.published_claims import agreement

if TYPE_CHECKING:
    from psm_lab.studies.published_claims import Claim
    from psm_lab.studies.study import Findings

TESTED = (
    "**Tested.** The simulator is compared with {claims} published numbers. Each number is judged under"
    " several presets, which interpret the choices that the sources leave open ({presets}). In the headline"
    " preset {headline}, {calibrating} numbers calibrate the preset and agree by construction, {fitted}"
    " influenced a choice, and {predicted} are predictions."
)
AGREED = (
    "**Agreed.** Under {headline}, {fitted} fitted numbers and {predicted} predictions agree. Agreement of"
    " the predictions by quantity: {quantities}. Agreement of all numbers by preset: {presets}."
)
REASONS = {
    "bsd-energy/bsd:p=0.1/energy_saved": (
        "A tight bound costs energy, because BSD stays awake for a beacon interval over p after each uplink"
        " packet. No setting of the search agrees with this number."
    ),
    "bsd-energy/*": (
        "The numbers of BSD require replies that arrive at once, but the numbers of LPSM require a long"
        " server delay. Under this preset BSD stays awake for each slow reply."
    ),
    "*/lpsm:loss=inverse/page_ratio_max": (
        "No variant of the sensitivity study and no setting of the search keeps this bound."
    ),
    "*/page_ratio_long": (
        "Under this preset the time of a page consists of server delays and not of transferred bytes."
    ),
}
"""Reasons for numbers that do not agree, by patterns of their keys. The first matching pattern is used."""

HIGHLIGHTS = {
    "bsd-rtt": (0, 1),
    "trace-study": (0,),
    "optimum": (2,),
    "one-setting": (1,),
    "non-stationary": (1,),
}
"""Positions of the remarks that the summary repeats, by study."""


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the paragraphs of the summary, or none if no study repeats a published experiment."""
    from psm_lab.studies import STUDIES

    studies = {study.study: study for study in findings if study.study in STUDIES}
    claims = [claim for study in studies.values() for claim in study.claims]
    presets = claim_tables.under_each_preset(claims)
    return [*(_claim_paragraphs(presets) if presets else []), *_highlights(studies)]


def _claim_paragraphs(presets: Mapping[str, Sequence[Claim]]) -> list[str]:
    headline, claims = next(iter(presets.items()))
    calibrating, fitted, predicted = (
        [claim for claim in claims if claim.role == role] for role in ("calibrates", "fitted", "predicted")
    )
    return [
        TESTED.format(
            claims=len(claims),
            presets=", ".join(presets),
            headline=headline,
            calibrating=len(calibrating),
            fitted=len(fitted),
            predicted=len(predicted),
        ),
        AGREED.format(
            headline=headline,
            fitted=_agreeing(fitted),
            predicted=_agreeing(predicted),
            presets=", ".join(f"{name} ({_agreeing(group)})" for name, group in presets.items()),
            quantities=_by_quantity(predicted),
        ),
        f"**Did not agree.** These numbers do not agree under {headline}. The reasons are ours:",
        "\n".join(f"* {text}" for text in _disagreements(claims)),
    ]


def _agreeing(claims: Sequence[Claim]) -> str:
    return agreement(claim.verdict for claim in claims)


def _by_quantity(claims: Sequence[Claim]) -> str:
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim_tables.quantity(claim), []).append(claim)
    return "; ".join(f"{quantity} ({_agreeing(group)})" for quantity, group in groups.items())


def _disagreements(claims: Sequence[Claim]) -> list[str]:
    """Return one text per reason, with the numbers to which it applies."""
    groups: dict[str, list[str]] = {}
    for claim in claims:
        if claim.verdict in ("differs", "undecided"):
            groups.setdefault(_reason(claim.published.key), []).append(_describe(claim))
    return [f"{'; '.join(numbers)}. {reason}" for reason, numbers in groups.items()]


def _reason(key: str) -> str:
    return next(
        (text for pattern, text in REASONS.items() if fnmatchcase(key, pattern)), "No reason is known."
    )


def _describe(claim: Claim) -> str:
    name = f"`{claim.published.policy}`, {claim_tables.quantity(claim)}"
    published = escape_markdown(str(claim.published))
    return f"{name}: {claim_tables.simulated_value(claim)} simulated, {published} published"


def _highlights(studies: Mapping[str, Findings]) -> list[str]:
    remarks = [
        f"{name}: {studies[name].remarks[position]}"
        for name, positions in HIGHLIGHTS.items()
        if name in studies
        for position in positions
    ]
    if not remarks:
        return []
    return ["**Further studies.**", "\n".join(f"* {escape_markdown(remark)}" for remark in remarks)]
