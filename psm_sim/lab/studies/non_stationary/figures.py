"""Data of the figures on non-stationary traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.common.summary_stats import confidence_interval
from psm_sim.lab.studies.non_stationary.regret import CURVE
from psm_sim.lab.studies.non_stationary.seed_statistics import SeedRows
from psm_sim.lab.studies.non_stationary.task import BOUNDED, FIXED, LEARN_ALPHA, LEARNERS

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
