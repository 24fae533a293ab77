"""Choices of gamma and of the doze after an uplink packet."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_lab.studies.non_stationary.paired_differences import (
    ENERGY_MARGIN,
    SLOWDOWN_MARGIN,
    classify_difference,
    format_signed,
    overall_verdict,
)
from psm_lab.studies.tasks import Row, RunTask
from psm_sim.common.component_spec import Spec
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation.scenario import Scenario

CANDIDATE_GAMMAS = (1e-3, 1e-4, 1e-5, 1e-6)
UPLINKS = ("one", "restart", "keep")
DEFAULT_UPLINK = UPLINKS[0]
"""Choice after an uplink packet in all runs of the study. It is LPSM's default."""


def gamma_tasks(trace: str, pages: int, seeds: Sequence[int]) -> list[RunTask]:
    """Return runs of Learn-alpha with each candidate gamma.

    Parameters
    ----------
    trace : str
        Trace of the pages.
    pages : int
        Number of pages.
    seeds : sequence of int
        Seeds for choosing, with one run of each gamma per seed.
    """
    policies = tuple(f"lpsm:loss=inverse-log,gamma={gamma:g}" for gamma in CANDIDATE_GAMMAS)
    return _tasks(policies, "gamma", trace, pages, seeds)


def uplink_tasks(trace: str, pages: int, seeds: Sequence[int]) -> list[RunTask]:
    """Return runs of Learn-alpha with each choice after an uplink packet.

    *trace*, *pages* and *seeds* as for :func:`gamma_tasks`.
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
    """Return the gamma that minimises mean energy times mean slowdown over the seeds for choosing."""
    frame = pd.DataFrame(rows)
    means = frame.groupby("policy")[["energy_j", "slowdown"]].mean()
    costs = means["energy_j"] * means["slowdown"]
    return float(_value(costs.idxmin(), "gamma"))


def gammas(rows: Sequence[Row]) -> pd.DataFrame:
    """Return energy, slowdown and their product under each candidate gamma."""
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
    """Return energy and slowdown of Learn-alpha under each choice, and the verdict against the default."""
    frame = pd.DataFrame(rows)
    groups = {
        _value(policy, "uplink"): group.set_index("seed").sort_index()
        for policy, group in frame.groupby("policy", sort=False)
    }
    default = groups[DEFAULT_UPLINK]
    return pd.DataFrame([_uplink_row(uplink, group, default) for uplink, group in groups.items()])


def _uplink_row(uplink: str, group: pd.DataFrame, default: pd.DataFrame) -> dict[str, str]:
    energy, slowdown = (confidence_interval(group[name] - default[name]) for name in ("energy_j", "slowdown"))
    margin_j = ENERGY_MARGIN * default["energy_j"].mean()
    verdict = overall_verdict(
        classify_difference(energy, margin_j), classify_difference(slowdown, SLOWDOWN_MARGIN)
    )
    return {
        "after an uplink packet": uplink,
        "mJ per page": f"{confidence_interval(1000 * group['energy_j']):.1f}",
        "slowdown": f"{confidence_interval(group['slowdown']):.3f}",
        "slowdown, difference": "" if uplink == DEFAULT_UPLINK else format_signed(slowdown, 3),
        f"compared with {DEFAULT_UPLINK}": "" if uplink == DEFAULT_UPLINK else verdict,
    }


def _value(policy: object, key: str) -> str:
    return dict(Spec.parse(str(policy), "policy").items)[key]
