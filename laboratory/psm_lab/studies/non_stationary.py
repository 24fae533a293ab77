"""Study of Learn-alpha and other learners on shifting and stationary traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_lab.studies.learner_runs import (
    BOUNDED,
    CURVE,
    FIXED,
    HINDSIGHT,
    LEARN_ALPHA,
    LEARNERS,
    gamma_label,
    polling_times,
    run_policies,
)
from psm_lab.studies.published_claims import Words, judge, study_texts
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task, comparison_task
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.losses import Poll, make_loss
from psm_sim.simulation import Scenario

CONTROL = "ucb"
REGIMES = ("quiet", "busy", "stream", "push")
# Numbers of seeds: for the results, for the results with uplink messages, and for the choice of gamma.
REPLICATIONS, UPLINK_SEEDS, GAMMA_SEEDS = 10, 5, 3
PUBLISHED_GAMMA, MILD = gamma_label(None), 1e-5  # gammas: the published one, and one of GAMMA_POLICIES
# Rows of the table of regimes, a selection of the policies in the table of results.
REGIMES_SHOWN = (LEARN_ALPHA, "Static-expert", "Fixed-share 0.01", "bsd:p=0.5", FIXED[0], FIXED[1])
PLOTTED_RATES = (None, 0.0, 0.1)  # alpha: learnt, 0, and fixed at 0.1
GAMMA_POLICIES = {
    f"lpsm:loss=inverse-log,gamma={gamma:g}": gamma_label(gamma) for gamma in (1e-3, 1e-4, 1e-5, 1e-6)
}
"""Policies among which gamma is chosen, on other seeds."""

UPLINK_POLICIES = {f"lpsm:uplink={uplink}": uplink for uplink in ("one", "restart", "keep")}
"""Policies by their choice after an uplink packet."""

UPLINK_DEFAULT = "lpsm:uplink=one"
"""Default of LPSM, as in all other runs."""

OPTIMA = {
    "best switching rate, chosen offline": "best_rate",
    "best sequence with the true number of switches": "best_switching",
    "best expert of each round": "each_round",
}
"""Offline optima, which no learner can reach, as rows of the table of regret, with their columns."""

GROUPS = {
    "fixed polling time, 100 to 600 ms": FIXED[:6],
    "BSD": BOUNDED,
    "Fixed-share (alpha = 0: Static-expert)": LEARNERS[1:],
    LEARN_ALPHA: (LEARN_ALPHA,),
}
"""Plotted policies, by the name of their line."""

ENERGY_MARGIN = 0.01
"""Largest difference in energy that counts as equivalent, as a share of the reference's energy."""

SLOWDOWN_MARGIN = 0.02
"""Largest difference in slowdown that counts as equivalent."""

RULE = (
    f"a difference of at most {100 * ENERGY_MARGIN:g} % of Learn-alpha's energy, or {SLOWDOWN_MARGIN:g} in"
    " slowdown, counts as none: equivalent if the 95 % interval lies within the margin, better or worse if it"
    " lies beyond, undecided if it holds the margin's edge"
)
"""Rule of the verdicts, fixed before the runs."""


_VERDICTS = {
    ("better", "better"): "better in both",
    ("worse", "worse"): "worse in both",
    ("equivalent", "equivalent"): "equivalent",
    ("worse", "better"): "faster, at more energy",
    ("better", "worse"): "frugal, but slower",
    ("better", "equivalent"): "better in energy",
    ("equivalent", "better"): "better in slowdown",
    ("worse", "equivalent"): "worse in energy",
    ("equivalent", "worse"): "worse in slowdown",
}
"""Verdict on a policy, by the verdicts on its energy and its slowdown."""


Runs = dict[str, pd.DataFrame]
"""Values by quantity, in frames with a row per seed and a column per policy."""


def by_seed(rows: pd.DataFrame, gamma: str = PUBLISHED_GAMMA) -> Runs:
    """Return the values of each quantity on one trace.

    Parameters
    ----------
    rows : DataFrame
        Rows with ``seed``, ``policy``, ``energy_j`` and further quantities.
    gamma : str
        Gamma of the learners' loss. Rows with another gamma do not count.
    """
    if "gamma" in rows:
        rows = rows[rows["gamma"].isin(["", gamma])]
    rows = rows.assign(energy_mj=1000 * rows["energy_j"])
    quantities = rows.columns.difference(["seed", "policy"])
    return {name: rows.pivot(index="seed", columns="policy", values=name) for name in quantities}


