"""Means, paired differences to Learn-alpha, and verdicts by a margin fixed beforehand, from rows by seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from psm_lab.studies.non_stationary.tasks import FIXED, LEARN_ALPHA, LEARNERS
from psm_lab.studies.published_claims import Words, judge
from psm_sim.common.summary_stats import Interval, confidence_interval

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

BETTER, EQUIVALENT, WORSE = "better", "equivalent", "worse"

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
    return judge(difference, -margin, margin, Words(BETTER, EQUIVALENT, WORSE))


def overall_verdict(energy: str, slowdown: str) -> str:
    """Return the verdict on a policy from its verdicts on *energy* and *slowdown*."""
    verdict = _COMBINED.get((energy, slowdown))
    return verdict or f"undecided (energy {energy}, slowdown {slowdown})"


class SeedRows:
    """Rows of all seeds on one trace, one per seed, policy and gamma of the learners' loss."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = pd.DataFrame(rows)

    def values(self, policy: str, column: str, gamma: str = "published") -> pd.Series[float]:
        """Return *column* of *policy*, for a learner with this *gamma*, as one value per seed."""
        rows = self.rows[(self.rows["policy"] == policy) & (self.rows["gamma"] == gamma)]
        return rows.set_index("seed")[column].sort_index().astype(float)

    def mean(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return the mean over seeds with its confidence interval; arguments as for :meth:`values`."""
        return confidence_interval(self.values(policy, column, gamma))

    def against(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return the paired difference of a policy to Learn-alpha; arguments as for :meth:`values`."""
        other = self.values(policy, column, own_gamma(policy, gamma))
        return confidence_interval(other - self.values(LEARN_ALPHA, column, gamma))

    def above(self, column: str, other: str, gamma: str = "published") -> Interval:
        """Return the paired difference of the offline losses *column* and *other* under *gamma*, in nats."""
        return confidence_interval(
            self.values("hindsight", column, gamma) - self.values("hindsight", other, gamma)
        )

    def verdict(self, policy: str, gamma: str = "published") -> str:
        """Return the verdict on *policy* compared with Learn-alpha under *gamma*."""
        energy, slowdown = (self.against(policy, name, gamma) for name in ("energy_j", "slowdown"))
        margin_j = ENERGY_MARGIN * self.mean(LEARN_ALPHA, "energy_j", gamma).mean
        return overall_verdict(
            classify_difference(energy, margin_j), classify_difference(slowdown, SLOWDOWN_MARGIN)
        )

    def least(self, column: str, gamma: str = "published") -> str:
        """Return the learner with the lowest mean of *column* under *gamma*."""
        return min(LEARNERS, key=lambda learner: self.mean(learner, column, gamma).mean)

    def best_fixed(self, gamma: str = "published") -> dict[str, str]:
        """Return the best fixed polling times by criterion, chosen offline; an empty string if none fits.

        *gamma* is that of the Learn-alpha with which they are compared.
        """
        energy = {policy: self.mean(policy, "energy_j").mean for policy in FIXED}
        slowdown = {policy: self.mean(policy, "slowdown").mean for policy in FIXED}
        limits = (self.mean(LEARN_ALPHA, name, gamma).mean for name in ("energy_j", "slowdown"))
        max_energy, max_slowdown = limits
        as_fast = [policy for policy in FIXED if slowdown[policy] <= max_slowdown]
        as_frugal = [policy for policy in FIXED if energy[policy] <= max_energy]
        return {
            "minimum energy": min(FIXED, key=energy.__getitem__),
            "minimum energy at no more slowdown than Learn-alpha": min(
                as_fast, key=energy.__getitem__, default=""
            ),
            "minimum slowdown at no more energy than Learn-alpha": min(
                as_frugal, key=slowdown.__getitem__, default=""
            ),
        }


def own_gamma(policy: str, gamma: str) -> str:
    """Return the gamma of a policy's rows, which is *gamma* for a learner only."""
    return gamma if policy in LEARNERS else "published"


def sign(difference: Interval) -> int:
    """Return 1 or -1 if the interval lies above or below 0, and 0 if it contains 0."""
    return (difference.low > 0) - (difference.high < 0)


def display_name(policy: str) -> str:
    """Return a policy's name for a table, with the length in ms for a fixed polling time."""
    beacons = policy.partition("listen_interval=")[2]
    return f"{policy} ({beacons}00 ms)" if beacons else policy


def format_signed(value: Interval, digits: int) -> str:
    """Return a difference as text with its sign and interval, rounded to *digits* decimals."""
    return f"{value.mean:+.{digits}f} ± {value.half_width:.{digits}f}"


def scaled_interval(value: Interval, factor: float) -> Interval:
    """Return a mean and its interval multiplied by *factor*."""
    return Interval(value.mean * factor, value.half_width * abs(factor), value.replications)
