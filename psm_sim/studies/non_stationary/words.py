"""Sentences that summarise the study of non-stationary traffic; each is computed from the result rows."""

from __future__ import annotations

from psm_sim.estimates import interval
from psm_sim.studies.non_stationary.tables import Study, named, scaled, sign, signed, verdict
from psm_sim.studies.non_stationary.task import BOUNDED, LEARN_ALPHA, LEARNERS


def findings(study: Study, gamma: str = "published") -> str:
    """Return the findings, one point per rival; signs and numbers come from the rows."""
    points = [
        _against_static(study, gamma),
        *_groups(study, gamma),
        *_fixed(study, gamma),
        _regret(study, gamma),
    ]
    return "\n".join(f"* {point}" for point in points)


def gains(study: Study, control: Study) -> str:
    """Set Learn-alpha's saving over Static-expert on shifting traffic beside that on stationary traffic."""
    shifting, stationary = (
        interval(100 * (1 - each.values(LEARN_ALPHA, "energy_j") / each.values("Static-expert", "energy_j")))
        for each in (study, control)
    )
    more = shifting.low > stationary.high
    return (
        f"Learn-alpha's saving over Static-expert is {shifting:.1f} % of its energy on the shifting traffic "
        f"and {stationary:.1f} % on the stationary traffic: {'more' if more else 'not more'} where regimes "
        "switch."
    )


def most_frugal(study: Study, gamma: str = "published") -> str:
    """Name the learner of least energy."""
    means = {each: study.mean(each, "energy_j", gamma).mean for each in LEARNERS}
    return min(means, key=means.__getitem__)


def _against_static(study: Study, gamma: str) -> str:
    energy = study.against("Static-expert", "energy_j", gamma)
    share = 100 * energy.mean / study.mean("Static-expert", "energy_j", gamma).mean
    slowdown, words = study.against("Static-expert", "slowdown", gamma), ("more", "less")
    return (
        f"**Static-expert**: Learn-alpha takes {abs(share):.1f} % {words[share > 0]} energy "
        f"({signed(scaled(energy, -1000), 1)} mJ per page), and its slowdown differs by "
        f"{signed(scaled(slowdown, -1), 3)}."
    )


def _groups(study: Study, gamma: str) -> list[str]:
    points = []
    for title, policies in (("Fixed-share", LEARNERS[2:]), ("BSD", BOUNDED)):
        said: dict[str, list[str]] = {}
        for policy in policies:
            said.setdefault(verdict(study, policy, gamma), []).append(named(policy))
        points.append(
            f"**{title}** against Learn-alpha: "
            + "; ".join(f"{', '.join(names)}: {what}" for what, names in said.items())
            + "."
        )
    return points


def _fixed(study: Study, gamma: str) -> list[str]:
    points = []
    for what, policy in study.best_fixed(gamma).items():
        if not policy:
            points.append(f"**Best fixed polling time**, {what}: there is none.")
            continue
        energy, slowdown = (study.against(policy, name, gamma) for name in ("energy_j", "slowdown"))
        points.append(
            f"**Best fixed polling time**, {what}: {named(policy)}, with "
            f"{signed(scaled(energy, 1000), 1)} mJ per page and "
            f"{signed(slowdown, 3)} slowdown against Learn-alpha: {verdict(study, policy, gamma)}."
        )
    return points


def _regret(study: Study, gamma: str) -> str:
    ours = study.values(LEARN_ALPHA, "common", gamma)
    to_best, to_rate = (
        interval(ours - study.values("hindsight", name, gamma)) for name in ("best_expert", "best_rate")
    )
    better = [policy for policy in LEARNERS[1:] if sign(study.against(policy, "common", gamma)) < 0]
    names = ", ".join(better) if better else "no learner with a fixed rate"
    return (
        f"**Regret** on the same rounds: Learn-alpha lost {signed(to_best, 1)} nats more than the best "
        f"expert in hindsight, and {signed(to_rate, 1)} more than Fixed-share at the best rate in hindsight, "
        f"which no user knows; {names} lost less than it did."
    )


def leaders(study: Study, gamma: str = "published") -> str:
    """Name the learner with the least loss, energy and slowdown, by their means."""
    measures = {"loss on the same rounds": "common", "energy": "energy_j", "slowdown": "slowdown"}
    best = {}
    for what, column in measures.items():
        means = {each: study.mean(each, column, gamma).mean for each in LEARNERS}
        best[what] = min(means, key=means.__getitem__)
    return "Here: " + "; ".join(f"least {what}, {policy}" for what, policy in best.items()) + "."
