"""Claims as text: published numbers beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_sim.lab.studies.published import Claim

RULE = (
    "The rule, stated beforehand: the tolerance is the larger of half a unit of the last printed digit and"
    " 3 % of the published value. A number agrees if both ends of our 95 % confidence interval lie within it,"
    " differs if the whole interval lies outside, and is undecided if the interval holds its edge. A range is"
    " judged likewise, each end with its tolerance. A bound agrees if the largest value of all our"
    " replications keeps it."
)
"""The rule of the verdicts; the numbers it is applied to stand in ``psm_sim/lab/studies/published.toml``."""

ROLES = (
    "Three tallies are kept apart. A number calibrates where think times were scaled to it: it agrees by"
    " construction. It is fitted where a choice of the preset was made by looking at it. Only the others are"
    " predicted. Choices are made on some seeds and judged on others."
)
"""The roles of published numbers in words; which number has which stands in the presets' files."""

QUANTITIES = {
    "energy_j": "energy, J per page",
    "beacons_j": "beacons, J per page",
    "slowdown": "slowdown",
    "page_ratio_mean": "page time over static PSM's, mean",
    "page_ratio_long": "page time over static PSM's, mean of the longest tenth",
    "page_ratio_max": "page time over static PSM's, largest",
    "energy_saved": "energy saved against static PSM",
    "time_saved": "page time saved against static PSM",
    "always_on_ratio": "energy without power saving over its own",
    "bound": "reply time over its bound, largest",
}
"""The words for each quantity in a table."""

HEADINGS = ("policy", "quantity", "published", "ours", "difference", "role", "verdict", "source")


def claim_cells(claim: Claim) -> tuple[str, ...]:
    """Return a claim as the cells under :data:`HEADINGS`."""
    number = claim.published
    return (
        number.policy,
        quantity(claim),
        str(number),
        simulated_value(claim),
        difference(claim),
        claim.role,
        verdict(claim),
        number.source,
    )


def quantity(claim: Claim) -> str:
    """Return the words for a claim's quantity."""
    return QUANTITIES.get(claim.published.quantity, claim.published.quantity)


def simulated_value(claim: Claim) -> str:
    """Return our mean with its interval, or our largest value where the published number is a bound."""
    if claim.published.at_most is not None:
        kept = "" if claim.kept in (None, 1) else f"; kept in {100 * claim.kept:.0f} %"
        return f"{claim.largest:.3f} (largest{kept})"
    return f"{claim.ours:.3f}"


def difference(claim: Claim) -> str:
    """Return ours less the published value, and as a share of it; nothing for a bound or a range."""
    number = claim.published
    less = number.difference(claim.ours.mean)
    if less is None or number.value is None:
        return ""
    return f"{less:+.3f} ({less / number.value:+.1%})".replace("%", " %") if number.value else f"{less:+.3f}"


def verdict(claim: Claim) -> str:
    """Return the verdict, with the reason where the two cannot be compared."""
    reason = claim.published.not_comparable
    return f"{claim.verdict}: {reason}" if reason else claim.verdict


def tally(claims: Iterable[Claim]) -> str:
    """Return the number of claims with each verdict, in words."""
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[name]} {_VERDICTS[name]}" for name in _VERDICTS if counts[name])


_VERDICTS = {
    "agrees": "agree",
    "open": "open",
    "undecided": "undecided",
    "differs": "differ",
    "not comparable": "not comparable",
}


def columns(claims: Sequence[Claim], without: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table of claims, some columns *without*; roles only if there are any."""
    without = [*without, *([] if any(claim.role for claim in claims) else ["role"])]
    shown = [place for place, heading in enumerate(HEADINGS) if heading not in without]
    lines = [[line[place] for place in shown] for line in map(claim_cells, claims)]
    return [HEADINGS[place] for place in shown], lines


def under_each_preset(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Return the claims by preset, in their order; those of no preset under ``""``."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.preset, []).append(claim)
    return found


def verdict_tallies(claims: Iterable[Claim]) -> dict[str, str]:
    """Return a tally of the claims of one preset for each role that one of them has."""
    claims = list(claims)
    roles = [role for role in _ROLES if any(claim.role == role for claim in claims)]
    return {role: tally(claim for claim in claims if claim.role == role) for role in roles}


_ROLES = ("", "calibrates", "fitted", "predicted")


def format_tallies(claims: Iterable[Claim]) -> str:
    """Return the tallies of the claims of one preset in one line."""
    found = verdict_tallies(claims)
    return "; ".join(f"{role}: {words}" if role else words for role, words in found.items())


def side_by_side(claims: Sequence[Claim]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table with a row per published number and a column per preset."""
    presets = under_each_preset(claims)
    numbers = {claim.published.key: claim for claim in claims}
    cells = {
        (claim.published.key, claim.preset): f"{simulated_value(claim)} {verdict(claim)}, {claim.role}"
        for claim in claims
    }
    lines = [
        [claim.published.study, claim.published.policy, quantity(claim), str(claim.published)]
        + [cells.get((key, preset), "") for preset in presets]
        for key, claim in numbers.items()
    ]
    return ["study", "policy", "quantity", "published", *presets], lines
