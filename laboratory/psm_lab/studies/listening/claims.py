"""Claims of the study, fixed before its seeds were run, the rule of their verdicts, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from psm_lab.studies.listening.tasks import INTERVALS, PAGE_TRACES, PUSH_TRACES
from psm_lab.studies.published_claims import OPEN_AGREEMENT, judge
from psm_sim.common.summary_stats import Interval, confidence_interval

RULE = (
    "The rule was fixed beforehand. A claim compares two policies on the same pages. Each of its conditions"
    " compares a paired 95 % interval over seeds with a limit. The claim agrees on a trace if every interval"
    " lies on the claimed side. It differs if one interval lies on the other side, and is open otherwise."
)

Series = pd.Series


@dataclass(frozen=True)
class Condition:
    """Condition that a difference or a ratio of a quantity is below a limit.

    ``label`` names the quantity in the table, and ``value`` computes it from the rows of both policies.
    """

    label: str
    limit: float
    value: Callable[[pd.DataFrame, pd.DataFrame], pd.Series[float]]

    def interval(self, policy: pd.DataFrame, other: pd.DataFrame) -> Interval:
        """Return the paired interval over seeds of the rows of a *policy* and of the *other* policy.

        Both frames have one row per seed, in the same order.
        """
        return confidence_interval(self.value(policy, other))

    def verdict(self, interval: Interval) -> str:
        """Return ``agrees``, ``open`` or ``differs`` for an interval of the quantity."""
        return judge(interval, high=self.limit, words=OPEN_AGREEMENT)


@dataclass(frozen=True)
class Claim:
    """Claim about a policy compared with another policy.

    ``against`` is a policy, ``matched`` for random listening to equally many beacons, or ``interval`` for a
    fixed listen interval of equal delay. ``traces`` are the traces of the claim; by default these are all
    page traces.
    """

    number: int
    text: str
    policy: str
    against: str
    conditions: tuple[Condition, ...]
    traces: tuple[str, ...] = ()


def lower_than(column: str, label: str, by: float = 0.0) -> Condition:
    """Return the condition that a quantity is lower than that of the other policy by more than *by*.

    Parameters
    ----------
    column : str
        Column of the quantity.
    label : str
        Name of the quantity in the table.
    by : float
        Difference in the unit of the quantity. A negative value allows the quantity to be higher.
    """
    return Condition(f"{label}, difference", -by, lambda policy, other: policy[column] - other[column])


def at_most(column: str, label: str, share: float) -> Condition:
    """Return the condition that a quantity is below a share of that of the other policy.

    Parameters
    ----------
    column, label
        As for :func:`lower_than`.
    share : float
        Upper limit of the ratio.
    """
    return Condition(f"{label}, ratio", share, lambda policy, other: policy[column] / other[column])


_ENERGY, _SLOWDOWN = lower_than("energy_j", "J/page"), lower_than("slowdown", "slowdown")
_BOTH = (_ENERGY, _SLOWDOWN)

CLAIMS = (
    Claim(1, "anticipate at 0.1 W: less energy and less delay than LPSM", "anticipate:price=0.1", "lpsm",
          _BOTH),
    Claim(
        2, "anticipate at 0.1 W: page times of static PSM with 9 % less energy", "anticipate:price=0.1",
        "psm",
        (at_most("energy_j", "J/page", 0.91), lower_than("slowdown", "slowdown", -0.03)),
    ),
    Claim(
        3, "anticipate at 2 W: less energy than BSD, and at most 0.03 more slowdown", "anticipate:price=2",
        "bsd:p=1",
        (_ENERGY, lower_than("slowdown", "slowdown", -0.03)),
    ),
    Claim(
        3, "anticipate at 2 W: less energy than BSD, and at most 0.01 more slowdown", "anticipate:price=2",
        "bsd:p=1",
        (_ENERGY, lower_than("slowdown", "slowdown", -0.01)),
    ),
    Claim(4, "outstanding: less energy and less delay than LPSM", "outstanding", "lpsm", _BOTH),
    Claim(5, "listen: less energy and less delay than LPSM", "listen:learner=cbgz2,b=0.003",
          "lpsm", _BOTH),
    Claim(6, "listen: less delay than random listening to equally many beacons",
          "listen:learner=cbgz,b=0.03", "matched", (_SLOWDOWN,)),
    Claim(7, "listen: less energy and less delay than outstanding", "listen:learner=cbgz2,b=0.003",
          "outstanding", _BOTH),
    Claim(8, "listen with DKM: at most one in five received beacons is unforced", "listen:learner=dkm,R=32",
          "psm", (Condition("unforced share", 0.2, lambda policy, _: policy["unforced"]),)),
    Claim(9, "anticipate on memoryless pushes: less energy than a fixed interval of equal delay",
          "anticipate:idle_price=0.1", "interval", (at_most("above_j_per_h", "J/h above sleep", 1.0),),
          ("pushes:kind=poisson",)),
    Claim(10, "anticipate on periodic pushes: half of LPSM's delay with less energy",
          "anticipate:idle_price=0.1", "lpsm",
          (at_most("delay_s", "delay", 0.5), lower_than("above_j_per_h", "J/h above sleep")),
          ("pushes:kind=clock",)),
)  # fmt: skip
"""Claims of the study. A test checks number 11, the estimate of the misses, which no station knows."""


_TITLES = {case.trace: case.title for case in (*PAGE_TRACES, *PUSH_TRACES)}


def judge_claims(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim and trace, with the interval of each condition and the verdict.

    Parameters
    ----------
    runs : DataFrame
        Rows of all policies, traces and seeds.
    matched : DataFrame
        Rows of random listening, with the learner that each row ``matches``.
    """
    lines = [
        _judge(claim, trace, runs[runs["trace"] == trace], matched[matched["trace"] == trace])
        for claim in CLAIMS
        for trace in claim.traces or [case.trace for case in PAGE_TRACES]
    ]
    return pd.DataFrame(lines)