def difference(runs: Runs, policy: str, quantity: str, reference: str = LEARN_ALPHA) -> Interval:
    """Return the difference of a quantity between *policy* and *reference*, paired by seed."""
    return confidence_interval(runs[quantity][policy] - runs[quantity][reference])


def verdict(runs: Runs, policy: str, reference: str = LEARN_ALPHA) -> str:
    """Return the verdict on *policy* compared with *reference*; lower is better."""
    margins = {"energy_j": ENERGY_MARGIN * runs["energy_j"][reference].mean(), "slowdown": SLOWDOWN_MARGIN}
    words = Words("better", "equivalent", "worse")
    energy, slowdown = (
        judge(difference(runs, policy, quantity, reference), -margin, margin, words)
        for quantity, margin in margins.items()
    )
    return _VERDICTS.get((energy, slowdown), f"undecided (energy {energy}, slowdown {slowdown})")


def best_learner(runs: Runs, quantity: str) -> str:
    """Return the learner with the lowest mean of a quantity."""
    return str(runs[quantity][[*LEARNERS]].mean().idxmin())


def best_fixed(runs: Runs) -> dict[str, str]:
    """Return the best fixed polling time by each criterion, chosen offline; empty if none satisfies it."""
    energy, slowdown = (runs[quantity].mean() for quantity in ("energy_j", "slowdown"))
    as_fast = [policy for policy in FIXED if slowdown[policy] <= slowdown[LEARN_ALPHA]]
    as_frugal = [policy for policy in FIXED if energy[policy] <= energy[LEARN_ALPHA]]
    candidates = {
        "minimum energy": energy[[*FIXED]],
        "minimum energy at no more slowdown than Learn-alpha": energy[as_fast],
        "minimum slowdown at no more energy than Learn-alpha": slowdown[as_frugal],
    }
    return {name: "" if means.empty else str(means.idxmin()) for name, means in candidates.items()}


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return runs on each trace and seed, the runs for the choices, and the plotted runs."""
    (trace, pages, control_pages), seeds = _sizes(scale), _seeds(scale, seed)
    others = 1 + len(FIXED) + len(BOUNDED)
    all_tasks: list[Task] = []
    for number in seeds:
        for name, count, gammas in ((trace, pages, (None, MILD)), (CONTROL, control_pages, (None,))):
            arguments = {"trace": name, "pages": count, "seed": number, "gammas": gammas}
            weight = count * (others + len(gammas) * len(LEARNERS))
            all_tasks.append(Task("policies", run_policies, arguments, weight))
    for part, policies, numbers in (
        ("gamma", GAMMA_POLICIES, scale.choosing(GAMMA_SEEDS)),
        ("uplink", UPLINK_POLICIES, seeds[:UPLINK_SEEDS]),
    ):
        for number in numbers:
            scenario = Scenario(trace, pages=pages, seed=number)
            all_tasks.append(comparison_task(list(policies), scenario, {"part": part}))
    plotted = Scenario(trace, pages=pages // 2, seed=seed)
    for alpha in PLOTTED_RATES:
        arguments = {"alpha": alpha, "scenario": plotted}
        all_tasks.append(Task("timeline", polling_times, arguments, plotted.pages))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return means, regret and verdicts."""
    (trace, pages, control_pages), seeds = _sizes(scale), _seeds(scale, seed)
    policies, choices = pd.DataFrame(rows.of("policies")), pd.DataFrame(rows.of("run"))
    shifting, control = (policies[policies["trace"] == name] for name in (trace, CONTROL))
    by_gamma = {gamma: by_seed(shifting, gamma) for gamma in (PUBLISHED_GAMMA, gamma_label(MILD))}
    published, mild = by_gamma.values()
    stationary = by_seed(control)
    gammas, uplinks = (by_seed(choices[choices["part"] == part]) for part in ("gamma", "uplink"))
    remarks = {
        "Published gamma": [*comparisons(published), leaders(published)],
        f"Gamma {MILD:g}": [*comparisons(mild), leaders(mild)],
        "Stationary control": [*comparisons(stationary), gains(published, stationary)],
    }
    return Findings(
        **study_texts("non-stationary"),
        setting=f"trace {trace}, {pages} pages, and as a stationary control {control_pages} pages of"
        f" {CONTROL}; {len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}; after an uplink packet LPSM"
        f" dozes for {UPLINK_POLICIES[UPLINK_DEFAULT]} beacon; differences are paired; {RULE}",
        remarks=[
            _gamma_remark(gammas),
            *(f"{part}. {text}" for part, texts in remarks.items() for text in texts),
            polls_to_forget(),
        ],
        tables=[
            Table(
                "Energy and slowdown, published gamma",
                energy_and_slowdown(published, (*LEARNERS, *BOUNDED, *FIXED)),
            ),
            Table(f"LPSM with gamma = {MILD:g}", energy_and_slowdown(mild, LEARNERS)),
            Table("Power and delay per page in each regime", _by_regime(published)),
            Table(
                "Regret in nats, every learner over the rounds of Learn-alpha's own run",
                _common_regret(by_gamma),
            ),
            Table("Regret of each learner over its own rounds, in nats", _own_regret(by_gamma)),
            Table(
                "Energy and slowdown on stationary traffic, published gamma",
                energy_and_slowdown(stationary, (*LEARNERS, *BOUNDED, *FIXED[:4])),
            ),
            Table("Choice of gamma, on the seeds for choosing", _gamma_table(gammas)),
            Table("Learn-alpha by its choice after an uplink packet", _uplink_table(uplinks)),
        ],
        provisional=not scale.full,
        figures={
            "trade-off": _energy_against_slowdown(published),
            "regret": _loss_of_each_rate(by_gamma),
            "polling": pd.DataFrame(rows.of("timeline")),
        },
    )


