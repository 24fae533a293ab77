"""Verdicts by an equivalence margin that was fixed beforehand."""

from __future__ import annotations

from psm_sim.common.summary_stats import Interval

ENERGY_MARGIN = 0.01
"""Largest difference in energy that counts as equivalent, as a share of Learn-alpha's energy."""

SLOWDOWN_MARGIN = 0.02
"""Largest difference in slowdown that counts as equivalent."""

RULE = (
    f"a difference of at most {100 * ENERGY_MARGIN:g} % of Learn-alpha's energy, or {SLOWDOWN_MARGIN:g} in"
    " slowdown, counts as none: equivalent if the 95 % interval lies within the margin, better or worse if it"
    " lies beyond, undecided if it holds the margin's edge"
)
"""Rule of the verdicts, fixed before the runs."""

BETTER, EQUIVALENT, WORSE, UNDECIDED = "better", "equivalent", "worse", "undecided"

_COMBINED = {
    (BETTER, BETTER): "better in both",
    (WORSE, WORSE): "worse in both",
    (EQUIVALENT, EQUIVALENT): "equivalent",
    (WORSE, BETTER): "faster, at more energy",
    (BETTER, WORSE): "frugal, but slower",
    (BETTER, EQUIVALENT): "better in energy",
    (EQUIVALENT, BETTER): "better in slowdown",
    (WORSE, EQUIVALENT): "worse in energy",
    (EQUIVALENT, WORSE): "worse in slowdown",
}


def classify_difference(difference: Interval, margin: float) -> str:
    """Return ``better``, ``equivalent``, ``worse`` or ``undecided`` for a *difference*; lower is better.

    *margin* is above 0 and has the unit of the difference.
    """
    if difference.high < -margin:
        return BETTER
    if difference.low > margin:
        return WORSE
    return EQUIVALENT if -margin <= difference.low and difference.high <= margin else UNDECIDED


def overall_verdict(energy: str, slowdown: str) -> str:
    """Return the verdict on a policy from its verdicts on *energy* and *slowdown*."""
    verdict = _COMBINED.get((energy, slowdown))
    return verdict or f"undecided (energy {energy}, slowdown {slowdown})"
