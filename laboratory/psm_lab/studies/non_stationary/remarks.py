"""Remarks on non-stationary traffic, with text, signs and numbers from the rows."""

from __future__ import annotations

import numpy as np

from psm_lab.studies.non_stationary.paired_differences import (
    SeedRows,
    display_name,
    format_signed,
    scaled_interval,
    sign,
)
from psm_lab.studies.non_stationary.tasks import BOUNDED, LEARN_ALPHA, LEARNERS
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.losses import Poll, make_loss

_MEASURES = {"loss on the same rounds": "common", "energy": "energy_j", "slowdown": "slowdown"}


def comparisons(rows: SeedRows, gamma: str = "published") -> list[str]:
    """Return one remark for each kind of policy, and one on regret; *gamma* is that of the learners."""
    return [
        _static_remark(rows, gamma),
        *_group_remarks(rows, gamma),
        *_fixed_remarks(rows, gamma),
        _regret_remark(rows, gamma),
    ]


def gains(rows: SeedRows, control: SeedRows) -> str:
    """Compare Learn-alpha's saving over Static-expert on the shifting *rows* with that on the *control*."""
    shifting, stationary = (
        confidence_interval(
            100 * (1 - traffic.values(LEARN_ALPHA, "energy_j") / traffic.values("Static-expert", "energy_j"))
        )
        for traffic in (rows, control)
    )
    relation = "larger" if shifting.low > stationary.high else "not larger"
    return (
        f"Learn-alpha's saving over Static-expert is {shifting:.1f} % of its energy on the shifting traffic"
        f" and {stationary:.1f} % on the stationary traffic. The saving is {relation} if regimes switch."
    )


def leaders(rows: SeedRows, gamma: str = "published") -> str:
    """Return a remark on the learners with the lowest mean loss, energy and slowdown, and the best rate."""
    names = [f"{measure}: {rows.least(column, gamma)}" for measure, column in _MEASURES.items()]
    rate = rows.values("hindsight", "alpha", gamma).median()
    return (
        f"Learners with the lowest means: {'; '.join(names)}. The switching rate with the minimum loss,"
        f" chosen offline, is {rate:.2g} (median over seeds)."
    )


def polls_to_forget() -> str:
    """Return a remark on the number of empty polls that compensate one buffered frame."""
    times_ms, loss = np.array([100.0, 200.0]), make_loss("inverse-log")
    cost, gain = (loss(poll, times_ms) for poll in (Poll(100.0, 1500, 1), Poll(100.0)))
    polls = float((cost[1] - cost[0]) / (gain[0] - gain[1]))
    return (
        "At the published gamma, a frame of 1500 bytes that is buffered for a doze of 100 ms costs the expert"
        f" of 200 ms more than that of 100 ms. It takes {polls:,.0f} empty polls to compensate for the"
        " difference in nats."
    )


def _static_remark(rows: SeedRows, gamma: str) -> str:
    energy, slowdown = (rows.against("Static-expert", name, gamma) for name in ("energy_j", "slowdown"))
    share = 100 * energy.mean / rows.mean("Static-expert", "energy_j", gamma).mean
    relation = "less" if share > 0 else "more"
    return (
        f"Compared with Static-expert, Learn-alpha takes {abs(share):.1f} % {relation} energy"
        f" ({format_signed(scaled_interval(energy, -1000), 1)} mJ per page), and its slowdown differs by"
        f" {format_signed(scaled_interval(slowdown, -1), 3)}."
    )


def _group_remarks(rows: SeedRows, gamma: str) -> list[str]:
    return [
        _group_remark(rows, title, policies, gamma)
        for title, policies in (("Fixed-share", LEARNERS[2:]), ("BSD", BOUNDED))
    ]


def _group_remark(rows: SeedRows, title: str, policies: tuple[str, ...], gamma: str) -> str:
    by_verdict: dict[str, list[str]] = {}
    for policy in policies:
        by_verdict.setdefault(rows.verdict(policy, gamma), []).append(policy)
    verdicts = "; ".join(f"{', '.join(names)}: {verdict}" for verdict, names in by_verdict.items())
    return f"{title} compared with Learn-alpha: {verdicts}."


def _fixed_remarks(rows: SeedRows, gamma: str) -> list[str]:
    return [
        _fixed_remark(rows, criterion, policy, gamma) for criterion, policy in rows.best_fixed(gamma).items()
    ]


def _fixed_remark(rows: SeedRows, criterion: str, policy: str, gamma: str) -> str:
    if not policy:
        return f"Best fixed polling time, {criterion}: there is none."
    energy, slowdown = (rows.against(policy, name, gamma) for name in ("energy_j", "slowdown"))
    return (
        f"Best fixed polling time, {criterion}: {display_name(policy)}. Compared with Learn-alpha it is"
        f" {rows.verdict(policy, gamma)} ({format_signed(scaled_interval(energy, 1000), 1)} mJ per page,"
        f" {format_signed(slowdown, 3)} slowdown)."
    )


def _regret_remark(rows: SeedRows, gamma: str) -> str:
    losses = rows.values(LEARN_ALPHA, "common", gamma)
    to_best, to_rate = (
        confidence_interval(losses - rows.values("hindsight", name, gamma))
        for name in ("best_expert", "best_rate")
    )
    better = [policy for policy in LEARNERS[1:] if sign(rows.against(policy, "common", gamma)) < 0]
    names = ", ".join(better) if better else "no learner with a fixed rate"
    return (
        f"Regret of Learn-alpha on the same rounds: {format_signed(to_best, 1)} nats to the best expert, and"
        f" {format_signed(to_rate, 1)} nats to Fixed-share at the best rate. Both are chosen offline, so no"
        " user knows them."
        f" Learners with a lower loss: {names}."
    )
