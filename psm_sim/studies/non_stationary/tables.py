"""Tables of the study of non-stationary traffic, as Markdown: every number and verdict is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from psm_sim.estimates import Interval, interval
from psm_sim.studies.non_stationary.task import FIXED, LEARN_ALPHA, LEARNERS

REGIMES = ("quiet", "busy", "stream", "push")


class Study:
    """The rows of all seeds, asked for means and for paired differences to Learn-alpha."""

    def __init__(self, rows: Iterable[dict[str, object]]) -> None:
        self.rows = pd.DataFrame(rows)

    def values(self, policy: str, column: str, gamma: str = "published") -> pd.Series[float]:
        """Return *column* of *policy*, a learner's with that *gamma*: one value per seed, shape (seeds,)."""
        rows = self.rows[(self.rows["policy"] == policy) & (self.rows["gamma"] == gamma)]
        return rows.set_index("seed")[column].sort_index().astype(float)

    def mean(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return the mean over seeds with its interval; arguments as for :meth:`values`."""
        return interval(self.values(policy, column, gamma))

    def against(self, policy: str, column: str, gamma: str = "published") -> Interval:
        """Return how much more a policy has than Learn-alpha; arguments as for :meth:`values`."""
        own_gamma = gamma if policy in LEARNERS else "published"
        return interval(self.values(policy, column, own_gamma) - self.values(LEARN_ALPHA, column, gamma))

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


def sign(difference: Interval) -> int:
    """Return 1 or -1 if the interval lies above or below 0, and 0 if it holds it."""
    return (difference.low > 0) - (difference.high < 0)


VERDICTS = {
    (1, 1): "loses in both",
    (1, 0): "loses",
    (0, 1): "loses",
    (1, -1): "faster, at more energy",
    (-1, 1): "frugal, but slower",
    (-1, 0): "**wins**",
    (0, -1): "**wins**",
    (-1, -1): "**wins in both**",
    (0, 0): "no difference",
}
"""Of another policy against Learn-alpha, by the signs of its differences in energy and in slowdown."""


def verdict(study: Study, policy: str, gamma: str = "published") -> str:
    """Say how *policy* fares against Learn-alpha of that *gamma*, by the rows of *study*."""
    return VERDICTS[
        sign(study.against(policy, "energy_j", gamma)), sign(study.against(policy, "slowdown", gamma))
    ]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned right."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def named(policy: str) -> str:
    """Return a policy's name for a table, as it is typed if it is typed."""
    if policy in LEARNERS:
        return policy
    beacons = policy.partition("listen_interval=")[2]
    return f"`{policy}`" + (f" ({beacons}00 ms)" if beacons else "")


def energy_and_slowdown(study: Study, policies: Sequence[str], gamma: str = "published") -> str:
    """Return the table of joules and slowdown, with paired differences to Learn-alpha and the verdict.

    *study* has the rows of all seeds; *policies* have one row each; *gamma* is that of the learners.
    """
    heads = (
        "policy",
        "mJ per page",
        "slowdown",
        "delay per page, ms",
        "mJ more than Learn-alpha",
        "slowdown more",
        "against Learn-alpha",
    )
    rows = []
    for policy in policies:
        own = gamma if policy in LEARNERS else "published"
        energy = scaled(study.mean(policy, "energy_j", own), 1000)
        row = [named(policy), f"{energy:.1f}", f"{study.mean(policy, 'slowdown', own):.3f}"]
        row += [f"{study.mean(policy, 'delay_ms', own):.0f}"]
        if policy == LEARN_ALPHA:
            row += ["", "", ""]
        else:
            more = scaled(study.against(policy, "energy_j", gamma), 1000)
            row += [
                f"{signed(more, 1)}",
                f"{signed(study.against(policy, 'slowdown', gamma), 3)}",
                verdict(study, policy, gamma),
            ]
        rows.append(row)
    return table(heads, rows)


def common_regret(study: Study, gammas: Sequence[str]) -> str:
    """Return the table of what each learner and hindsight lost in the rounds of Learn-alpha's run."""
    rows = []
    for policy in LEARNERS:
        row = [policy]
        for gamma in gammas:
            best = study.values("hindsight", "best_expert", gamma)
            row += [f"{signed(interval(study.values(policy, 'common', gamma) - best), 1)}"]
            row += ["" if policy == LEARN_ALPHA else f"{signed(study.against(policy, 'common', gamma), 1)}"]
        rows.append(row)
    hindsight = {
        "best switching rate in hindsight": "best_rate",
        "best sequence with the true number of switches": "best_switching",
        "best expert of each round": "each_round",
    }
    for name, column in hindsight.items():
        row = [f"*{name}*"]
        for gamma in gammas:
            found = study.values("hindsight", column, gamma)
            row += [f"{signed(interval(found - study.values('hindsight', 'best_expert', gamma)), 1)}"]
            row += [f"{signed(interval(found - study.values(LEARN_ALPHA, 'common', gamma)), 1)}"]
        rows.append(row)
    heads = ["nats per run"]
    for gamma in gammas:
        heads += [f"regret to the best expert, gamma {gamma}", f"more than Learn-alpha, gamma {gamma}"]
    return table(heads, rows)


def own_regret(study: Study, gammas: Sequence[str]) -> str:
    """Return the table of each learner's regret over the rounds of its own run."""
    heads, columns = ["learner"], ("rounds", "own_regret", "own_switching_regret")
    for gamma in gammas:
        heads += [
            f"rounds, gamma {gamma}",
            "regret to the best expert",
            "regret to the true number of switches",
        ]
    rows = []
    for policy in LEARNERS:
        cells = [study.mean(policy, column, gamma) for gamma in gammas for column in columns]
        rows.append([policy, *(f"{cell:.0f}" for cell in cells)])
    return table(heads, rows)


def by_regime(study: Study, policies: Sequence[str], gamma: str = "published") -> str:
    """Return the table of power and delay by regime; arguments as for :func:`energy_and_slowdown`."""
    heads = ["policy", *(f"{name}, mW" for name in REGIMES), *(f"{name}, ms" for name in REGIMES)]
    rows = []
    for policy in policies:
        own = gamma if policy in LEARNERS else "published"
        mine = study.rows[(study.rows["policy"] == policy) & (study.rows["gamma"] == own)]
        cells = [
            f"{interval([each[name] for each in mine[column]]):.{digits}f}"
            for column, digits in (("power_mw", 1), ("regime_delay_ms", 0))
            for name in REGIMES
        ]
        rows.append([named(policy), *cells])
    return table(heads, rows)


def signed(found: Interval, digits: int) -> str:
    """Return a difference with its sign and interval."""
    return f"{found.mean:+.{digits}f} ± {found.half_width:.{digits}f}"


def scaled(found: Interval, factor: float) -> Interval:
    """Return a mean and its interval in another unit."""
    return Interval(found.mean * factor, found.half_width * abs(factor), found.replications)
