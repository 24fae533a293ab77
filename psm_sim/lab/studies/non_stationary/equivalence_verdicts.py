"""Verdicts by an equivalence margin, stated beforehand: better, equivalent, worse or undecided."""

from __future__ import annotations

from psm_sim.summary_stats import Interval

ENERGY_MARGIN = 0.01
"""A difference in energy of at most this share of Learn-alpha's is no difference."""

SLOWDOWN_MARGIN = 0.02
"""A difference in slowdown of at most this is no difference."""

RULE = (
    f"a difference of at most {100 * ENERGY_MARGIN:g} % of Learn-alpha's energy, or {SLOWDOWN_MARGIN:g} in"
    " slowdown, counts as none: equivalent if the 95 % interval lies within the margin, better or worse if it"
    " lies beyond, undecided if it holds the margin's edge"
)
"""The rule of the verdicts, fixed before the runs."""

BETTER, EQUIVALENT, WORSE, UNDECIDED = "better", "equivalent", "worse", "undecided"

_TOGETHER = {
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
    """Return one of the four words for a difference, of which less is better, against a margin above 0."""
    if difference.high < -margin:
        return BETTER
    if difference.low > margin:
        return WORSE
    return EQUIVALENT if -margin <= difference.low and difference.high <= margin else UNDECIDED


def overall_verdict(energy: str, slowdown: str) -> str:
    """Return the verdict on a policy from its standings in energy and in slowdown."""
    words = _TOGETHER.get((energy, slowdown))
    return words or f"undecided (energy {energy}, slowdown {slowdown})"
