"""Summaries at the top of the reports.

All counts and numbers come from the claims, tables and remarks of the studies. The reasons are fixed text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from psm_lab.reporting import claim_tables
from psm_lab.reporting.pages.markdown_tables import escape_markdown, markdown_list, markdown_table
from psm_lab.studies import ACTIVE_STUDIES, STUDIES, VALIDATIONS
from psm_lab.studies.published_claims import agreement, tally

if TYPE_CHECKING:
    import pandas as pd

    from psm_lab.studies.published_claims import Claim
    from psm_lab.studies.study import Findings


def summarise(findings: Sequence[Findings]) -> list[str]:
    """Return the paragraphs of the summary of a report, or none if no study has any."""
    studies = {study.study: study for study in findings}
    paragraphs = summarise_published(studies) + summarise_learners(studies)
    if "listening" in studies:
        paragraphs += summarise_listening(studies["listening"].tables[0].frame)
    paragraphs += summarise_validation(studies)
    return paragraphs + [text for study in findings for text in study.summary]


# Published power savings

_PUBLISHED_TESTED = (
    "**Tested.** The simulator is compared with {claims} published numbers. Each number is judged under"
    " several presets, which interpret the choices that the sources leave open ({presets}). In the headline"
    " preset {headline}, {calibrating} numbers calibrate the preset and agree by construction, {fitted}"
    " influenced a choice, and {predicted} are predictions."
)
_PUBLISHED_AGREED = (
    "**Agreed.** Under {headline}, {fitted} fitted numbers and {predicted} predictions agree. Agreement of"
    " the predictions by quantity: {quantities}. Agreement of all numbers by preset: {presets}."
)
_PUBLISHED_REASONS = {
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

_NO_REASON = "No reason is known."
_HIGHLIGHTS = {
    "bsd-rtt": (0, 1),
    "trace-study": (0,),
    "optimum": (2,),
    "one-setting": (1,),
    "non-stationary": (1,),
}
"""Positions of the remarks that the summary repeats, by study."""


def summarise_published(studies: Mapping[str, Findings]) -> list[str]:
    """Return the paragraphs on the studies that repeat a published experiment."""
    claims = [claim for name, study in studies.items() if name in STUDIES for claim in study.claims]
    presets = claim_tables.under_each_preset(claims)
    remarks = [
        f"{name}: {studies[name].remarks[position]}"
        for name, positions in _HIGHLIGHTS.items()
        if name in studies
        for position in positions
    ]
    further = ["**Further studies.**", _items(remarks)] if remarks else []
    return (_claim_paragraphs(presets) if presets else []) + further


def _items(texts: Sequence[str]) -> str:
    return markdown_list(texts).rstrip("\n")


def _claim_paragraphs(presets: Mapping[str, Sequence[Claim]]) -> list[str]:
    headline, claims = next(iter(presets.items()))
    calibrating, fitted, predicted = (
        [claim for claim in claims if claim.role == role] for role in ("calibrates", "fitted", "predicted")
    )
    quantities: dict[str, list[Claim]] = {}
    for claim in predicted:
        quantities.setdefault(claim_tables.quantity(claim), []).append(claim)
    reasons: dict[str, list[str]] = {}
    for claim in claims:
        if claim.verdict in ("differs", "undecided"):
            reasons.setdefault(_reason(claim.published.key), []).append(_describe(claim))
    return [
        _PUBLISHED_TESTED.format(
            claims=len(claims),
            presets=", ".join(presets),
            headline=headline,
            calibrating=len(calibrating),
            fitted=len(fitted),
            predicted=len(predicted),
        ),
        _PUBLISHED_AGREED.format(
            headline=headline,
            fitted=_agreeing(fitted),
            predicted=_agreeing(predicted),
            presets=_agreeing_of_each(presets, ", "),
            quantities=_agreeing_of_each(quantities, "; "),
        ),
        f"**Did not agree.** These numbers do not agree under {headline}. The reasons are ours:",
        "\n".join(f"* {'; '.join(numbers)}. {reason}" for reason, numbers in reasons.items()),
    ]


def _agreeing(claims: Sequence[Claim]) -> str:
    return agreement(claim.verdict for claim in claims)


def _agreeing_of_each(groups: Mapping[str, Sequence[Claim]], separator: str) -> str:
    return separator.join(f"{name} ({_agreeing(group)})" for name, group in groups.items())


def _reason(key: str) -> str:
    return next(
        (text for pattern, text in _PUBLISHED_REASONS.items() if fnmatchcase(key, pattern)), _NO_REASON
    )


def _describe(claim: Claim) -> str:
    name = f"`{claim.published.policy}`, {claim_tables.quantity(claim)}"
    published = escape_markdown(str(claim.published))
    return f"{name}: {claim_tables.simulated_value(claim)} simulated, {published} published"


# Online active learners

_ROLES = {"published": "published", "theorem": "theorems", "control": "controls"}
"""Names of the roles of the claims, which are counted separately."""

_LEARNERS_REASONS = {
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


def summarise_learners(studies: Mapping[str, Findings]) -> list[str]:
    """Return the paragraphs on the studies of the online active learners."""
    judged = {
        name: study.claims for name, study in studies.items() if name in ACTIVE_STUDIES and study.claims
    }
    claims = [claim for own in judged.values() for claim in own]
    counts = {
        name: tally(each.verdict for each in claims if each.role == role) for role, name in _ROLES.items()
    }
    reasons = [
        f"* {name}: {text}. {_LEARNERS_REASONS.get(name, _NO_REASON)}"
        for name, own in judged.items()
        if (text := _disagreements(own))
    ]
    if not claims:
        return []
    return [
        f"**Tested.** {len(claims)} claims in {len(judged)} studies, by role:",
        "\n".join(f"* {name}: {text}" for name, text in counts.items() if text),
        "**Did not agree.** These claims differ or are open. No study tests the reasons, which are ours:",
        "\n".join(reasons),
    ]


def _disagreements(claims: Sequence[Claim]) -> str:
    """Return the claims of a study that do not agree, by role and verdict."""
    parts = []
    for role, name in _ROLES.items():
        for verdict in ("differs", "open"):
            policies = Counter(
                claim.published.policy for claim in claims if (claim.role, claim.verdict) == (role, verdict)
            )
            texts = [f"`{policy}`{f' ({count})' if count > 1 else ''}" for policy, count in policies.items()]
            if texts:
                parts.append(f"{name} {verdict} {', '.join(texts)}")
    return "; ".join(parts)


# Policies that decide at each beacon

_LISTENING_TESTED = (
    "**Tested.** {claims} claims on {traces} traces. Three policies decide at each beacon whether to receive"
    " it: `outstanding` (a fixed rule), `listen` (an active learner) and `anticipate` (a learned distribution"
    " of waiting times)."
)
_LISTENING_AGREED = (
    "**Agreed.** Of {verdicts} verdicts, {agrees} agree, {open} are open and {differs} differ."
)
_VERDICTS = ("agrees", "open", "differs")
_LISTENING_REASONS = {
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


def summarise_listening(claims: pd.DataFrame) -> list[str]:
    """Return the paragraphs on the claims of the study ``listening``, from their table."""
    counts = {verdict: int((claims["verdict"] == verdict).sum()) for verdict in _VERDICTS}
    numbers = claims["claim"].str.partition(".")[0]
    lines = [
        [
            str(name),
            *(str((rows["verdict"] == verdict).sum()) for verdict in _VERDICTS),
            _ranges(rows["result"]),
        ]
        for name, rows in claims.groupby("claim", sort=False)
    ]
    texts = []
    for number, rows in claims.groupby(numbers, sort=False):
        traces = rows.loc[rows["verdict"] != "agrees", "trace"].unique().tolist()
        complete = len(traces) == rows["trace"].nunique() > 1
        if traces:
            reason = _LISTENING_REASONS.get(str(number), _NO_REASON)
            texts.append(f"Claim {number} on {'all traces' if complete else '; '.join(traces)}: {reason}")
    return [
        _LISTENING_TESTED.format(claims=numbers.nunique(), traces=claims["trace"].nunique()),
        _LISTENING_AGREED.format(verdicts=len(claims), **counts),
        markdown_table(["claim", *_VERDICTS, "means (range over the traces)"], lines).rstrip("\n"),
        "**Did not agree.** These claims do not agree on every trace:",
        _items(texts),
    ]


def _ranges(results: pd.Series) -> str:
    """Return, for each condition, the range of its means over the traces."""
    ranges = []
    for label in results.iloc[0]:
        means = [result[label].mean for result in results]
        low, high = f"{min(means):.3f}", f"{max(means):.3f}"
        ranges.append(f"{label} {low}" if len(means) == 1 else f"{label} {low} to {high}")
    return "; ".join(ranges)


# Measured hardware


def summarise_validation(studies: Mapping[str, Findings]) -> list[str]:
    """Return the tallies of the validations, each of which is the first remark of its study."""
    tallies = [
        f"* [{name}](#{name}): {study.remarks[0]}" for name, study in studies.items() if name in VALIDATIONS
    ]
    return ["**Verdicts.** Each tally names the role of its values:", "\n".join(tallies)] if tallies else []
