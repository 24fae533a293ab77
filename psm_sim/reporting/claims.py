"""Claims as text: published numbers beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_sim.studies.published import Claim

RULE = (
    "The rule, stated beforehand: a number agrees if our mean lies within its tolerance, widened by the half"
    " width of our 95 % confidence interval. The tolerance is the larger of half a unit of the last printed"
    " digit and 3 % of the published value. A bound agrees if our largest value keeps it; a range agrees if"
    " our mean lies in it, both ends widened likewise."
)
"""The rule of the verdicts; the numbers it is applied to stand in ``psm_sim/studies/published.toml``."""

QUANTITIES = {
    "energy_j": "energy, J per page",
    "beacons_j": "beacons, J per page",
    "slowdown": "slowdown",
    "page_ratio_mean": "page time over static PSM's, mean",
    "page_ratio_max": "page time over static PSM's, largest",
    "energy_saved": "energy saved against static PSM",
    "time_saved": "page time saved against static PSM",
    "always_on_ratio": "energy without power saving over its own",
    "bound": "reply time over its bound, largest",
}
"""The words for each quantity in a table."""

HEADINGS = ("policy", "quantity", "published", "ours", "difference", "verdict", "source")


def cells(claim: Claim) -> tuple[str, ...]:
    """Return a claim as the cells under :data:`HEADINGS`."""
    number = claim.published
    return (
        number.policy,
        QUANTITIES.get(number.quantity, number.quantity),
        str(number),
        ours(claim),
        difference(claim),
        verdict(claim),
        number.source,
    )


def ours(claim: Claim) -> str:
    """Return our mean with its interval, or our largest value where the published number is a bound."""
    if claim.published.at_most is not None:
        return f"{claim.largest:.3f} (largest)"
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


_VERDICTS = {"agrees": "agree", "open": "open", "differs": "differ", "not comparable": "not comparable"}


def rows(claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    """Return the cells of each claim."""
    return [cells(claim) for claim in claims]
