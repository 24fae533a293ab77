"""Numbers of the figures on non-stationary traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.lab.studies.non_stationary.regret import CURVE
from psm_sim.lab.studies.non_stationary.seed_statistics import BySeed
from psm_sim.lab.studies.non_stationary.task import BOUNDED, FIXED, LEARN_ALPHA, LEARNERS
from psm_sim.summary_stats import confidence_interval

GROUPS = {
    "fixed polling time, 100 to 600 ms": FIXED[:6],
    "BSD": BOUNDED,
    "Fixed-share (alpha = 0: Static-expert)": LEARNERS[1:],
    LEARN_ALPHA: (LEARN_ALPHA,),
}
"""The policies that are drawn, by the name of their line."""


def energy_against_slowdown(found: BySeed) -> pd.DataFrame:
    """Return energy in mJ per page and slowdown with half widths, one row per policy drawn."""
    return pd.DataFrame(
        [_point(found, policy, group) for group, policies in GROUPS.items() for policy in policies]
    )


def _point(found: BySeed, policy: str, group: str) -> dict[str, Any]:
    slowdown, energy = (
        found.mean(policy, "slowdown"),
        confidence_interval(1000 * found.values(policy, "energy_j")),
    )
    return {
        "group": group,
        "policy": policy,
        "slowdown": slowdown.mean,
        "slowdown_ci95": slowdown.half_width,
        "energy_mj": energy.mean,
        "energy_mj_ci95": energy.half_width,
    }


def loss_of_each_rate(found: BySeed, gammas: Sequence[str]) -> pd.DataFrame:
    """Return the regret of Fixed-share at each rate, and Learn-alpha's, in nats, with half widths."""
    return pd.concat([_rates(found, gamma) for gamma in gammas], ignore_index=True)


def _rates(found: BySeed, gamma: str) -> pd.DataFrame:
    rows = found.rows
    curves = rows.loc[(rows["policy"] == "hindsight") & (rows["gamma"] == gamma), "curve"]
    fixed = [confidence_interval(values) for values in np.array(curves.tolist()).T]
    ours = confidence_interval(
        found.values(LEARN_ALPHA, "common", gamma) - found.values("hindsight", "best_expert", gamma)
    )
    return pd.DataFrame(
        {
            "gamma": gamma,
            "alpha": CURVE,
            "fixed_share": [each.mean for each in fixed],
            "fixed_share_ci95": [each.half_width for each in fixed],
            "learn_alpha": ours.mean,
            "learn_alpha_ci95": ours.half_width,
        }
    )