def _sizes(scale: Scale) -> tuple[str, int, int]:
    """Return the trace, its pages for two rounds of the four regimes, and the pages of the control."""
    return ("shifting:length=0.5", 314, 60) if scale.full else ("shifting:length=0.02", 16, 8)


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: REPLICATIONS if scale.full else scale.replications]


def _signed(value: Interval, digits: int) -> str:
    """Return a difference as text with its sign and interval, rounded to *digits* decimals."""
    return f"{value.mean:+.{digits}f} ± {value.half_width:.{digits}f}"


def _display_name(policy: str) -> str:
    """Return a policy's name for a table, with the length in ms for a fixed polling time."""
    beacons = policy.partition("listen_interval=")[2]
    return f"{policy} ({beacons}00 ms)" if beacons else policy


def comparisons(runs: Runs) -> list[str]:
    """Return one remark for each kind of policy compared with Learn-alpha, and one on regret."""
    energy, slowdown = (
        difference(runs, LEARN_ALPHA, name, "Static-expert") for name in ("energy_mj", "slowdown")
    )
    share = 100 * energy.mean / runs["energy_mj"]["Static-expert"].mean()
    remarks = [
        (
            f"Compared with Static-expert, Learn-alpha takes {abs(share):.1f} %"
            f" {'less' if share < 0 else 'more'} energy ({_signed(energy, 1)} mJ per page), and its slowdown"
            f" differs by {_signed(slowdown, 3)}."
        )
    ]
    for title, policies in (("Fixed-share", LEARNERS[2:]), ("BSD", BOUNDED)):
        by_verdict: dict[str, list[str]] = {}
        for policy in policies:
            by_verdict.setdefault(verdict(runs, policy), []).append(policy)
        verdicts = "; ".join(f"{', '.join(names)}: {text}" for text, names in by_verdict.items())
        remarks.append(f"{title} compared with Learn-alpha: {verdicts}.")
    for criterion, policy in best_fixed(runs).items():
        text = "there is none"
        if policy:
            text = (
                f"{_display_name(policy)}. Compared with Learn-alpha it is {verdict(runs, policy)}"
                f" ({_signed(difference(runs, policy, 'energy_mj'), 1)} mJ per page,"
                f" {_signed(difference(runs, policy, 'slowdown'), 3)} slowdown)"
            )
        remarks.append(f"Best fixed polling time, {criterion}: {text}.")
    losses = runs["common"]
    to_best, to_rate = (
        confidence_interval(losses[LEARN_ALPHA] - runs[name][HINDSIGHT])
        for name in ("best_expert", "best_rate")
    )
    better = [policy for policy in LEARNERS[1:] if difference(runs, policy, "common").high < 0]
    remarks.append(
        f"Regret of Learn-alpha on the same rounds: {_signed(to_best, 1)} nats to the best expert, and"
        f" {_signed(to_rate, 1)} nats to Fixed-share at the best rate. Both are chosen offline, so no user"
        f" knows them. Learners with a lower loss: {', '.join(better) or 'no learner with a fixed rate'}."
    )
    return remarks


