"""Tables of the study of non-stationary traffic: every number and verdict is computed."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.lab.studies.non_stationary.seed_statistics import (
    BySeed,
    display_name,
    format_signed,
    own_gamma,
    scaled,
)
from psm_sim.lab.studies.non_stationary.task import LEARN_ALPHA, LEARNERS
from psm_sim.summary_stats import confidence_interval

REGIMES = ("quiet", "busy", "stream", "push")
HINDSIGHT = {
    "best switching rate in hindsight": "best_rate",
    "best sequence with the true number of switches": "best_switching",
    "best expert of each round": "each_round",
}
"""Rows of the table of regret that no learner can reach, with their columns."""


def energy_and_slowdown(found: BySeed, policies: Sequence[str], gamma: str = "published") -> pd.DataFrame:
    """Return joules and slowdown, with paired differences to Learn-alpha and the verdict.

    *found* has the rows of all seeds; *policies* have one row each; *gamma* is that of the learners.
    """
    return pd.DataFrame([_compared(found, policy, gamma) for policy in policies])


def _compared(found: BySeed, policy: str, gamma: str) -> dict[str, str]:
    own = own_gamma(policy, gamma)
    row = {
        "policy": display_name(policy),
        "mJ per page": f"{scaled(found.mean(policy, 'energy_j', own), 1000):.1f}",
        "slowdown": f"{found.mean(policy, 'slowdown', own):.3f}",
        "delay a page, ms": f"{found.mean(policy, 'delay_ms', own):.0f}",
    }
    if policy == LEARN_ALPHA:
        return row | dict.fromkeys(("mJ more than Learn-alpha", "slowdown more", "against Learn-alpha"), "")
    return row | {
        "mJ more than Learn-alpha": format_signed(scaled(found.against(policy, "energy_j", gamma), 1000), 1),
        "slowdown more": format_signed(found.against(policy, "slowdown", gamma), 3),
        "against Learn-alpha": found.verdict(policy, gamma),
    }


def common_regret(found: BySeed, gammas: Sequence[str]) -> pd.DataFrame:
    """Return what each learner and hindsight lost in the rounds of Learn-alpha's run, in nats per run."""
    learners = [{"learner": policy} | _learner_regret(found, policy, gammas) for policy in LEARNERS]
    hindsight = [
        {"learner": name} | _hindsight_regret(found, column, gammas) for name, column in HINDSIGHT.items()
    ]
    return pd.DataFrame([*learners, *hindsight])


def _learner_regret(found: BySeed, policy: str, gammas: Sequence[str]) -> dict[str, str]:
    row = {}
    for gamma in gammas:
        best = found.values("hindsight", "best_expert", gamma)
        more = "" if policy == LEARN_ALPHA else format_signed(found.against(policy, "common", gamma), 1)
        row[_TO_BEST.format(gamma)] = format_signed(
            confidence_interval(found.values(policy, "common", gamma) - best), 1
        )
        row[_TO_OURS.format(gamma)] = more
    return row


def _hindsight_regret(found: BySeed, column: str, gammas: Sequence[str]) -> dict[str, str]:
    row = {}
    for gamma in gammas:
        ours = found.values(LEARN_ALPHA, "common", gamma)
        more = confidence_interval(found.values("hindsight", column, gamma) - ours)
        row[_TO_BEST.format(gamma)] = format_signed(found.above(column, "best_expert", gamma), 1)
        row[_TO_OURS.format(gamma)] = format_signed(more, 1)
    return row


_TO_BEST, _TO_OURS = "regret to the best expert, gamma {}", "more than Learn-alpha, gamma {}"


def own_regret(found: BySeed, gammas: Sequence[str]) -> pd.DataFrame:
    """Return each learner's regret over the rounds of its own run, in nats per run."""
    columns = {
        "rounds": "rounds",
        "own_regret": "regret to the best expert",
        "own_switching_regret": "regret to the true number of switches",
    }
    rows = [
        {"learner": policy}
        | {
            f"{label}, gamma {gamma}": f"{found.mean(policy, column, gamma):.0f}"
            for gamma in gammas
            for column, label in columns.items()
        }
        for policy in LEARNERS
    ]
    return pd.DataFrame(rows)


def by_regime(found: BySeed, policies: Sequence[str], gamma: str = "published") -> pd.DataFrame:
    """Return power and delay by regime; arguments as for :func:`energy_and_slowdown`."""
    return pd.DataFrame([_in_each_regime(found, policy, gamma) for policy in policies])


def _in_each_regime(found: BySeed, policy: str, gamma: str) -> dict[str, str]:
    rows = found.rows
    mine = rows[(rows["policy"] == policy) & (rows["gamma"] == own_gamma(policy, gamma))]
    cells = {
        f"{name}, {unit}": f"{confidence_interval([each[name] for each in mine[column]]):.{digits}f}"
        for column, unit, digits in (("power_mw", "mW", 1), ("regime_delay_ms", "ms", 0))
        for name in REGIMES
    }
    return {"policy": display_name(policy), **cells}
