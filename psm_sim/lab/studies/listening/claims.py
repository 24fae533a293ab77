"""Claims of the study, fixed before its seeds were run, and the rule by which each is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from psm_sim.summary_stats import Interval, confidence_interval

RULE = (
    "The rule, stated beforehand: a claim sets one policy against another on the same pages. Each of its"
    " conditions is a paired 95 % interval over seeds against a limit. The claim agrees on a trace if every"
    " interval lies on the claimed side, differs if one lies on the other side, and is open otherwise."
)

Series = pd.Series


@dataclass(frozen=True)
class Condition:
    """Condition of a claim: some difference or ratio of a quantity is below a limit."""

    words: str
    limit: float
    value: Callable[[pd.DataFrame, pd.DataFrame], pd.Series[float]]

    def found(self, ours: pd.DataFrame, others: pd.DataFrame) -> Interval:
        """Return the paired interval over seeds; both frames have one row per seed, in the same order."""
        return confidence_interval(self.value(ours, others))

    def verdict(self, found: Interval) -> str:
        """Say on which side of the limit an interval lies."""
        return "agrees" if found.high < self.limit else "differs" if found.low > self.limit else "open"


@dataclass(frozen=True)
class Claim:
    """Claim about one policy against another, on the traces of pages or of pushes that it names.

    ``against`` is a policy, or ``matched`` for random listening at as many beacons heard.
    """

    number: int
    words: str
    policy: str
    against: str
    conditions: tuple[Condition, ...]
    traces: tuple[str, ...] = ()


def lower_than(column: str, words: str, by: float = 0.0) -> Condition:
    """Return the condition that a quantity is less than the other policy's by more than *by*.

    Parameters
    ----------
    column
        The quantity's column.
    words
        Its name in the table.
    by
        In the quantity's unit; negative: it can be more by that much.
    """
    return Condition(f"{words}, difference", -by, lambda ours, others: ours[column] - others[column])


def at_most(column: str, words: str, share: float) -> Condition:
    """Return the condition that a quantity is below a share of the other policy's.

    Parameters
    ----------
    column, words
        As for :func:`lower_than`.
    share
        The limit of the ratio.
    """
    return Condition(f"{words}, ratio", share, lambda ours, others: ours[column] / others[column])


_ENERGY, _SLOWDOWN = lower_than("energy_j", "J/page"), lower_than("slowdown", "slowdown")
_BOTH = (_ENERGY, _SLOWDOWN)

CLAIMS = (
    Claim(1, "at 0.1 W less energy and less delay than LPSM", "anticipate:price=0.1", "lpsm", _BOTH),
    Claim(
        2, "at 0.1 W static PSM's page times at 9 % less energy", "anticipate:price=0.1", "psm",
        (at_most("energy_j", "J/page", 0.91), lower_than("slowdown", "slowdown", -0.03)),
    ),
    Claim(
        3, "at 2 W less energy than BSD, and at most 0.03 more slowdown", "anticipate:price=2", "bsd:p=1",
        (_ENERGY, lower_than("slowdown", "slowdown", -0.03)),
    ),
    Claim(
        3, "the same, and at most 0.01 more slowdown", "anticipate:price=2", "bsd:p=1",
        (_ENERGY, lower_than("slowdown", "slowdown", -0.01)),
    ),
    Claim(4, "the rule: less energy and less delay than LPSM", "outstanding", "lpsm", _BOTH),
    Claim(5, "a seed's learner: less energy and less delay than LPSM", "listen:learner=cbgz2,b=0.003",
          "lpsm", _BOTH),
    Claim(6, "the margin's coin: less delay than random listening to as many beacons",
          "listen:learner=cbgz,b=0.03", "matched", (_SLOWDOWN,)),
    Claim(7, "a seed's learner: less energy and less delay than the rule", "listen:learner=cbgz2,b=0.003",
          "outstanding", _BOTH),
    Claim(8, "DKM dries up: at most one beacon in five is heard unforced", "listen:learner=dkm,R=32",
          "psm", (Condition("unforced share", 0.2, lambda ours, _: ours["unforced"]),)),
    Claim(9, "on memoryless pushes less energy than a fixed interval of the same delay",
          "anticipate:idle_price=0.1", "interval", (at_most("above_j_per_h", "J/h above sleep", 1.0),),
          ("pushes:kind=poisson",)),
    Claim(10, "on pushes by a clock half of LPSM's delay at less energy", "anticipate:idle_price=0.1", "lpsm",
          (at_most("delay_s", "delay", 0.5), lower_than("above_j_per_h", "J/h above sleep")),
          ("pushes:kind=clock",)),
)  # fmt: skip
"""The claims; number 11, that estimated misses cover the true ones, is a test: no station knows them."""
