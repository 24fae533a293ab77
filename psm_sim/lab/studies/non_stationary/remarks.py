"""Remarks on non-stationary traffic: sentences whose words, signs and numbers come from the rows."""

from __future__ import annotations

import numpy as np

from psm_sim.lab.studies.non_stationary.seed_statistics import (
    BySeed,
    display_name,
    format_signed,
    scaled,
    sign,
)
from psm_sim.lab.studies.non_stationary.task import BOUNDED, LEARN_ALPHA, LEARNERS
from psm_sim.losses import Poll, make_loss
from psm_sim.summary_stats import confidence_interval

_MEASURES = {"loss on the same rounds": "common", "energy": "energy_j", "slowdown": "slowdown"}


def comparisons(found: BySeed, gamma: str = "published") -> list[str]:
    """Return one sentence for each kind of rival, and one on regret."""
    return [
        _against_static(found, gamma),
        *_groups(found, gamma),
        *_fixed(found, gamma),
        _regret(found, gamma),
    ]


def gains(found: BySeed, control: BySeed) -> str:
    """Set Learn-alpha's saving over Static-expert on shifting traffic beside that on stationary traffic."""
    shifting, stationary = (
        confidence_interval(
            100 * (1 - each.values(LEARN_ALPHA, "energy_j") / each.values("Static-expert", "energy_j"))
        )
        for each in (found, control)
    )
    more = "more" if shifting.low > stationary.high else "not more"
    return (
        f"Learn-alpha's saving over Static-expert is {shifting:.1f} % of its energy on the shifting traffic"
        f" and {stationary:.1f} % on the stationary traffic: {more} where regimes switch."
    )


def leaders(found: BySeed, gamma: str = "published") -> str:
    """Name the learner with the least loss, energy and slowdown, by their means, and the best rate."""
    names = [f"least {what}, {found.least(column, gamma)}" for what, column in _MEASURES.items()]
    rate = found.values("hindsight", "alpha", gamma).median()
    return (
        f"Of the learners, by their means: {'; '.join(names)}. The switching rate of least loss in hindsight"
        f" is {rate:.2g} (median over seeds)."
    )


def polls_to_forget() -> str:
    """Say how many empty polls give 200 ms back what one frame, held for a doze of 100 ms, cost it."""
    times_ms, loss = np.array([100.0, 200.0]), make_loss("inverse-log")
    cost, gain = (loss(poll, times_ms) for poll in (Poll(100.0, 1500, 1), Poll(100.0)))
    polls = float((cost[1] - cost[0]) / (gain[0] - gain[1]))
    return (
        "At the published gamma one frame of 1500 bytes, held for a doze of 100 ms, costs the expert of"
        f" 200 ms as many nats more than that of 100 ms as {polls:,.0f} empty polls give back."
    )


def _against_static(found: BySeed, gamma: str) -> str:
    energy, slowdown = (found.against("Static-expert", name, gamma) for name in ("energy_j", "slowdown"))
    share = 100 * energy.mean / found.mean("Static-expert", "energy_j", gamma).mean
    words = "less" if share > 0 else "more"
    return (
        f"Static-expert: Learn-alpha takes {abs(share):.1f} % {words} energy"
        f" ({format_signed(scaled(energy, -1000), 1)} mJ per page), and its slowdown differs by"
        f" {format_signed(scaled(slowdown, -1), 3)}."
    )


def _groups(found: BySeed, gamma: str) -> list[str]:
    return [
        _group(found, title, policies, gamma)
        for title, policies in (("Fixed-share", LEARNERS[2:]), ("BSD", BOUNDED))
    ]


def _group(found: BySeed, title: str, policies: tuple[str, ...], gamma: str) -> str:
    said: dict[str, list[str]] = {}
    for policy in policies:
        said.setdefault(found.verdict(policy, gamma), []).append(policy)
    verdicts = "; ".join(f"{', '.join(names)}: {what}" for what, names in said.items())
    return f"{title} against Learn-alpha: {verdicts}."


def _fixed(found: BySeed, gamma: str) -> list[str]:
    return [_best_fixed(found, what, policy, gamma) for what, policy in found.best_fixed(gamma).items()]


def _best_fixed(found: BySeed, what: str, policy: str, gamma: str) -> str:
    if not policy:
        return f"Best fixed polling time, {what}: there is none."
    energy, slowdown = (found.against(policy, name, gamma) for name in ("energy_j", "slowdown"))
    return (
        f"Best fixed polling time, {what}: {display_name(policy)}, with "
        f"{format_signed(scaled(energy, 1000), 1)} mJ per page and {format_signed(slowdown, 3)} slowdown "
        f"against Learn-alpha: {found.verdict(policy, gamma)}."
    )


def _regret(found: BySeed, gamma: str) -> str:
    ours = found.values(LEARN_ALPHA, "common", gamma)
    to_best, to_rate = (
        confidence_interval(ours - found.values("hindsight", name, gamma))
        for name in ("best_expert", "best_rate")
    )
    better = [policy for policy in LEARNERS[1:] if sign(found.against(policy, "common", gamma)) < 0]
    names = ", ".join(better) if better else "no learner with a fixed rate"
    return (
        f"Regret on the same rounds: Learn-alpha lost {format_signed(to_best, 1)} nats more than the best"
        f" expert in hindsight, and {format_signed(to_rate, 1)} more than Fixed-share at the best rate in"
        " hindsight,"
        f" which no user knows; {names} lost less than it did."
    )
