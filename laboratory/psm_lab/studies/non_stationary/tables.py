"""Tables and data of figures, with all numbers and verdicts computed from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_lab.studies.non_stationary.paired_differences import (
    SeedRows,
    display_name,
    format_signed,
    own_gamma,
    scaled_interval,
)
from psm_lab.studies.non_stationary.tasks import BOUNDED, CURVE, FIXED, LEARN_ALPHA, LEARNERS
from psm_sim.common.summary_stats import confidence_interval

REGIMES = ("quiet", "busy", "stream", "push")
HINDSIGHT = {
    "best switching rate, chosen offline": "best_rate",
    "best sequence with the true number of switches": "best_switching",
    "best expert of each round": "each_round",
}
"""Offline optima, which are rows of the table of regret that no learner can reach, with their columns."""


def energy_and_slowdown(rows: SeedRows, policies: Sequence[str], gamma: str = "published") -> pd.DataFrame:
    """Return energy and slowdown, with paired differences to Learn-alpha and the verdict.

    *rows* has the rows of all seeds. Each of the *policies* has one line, and *gamma* is that of the
    learners.
    """
    return pd.DataFrame([_policy_line(rows, policy, gamma) for policy in policies])


def _policy_line(rows: SeedRows, policy: str, gamma: str) -> dict[str, str]:
    own = own_gamma(policy, gamma)
    line = {
        "policy": display_name(policy),
        "mJ per page": f"{scaled_interval(rows.mean(policy, 'energy_j', own), 1000):.1f}",
        "slowdown": f"{rows.mean(policy, 'slowdown', own):.3f}",
        "delay per page, ms": f"{rows.mean(policy, 'delay_ms', own):.0f}",
    }
    if policy == LEARN_ALPHA:
        return line | dict.fromkeys(
            ("mJ per page, difference to Learn-alpha", "slowdown, difference", "compared with Learn-alpha"),
            "",
        )
    return line | {
        "mJ per page, difference to Learn-alpha": format_signed(
            scaled_interval(rows.against(policy, "energy_j", gamma), 1000), 1
        ),
        "slowdown, difference": format_signed(rows.against(policy, "slowdown", gamma), 3),
        "compared with Learn-alpha": rows.verdict(policy, gamma),
    }


def common_regret(rows: SeedRows, gammas: Sequence[str]) -> pd.DataFrame:
    """Return the regret of each learner and optimum in the rounds of Learn-alpha's run, in nats per run."""
    learners = [{"learner": policy} | _learner_regret(rows, policy, gammas) for policy in LEARNERS]
    optima = [{"learner": name} | _optimum_regret(rows, column, gammas) for name, column in HINDSIGHT.items()]
    return pd.DataFrame([*learners, *optima])


def _learner_regret(rows: SeedRows, policy: str, gammas: Sequence[str]) -> dict[str, str]:
    line = {}
    for gamma in gammas:
        best = rows.values("hindsight", "best_expert", gamma)
        difference = "" if policy == LEARN_ALPHA else format_signed(rows.against(policy, "common", gamma), 1)
        line[_TO_BEST.format(gamma)] = format_signed(
            confidence_interval(rows.values(policy, "common", gamma) - best), 1
        )
        line[_TO_LEARN_ALPHA.format(gamma)] = difference
    return line


def _optimum_regret(rows: SeedRows, column: str, gammas: Sequence[str]) -> dict[str, str]:
    line = {}
    for gamma in gammas:
        learn_alpha = rows.values(LEARN_ALPHA, "common", gamma)
        difference = confidence_interval(rows.values("hindsight", column, gamma) - learn_alpha)
        line[_TO_BEST.format(gamma)] = format_signed(rows.above(column, "best_expert", gamma), 1)
        line[_TO_LEARN_ALPHA.format(gamma)] = format_signed(difference, 1)
    return line


_TO_BEST, _TO_LEARN_ALPHA = "regret to the best expert, gamma {}", "difference to Learn-alpha, gamma {}"


def own_regret(rows: SeedRows, gammas: Sequence[str]) -> pd.DataFrame:
    """Return each learner's regret over the rounds of its own run, in nats per run."""
    columns = {
        "rounds": "rounds",
        "own_regret": "regret to the best expert",
        "own_switching_regret": "regret to the true number of switches",
    }
    lines = [
        {"learner": policy}
        | {
            f"{label}, gamma {gamma}": f"{rows.mean(policy, column, gamma):.0f}"
            for gamma in gammas
            for column, label in columns.items()
        }
        for policy in LEARNERS
    ]
    return pd.DataFrame(lines)


def by_regime(rows: SeedRows, policies: Sequence[str]) -> pd.DataFrame:
    """Return power and delay by regime with the published gamma, one line per policy."""
    return pd.DataFrame([_regime_line(rows, policy) for policy in policies])


def _regime_line(rows: SeedRows, policy: str) -> dict[str, str]:
    frame = rows.rows
    runs = frame[(frame["policy"] == policy) & (frame["gamma"] == own_gamma(policy, "published"))]
    cells = {
        f"{name}, {unit}": f"{confidence_interval([run[name] for run in runs[column]]):.{digits}f}"
        for column, unit, digits in (("power_mw", "mW", 1), ("regime_delay_ms", "ms", 0))
        for name in REGIMES
    }
    return {"policy": display_name(policy), **cells}


GROUPS = {
    "fixed polling time, 100 to 600 ms": FIXED[:6],
    "BSD": BOUNDED,
    "Fixed-share (alpha = 0: Static-expert)": LEARNERS[1:],
    LEARN_ALPHA: (LEARN_ALPHA,),
}
"""Plotted policies, by the name of their line."""


def energy_against_slowdown(rows: SeedRows) -> pd.DataFrame:
    """Return energy in mJ per page and slowdown with half widths, one row per plotted policy."""
    return pd.DataFrame(
        [_point(rows, policy, group) for group, policies in GROUPS.items() for policy in policies]
    )


def _point(rows: SeedRows, policy: str, group: str) -> dict[str, Any]:
    slowdown, energy = (
        rows.mean(policy, "slowdown"),
        confidence_interval(1000 * rows.values(policy, "energy_j")),
    )
    return {
        "group": group,
        "policy": policy,
        "slowdown": slowdown.mean,
        "slowdown_ci95": slowdown.half_width,
        "energy_mj": energy.mean,
        "energy_mj_ci95": energy.half_width,
    }


def loss_of_each_rate(rows: SeedRows, gammas: Sequence[str]) -> pd.DataFrame:
    """Return the regret of Fixed-share at each rate, and of Learn-alpha, in nats, with half widths."""
    return pd.concat([_rates(rows, gamma) for gamma in gammas], ignore_index=True)


def _rates(rows: SeedRows, gamma: str) -> pd.DataFrame:
    frame = rows.rows
    curves = frame.loc[(frame["policy"] == "hindsight") & (frame["gamma"] == gamma), "curve"]
    fixed = [confidence_interval(values) for values in np.array(curves.tolist()).T]
    learn_alpha = confidence_interval(
        rows.values(LEARN_ALPHA, "common", gamma) - rows.values("hindsight", "best_expert", gamma)
    )
    return pd.DataFrame(
        {
            "gamma": gamma,
            "alpha": CURVE,
            "fixed_share": [regret.mean for regret in fixed],
            "fixed_share_ci95": [regret.half_width for regret in fixed],
            "learn_alpha": learn_alpha.mean,
            "learn_alpha_ci95": learn_alpha.half_width,
        }
    )