def gains(runs: Runs, control: Runs) -> str:
    """Compare Learn-alpha's saving over Static-expert on the shifting *runs* with that on the *control*."""
    shifting, stationary = (
        confidence_interval(100 * (1 - energy[LEARN_ALPHA] / energy["Static-expert"]))
        for energy in (runs["energy_j"], control["energy_j"])
    )
    relation = "larger" if shifting.low > stationary.high else "not larger"
    return (
        f"Learn-alpha's saving over Static-expert is {shifting:.1f} % of its energy on the shifting traffic"
        f" and {stationary:.1f} % on the stationary traffic. The saving is {relation} if regimes switch."
    )


def leaders(runs: Runs) -> str:
    """Return a remark on the learners with the lowest mean loss, energy and slowdown, and the best rate."""
    measures = {"loss on the same rounds": "common", "energy": "energy_j", "slowdown": "slowdown"}
    names = [f"{measure}: {best_learner(runs, quantity)}" for measure, quantity in measures.items()]
    return (
        f"Learners with the lowest means: {'; '.join(names)}. The switching rate with the minimum loss,"
        f" chosen offline, is {runs['alpha'][HINDSIGHT].median():.2g} (median over seeds)."
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


def _means(runs: Runs, policy: str) -> dict[str, str]:
    """Return the cells with the mean energy and slowdown of a policy."""
    return {
        "mJ per page": f"{confidence_interval(runs['energy_mj'][policy]):.1f}",
        "slowdown": f"{confidence_interval(runs['slowdown'][policy]):.3f}",
    }


def _gamma_products(runs: Runs) -> pd.Series[float]:
    """Return the product of mean energy and mean slowdown of each policy."""
    return runs["energy_j"].mean() * runs["slowdown"].mean()


def _gamma_table(runs: Runs) -> pd.DataFrame:
    products = _gamma_products(runs)
    return pd.DataFrame(
        {"gamma": gamma, **_means(runs, policy), "J x slowdown": f"{products[policy]:.4f}"}
        for policy, gamma in GAMMA_POLICIES.items()
    )


def _gamma_remark(runs: Runs) -> str:
    gamma = GAMMA_POLICIES[str(_gamma_products(runs).idxmin())]
    relation = "It is" if gamma == gamma_label(MILD) else "It is not"
    return (
        f"On the seeds for choosing, gamma {gamma} has the lowest product of energy and slowdown."
        f" {relation} the milder gamma {MILD:g} of the tables, which contrasts with the published gamma and"
        " is run with other seeds."
    )


def _uplink_table(runs: Runs) -> pd.DataFrame:
    """Return energy and slowdown under each choice, and the verdict compared with the default."""
    table = pd.DataFrame(
        {
            "after an uplink packet": uplink,
            **_means(runs, policy),
            "slowdown, difference": _signed(difference(runs, policy, "slowdown", UPLINK_DEFAULT), 3),
            f"compared with {UPLINK_POLICIES[UPLINK_DEFAULT]}": verdict(runs, policy, UPLINK_DEFAULT),
        }
        for policy, uplink in UPLINK_POLICIES.items()
    )
    table.iloc[0, 3:] = ""
    return table


def energy_and_slowdown(runs: Runs, policies: Sequence[str]) -> pd.DataFrame:
    """Return energy and slowdown, with paired differences to Learn-alpha and the verdict, by policy."""
    table = pd.DataFrame(
        {
            "policy": _display_name(policy),
            **_means(runs, policy),
            "delay per page, ms": f"{confidence_interval(runs['delay_ms'][policy]):.0f}",
            "mJ per page, difference to Learn-alpha": _signed(difference(runs, policy, "energy_mj"), 1),
            "slowdown, difference": _signed(difference(runs, policy, "slowdown"), 3),
            "compared with Learn-alpha": verdict(runs, policy),
        }
        for policy in policies
    )
    table.loc[table["policy"] == LEARN_ALPHA, table.columns[4:]] = ""
    return table


def _by_regime(runs: Runs) -> pd.DataFrame:
    """Return power and delay in each regime, one line per policy."""
    columns = [(f"{name}, mW", f"power_mw, {name}", 1) for name in REGIMES]
    columns += [(f"{name}, ms", f"delay_ms, {name}", 0) for name in REGIMES]
    return pd.DataFrame(
        {"policy": _display_name(policy)}
        | {
            heading: f"{confidence_interval(runs[quantity][policy]):.{digits}f}"
            for heading, quantity, digits in columns
        }
        for policy in REGIMES_SHOWN
    )


def _common_regret(by_gamma: Mapping[str, Runs]) -> pd.DataFrame:
    """Return the regret of each learner and optimum in the rounds of Learn-alpha's run, in nats per run."""
    keys = {policy: ("common", policy) for policy in LEARNERS}
    keys |= {name: (quantity, HINDSIGHT) for name, quantity in OPTIMA.items()}
    columns = {
        "regret to the best expert": ("best_expert", HINDSIGHT),
        "difference to Learn-alpha": ("common", LEARN_ALPHA),
    }
    table = pd.DataFrame(
        {"learner": name}
        | {
            f"{heading}, gamma {gamma}": _signed(
                confidence_interval(runs[quantity][policy] - runs[other][to]), 1
            )
            for gamma, runs in by_gamma.items()
            for heading, (other, to) in columns.items()
        }
        for name, (quantity, policy) in keys.items()
    )
    table.iloc[0, 2::2] = ""  # Learn-alpha compared with itself
    return table


def _own_regret(by_gamma: Mapping[str, Runs]) -> pd.DataFrame:
    """Return each learner's regret over the rounds of its own run, in nats per run."""
    columns = {
        "rounds": "rounds",
        "own_regret": "regret to the best expert",
        "own_switching_regret": "regret to the true number of switches",
    }
    return pd.DataFrame(
        {"learner": policy}
        | {
            f"{label}, gamma {gamma}": f"{confidence_interval(runs[quantity][policy]):.0f}"
            for gamma, runs in by_gamma.items()
            for quantity, label in columns.items()
        }
        for policy in LEARNERS
    )


def _with_half_width(name: str, values: ArrayLike) -> dict[str, float]:
    interval = confidence_interval(values)
    return {name: interval.mean, f"{name}_ci95": interval.half_width}


def _energy_against_slowdown(runs: Runs) -> pd.DataFrame:
    """Return energy and slowdown with half widths, one row per plotted policy."""
    return pd.DataFrame(
        {
            "group": group,
            "policy": policy,
            **_with_half_width("slowdown", runs["slowdown"][policy]),
            **_with_half_width("energy_mj", runs["energy_mj"][policy]),
        }
        for group, policies in GROUPS.items()
        for policy in policies
    )


def _loss_of_each_rate(by_gamma: Mapping[str, Runs]) -> pd.DataFrame:
    """Return the regret of Fixed-share at each rate, and of Learn-alpha, in nats, with half widths."""
    return pd.DataFrame(
        {
            "gamma": gamma,
            "alpha": alpha,
            **_with_half_width("fixed_share", [curve[index] for curve in runs["curve"][HINDSIGHT]]),
            **_with_half_width("learn_alpha", runs["common"][LEARN_ALPHA] - runs["best_expert"][HINDSIGHT]),
        }
        for gamma, runs in by_gamma.items()
        for index, alpha in enumerate(CURVE)
    )
