"""Choices of the study: gamma, chosen on seeds of its own, and the doze after an uplink packet, varied."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.comparison_task import RunTask
from psm_sim.campaign.task_runner import Row
from psm_sim.component_spec import Spec
from psm_sim.lab.studies.non_stationary.equivalence_verdicts import (
    ENERGY_MARGIN,
    SLOWDOWN_MARGIN,
    classify_difference,
    overall_verdict,
)
from psm_sim.lab.studies.non_stationary.seed_statistics import format_signed
from psm_sim.simulation.scenario import Scenario
from psm_sim.summary_stats import confidence_interval

GAMMAS_TRIED = (1e-3, 1e-4, 1e-5, 1e-6)
UPLINKS = ("one", "restart", "keep")
NAMED_UPLINK = UPLINKS[0]
"""The choice after an uplink packet in all runs of the study, LPSM's default."""


def gamma_tasks(trace: str, pages: int, seeds: Sequence[int]) -> list[RunTask]:
    """Return runs of Learn-alpha with each gamma tried.

    Parameters
    ----------
    trace, pages
        What is loaded.
    seeds
        The seeds for choosing, one run of each gamma for each.
    """
    policies = tuple(f"lpsm:loss=inverse-log,gamma={gamma:g}" for gamma in GAMMAS_TRIED)
    return _tasks(policies, "gamma", trace, pages, seeds)


def uplink_tasks(trace: str, pages: int, seeds: Sequence[int]) -> list[RunTask]:
    """Return runs of Learn-alpha with each choice after an uplink packet; arguments as :func:`gamma_tasks`.

    *trace*, *pages* and *seeds* say what is loaded.
    """
    return _tasks(tuple(f"lpsm:uplink={uplink}" for uplink in UPLINKS), "uplink", trace, pages, seeds)


def _tasks(
    policies: tuple[str, ...], part: str, trace: str, pages: int, seeds: Sequence[int]
) -> list[RunTask]:
    return [
        RunTask(policies, Scenario(trace, pages=pages, seed=seed), {"trace": trace, "part": part})
        for seed in seeds
    ]


def chosen_gamma(rows: Sequence[Row]) -> float:
    """Return the gamma of least energy times slowdown, both as means over the seeds for choosing."""
    frame = pd.DataFrame(rows)
    means = frame.groupby("policy")[["energy_j", "slowdown"]].mean()
    costs = means["energy_j"] * means["slowdown"]
    return float(_value(costs.idxmin(), "gamma"))


def gammas(rows: Sequence[Row]) -> pd.DataFrame:
    """Return joules, slowdown and their product under each gamma tried."""
    frame = pd.DataFrame(rows)
    return pd.DataFrame([
        {
            "gamma": _value(policy, "gamma"),
            "mJ per page": f"{confidence_interval(1000 * group['energy_j']):.1f}",
            "slowdown": f"{confidence_interval(group['slowdown']):.3f}",
            "J x slowdown": f"{group['energy_j'].mean() * group['slowdown'].mean():.4f}",
        }
        for policy, group in frame.groupby("policy", sort=False)
    ])  # fmt: skip


def uplinks(rows: Sequence[Row]) -> pd.DataFrame:
    """Return joules and slowdown of Learn-alpha under each choice, and the verdict against the named one."""
    frame = pd.DataFrame(rows)
    groups = {
        _value(policy, "uplink"): group.set_index("seed").sort_index()
        for policy, group in frame.groupby("policy", sort=False)
    }
    named = groups[NAMED_UPLINK]
    return pd.DataFrame([_uplink(uplink, group, named) for uplink, group in groups.items()])


def _uplink(uplink: str, group: pd.DataFrame, named: pd.DataFrame) -> dict[str, str]:
    energy, slowdown = (confidence_interval(group[name] - named[name]) for name in ("energy_j", "slowdown"))
    margin_j = ENERGY_MARGIN * named["energy_j"].mean()
    verdict = overall_verdict(
        classify_difference(energy, margin_j), classify_difference(slowdown, SLOWDOWN_MARGIN)
    )
    return {
        "after an uplink packet": uplink,
        "mJ per page": f"{confidence_interval(1000 * group['energy_j']):.1f}",
        "slowdown": f"{confidence_interval(group['slowdown']):.3f}",
        "slowdown more": "" if uplink == NAMED_UPLINK else format_signed(slowdown, 3),
        f"against {NAMED_UPLINK}": "" if uplink == NAMED_UPLINK else verdict,
    }


def _value(policy: object, key: str) -> str:
    return dict(Spec.parse(str(policy), "policy").items)[key]
