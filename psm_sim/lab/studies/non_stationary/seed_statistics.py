"""Rows by seed: means, paired differences to Learn-alpha, and verdicts on each policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from psm_sim.lab.studies.non_stationary.equivalence_verdicts import (
    ENERGY_MARGIN,
    SLOWDOWN_MARGIN,
    classify_difference,
    overall_verdict,
)
from psm_sim.lab.studies.non_stationary.task import FIXED, LEARN_ALPHA, LEARNERS
from psm_sim.summary_stats import Interval, confidence_interval


class BySeed:
    """The rows of all seeds on one trace, one per policy and gamma of the learners' loss."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = pd.DataFrame(rows)

    def values(self, policy: str, column: str, gamma: str = "published") -> pd.Series[float]:
        """Return *column* of *policy*, a learner's with that *gamma*: one value per seed, shape (seeds,)."""
        rows = self.rows[(self.rows["policy"] == policy) & (self.rows["gamma"] == gamma)]
        return rows.set_index("seed")[column].sort_index().astype(float)

    def mean(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return the mean over seeds with its interval; arguments as for :meth:`values`."""
        return confidence_interval(self.values(policy, column, gamma))

    def against(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return how much more a policy has than Learn-alpha; arguments as for :meth:`values`."""
        other = self.values(policy, column, own_gamma(policy, gamma))
        return confidence_interval(other - self.values(LEARN_ALPHA, column, gamma))

    def above(self, found: str, other: str, gamma: str = "published") -> Interval:
        """Return hindsight's column *found* less its column *other* under *gamma*, in nats, seed by seed."""
        return confidence_interval(
            self.values("hindsight", found, gamma) - self.values("hindsight", other, gamma)
        )

    def verdict(self, policy: str, gamma: str = "published") -> str:
        """Say how a policy fares against Learn-alpha of that gamma, by the equivalence margins."""
        energy, slowdown = (self.against(policy, name, gamma) for name in ("energy_j", "slowdown"))
        margin_j = ENERGY_MARGIN * self.mean(LEARN_ALPHA, "energy_j", gamma).mean
        return overall_verdict(
            classify_difference(energy, margin_j), classify_difference(slowdown, SLOWDOWN_MARGIN)
        )

    def least(self, column: str, gamma: str = "published") -> str:
        """Name the learner with the least mean of a column."""
        return min(LEARNERS, key=lambda each: self.mean(each, column, gamma).mean)

    def best_fixed(self, gamma: str = "published") -> dict[str, str]:
        """Return the best fixed polling times in hindsight, by what they are best at; '' if there is none."""
        energy = {each: self.mean(each, "energy_j").mean for each in FIXED}
        slowdown = {each: self.mean(each, "slowdown").mean for each in FIXED}
        ours = (self.mean(LEARN_ALPHA, name, gamma).mean for name in ("energy_j", "slowdown"))
        our_energy, our_slowdown = ours
        as_fast = [each for each in FIXED if slowdown[each] <= our_slowdown]
        as_frugal = [each for each in FIXED if energy[each] <= our_energy]
        return {
            "least energy of all": min(FIXED, key=energy.__getitem__),
            "least energy of those no slower than Learn-alpha": min(
                as_fast, key=energy.__getitem__, default=""
            ),
            "least slowdown of those with no more energy than Learn-alpha": min(
                as_frugal, key=slowdown.__getitem__, default=""
            ),
        }


def own_gamma(policy: str, gamma: str) -> str:
    """Return the gamma under which a policy's rows stand: only a learner's depend on it."""
    return gamma if policy in LEARNERS else "published"


def sign(difference: Interval) -> int:
    """Return 1 or -1 if the interval lies above or below 0, and 0 if it holds it."""
    return (difference.low > 0) - (difference.high < 0)


def display_name(policy: str) -> str:
    """Return a policy's name for a table; a fixed polling time with its length in ms."""
    beacons = policy.partition("listen_interval=")[2]
    return f"{policy} ({beacons}00 ms)" if beacons else policy


def format_signed(found: Interval, digits: int) -> str:
    """Return a difference with its sign and interval."""
    return f"{found.mean:+.{digits}f} ± {found.half_width:.{digits}f}"


def scaled(found: Interval, factor: float) -> Interval:
    """Return a mean and its interval in another unit."""
    return Interval(found.mean * factor, found.half_width * abs(factor), found.replications)
