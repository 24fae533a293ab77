"""Tables that compare published numbers with simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psm_lab.studies.published_claims import Claim, tally

RULE = (
    "The verdicts follow a rule that was fixed in advance. The tolerance is the larger of half a unit of the"
    " last printed digit and"
    " 3 % of the published value. A number agrees if the simulated 95 % confidence interval lies within the"
    " tolerance. It differs if the interval lies outside, and is undecided if the interval contains an edge"
    " of the tolerance. A range is judged in the same way, with a tolerance at each end. A bound agrees if"
    " the maximum over all replications satisfies it."
)
"""Rule of the verdicts. ``psm_lab/studies/published.toml`` contains the published numbers."""

ROLES = (
    "Each published number has one of three roles, which are counted separately. A number calibrates if"
    " think times were scaled to it, so it agrees by construction. A number is fitted if it influenced a"
    " choice of the preset. All other numbers are predicted. The seeds on which choices were made differ from"
    " the seeds of the verdicts."
)
"""Explanation of the roles. The preset files state the role of each number."""

QUANTITIES = {
    "energy_j": "energy, J per page",
    "beacons_j": "beacons, J per page",
    "slowdown_max": "slowdown, maximum",
    "page_ratio_mean": "page time relative to static PSM, mean",
    "page_ratio_long": "page time relative to static PSM, mean of the longest tenth",
    "page_ratio_max": "page time relative to static PSM, maximum",
    "energy_saved": "energy saving relative to static PSM",
    "time_saved": "page time saving relative to static PSM",
    "always_on_ratio": "energy without power saving relative to its own",
    "bound": "reply time relative to its bound, maximum",
    "current_increase": "mean current, relative increase",
    "awake_increase": "time awake, relative increase",
    "energy_ratio": "energy relative to static PSM",
    "delay_ratio": "delay relative to a station that is always awake",
}
"""Labels of the quantities in a table."""


def claim_row(claim: Claim) -> dict[str, str]:
    """Return the cells of a claim by their headings."""
    number = claim.published
    return {
        "policy": number.policy,
        "quantity": quantity(claim),
        "published": str(number),
        "simulated": simulated_value(claim),
        "difference": difference(claim),
        "role": claim.role,
        "verdict": verdict(claim),
        "source": number.source,
    }


def quantity(claim: Claim) -> str:
    """Return the label of a claim's quantity."""
    return QUANTITIES.get(claim.published.quantity, claim.published.quantity)


def simulated_value(claim: Claim) -> str:
    """Return the simulated mean with its interval, or the maximum if the published number is a bound."""
    if claim.published.at_most is not None:
        share = "" if claim.kept in (None, 1) else f"; kept in {100 * claim.kept:.0f} %"
        return f"{claim.largest:.3f} (largest{share})"
    return f"{claim.ours:.3f}"


def difference(claim: Claim) -> str:
    """Return the absolute and relative difference from the published value; empty for a bound or range."""
    number = claim.published
    excess = number.difference(claim.ours.mean)
    if excess is None or number.value is None:
        return ""
    return (
        f"{excess:+.3f} ({excess / number.value:+.1%})".replace("%", " %")
        if number.value
        else f"{excess:+.3f}"
    )


def verdict(claim: Claim) -> str:
    """Return the verdict, followed by the reason if the numbers are not comparable."""
    reason = claim.published.not_comparable
    return f"{claim.verdict}: {reason}" if reason else claim.verdict


def columns(claims: Sequence[Claim], without: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a table of claims.

    Columns in *without* are omitted, and so is the column of roles if no claim has a role.
    """
    rows = [claim_row(claim) for claim in claims]
    omitted = {*without, *([] if any(claim.role for claim in claims) else ["role"])}
    headings = [heading for heading in rows[0] if heading not in omitted]
    return headings, [[row[heading] for heading in headings] for row in rows]


def under_each_preset(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Return the claims grouped by preset. Claims without a preset have the key ``""``."""
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.preset, []).append(claim)
    return groups


def verdict_tallies(claims: Iterable[Claim]) -> dict[str, str]:
    """Return the verdict counts of the claims of one preset, by role."""
    claims = list(claims)
    roles = [role for role in _ROLES if any(claim.role == role for claim in claims)]
    return {role: tally(claim.verdict for claim in claims if claim.role == role) for role in roles}


_ROLES = ("", "calibrates", "fitted", "predicted", "published", "theorem", "control")


def format_tallies(claims: Iterable[Claim]) -> str:
    """Format the verdict counts of the claims of one preset as one line."""
    tallies = verdict_tallies(claims)
    return "; ".join(f"{role}: {counts}" if role else counts for role, counts in tallies.items())


def side_by_side(claims: Sequence[Claim]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a table with a row per published number and a column per preset."""
    presets = under_each_preset(claims)
    numbers = {claim.published.key: claim for claim in claims}
    cells = {
        (claim.published.key, claim.preset): f"{simulated_value(claim)} {verdict(claim)}, {claim.role}"
        for claim in claims
    }
    rows = [
        [claim.published.study, claim.published.policy, quantity(claim), str(claim.published)]
        + [cells.get((key, preset), "") for preset in presets]
        for key, claim in numbers.items()
    ]
    return ["study", "policy", "quantity", "published", *presets], rows