def _judge(claim: Claim, trace: str, runs: pd.DataFrame, matched: pd.DataFrame) -> dict[str, object]:
    policy, other = rows_of_policy(runs, claim.policy), _other_rows(claim, runs, matched)
    intervals = [condition.interval(policy, other) for condition in claim.conditions]
    verdicts = [test.verdict(value) for test, value in zip(claim.conditions, intervals, strict=True)]
    worst = "differs" if "differs" in verdicts else "open" if "open" in verdicts else "agrees"
    texts = [f"{test.label} {value:.3f}" for test, value in zip(claim.conditions, intervals, strict=True)]
    labels = {"claim": f"{claim.number}. {claim.text}", "trace": _TITLES[trace]}
    return {**labels, "result": "; ".join(texts), "verdict": worst}


def rows_of_policy(runs: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Return the rows of a *policy* in *runs*, which are those of one trace, by seed."""
    return runs[runs["policy"] == policy].set_index("seed").sort_index()


def _other_rows(claim: Claim, runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    if claim.against == "matched":
        return matched[matched["matches"] == claim.policy].set_index("seed").sort_index()
    if claim.against == "interval":
        return at_equal_delay(runs, rows_of_policy(runs, claim.policy))
    return rows_of_policy(runs, claim.against)


def at_equal_delay(runs: pd.DataFrame, policy: pd.DataFrame) -> pd.DataFrame:
    """Return the energy of fixed listen intervals at the delays of a policy, interpolated for each seed.

    Between two intervals the energy is linear in the inverse of the delay, so it is interpolated over it.

    Parameters
    ----------
    runs : DataFrame
        Rows of one trace, including the fixed intervals.
    policy : DataFrame
        Rows of the compared policy, by seed.
    """
    fixed = [rows_of_policy(runs, f"psm:listen_interval={interval}") for interval in reversed(INTERVALS)]
    rates = np.array([1 / interval["delay_s"].to_numpy() for interval in fixed])
    energies = np.array([interval["above_j_per_h"].to_numpy() for interval in fixed])
    delays_s = policy["delay_s"].to_numpy()
    needed = [
        np.interp(1 / delay_s, rates[:, index], energies[:, index]) for index, delay_s in enumerate(delays_s)
    ]
    return pd.DataFrame({"above_j_per_h": needed, "delay_s": delays_s}, index=policy.index)
