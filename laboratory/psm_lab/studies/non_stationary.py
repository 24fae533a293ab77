"""Study of Learn-alpha and other learners on shifting and stationary traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

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
from psm_lab.studies.published_claims import Words, judge
from psm_lab.studies.study import Findings, Scale, Table, join_paragraphs
from psm_lab.studies.tasks import Rows, Task, comparison_task
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.losses import Poll, make_loss
from psm_sim.simulation import Scenario

CONTROL = "ucb"
REGIMES = ("quiet", "busy", "stream", "push")
REPLICATIONS, UPLINK_SEEDS, CHOOSING = 10, 5, 3
PUBLISHED, MILD = gamma_label(None), 1e-5
REGIMES_SHOWN = (LEARN_ALPHA, "Static-expert", "Fixed-share 0.01", "bsd:p=0.5", FIXED[0], FIXED[1])
PLOTTED_RATES = (None, 0.0, 0.1)
GAMMA_POLICIES = {
    f"lpsm:loss=inverse-log,gamma={gamma:g}": gamma_label(gamma) for gamma in (1e-3, 1e-4, 1e-5, 1e-6)
}
"""Policies among which gamma is chosen, on other seeds."""

UPLINK_POLICIES = {f"lpsm:uplink={uplink}": uplink for uplink in ("one", "restart", "keep")}
"""Policies by their choice after an uplink packet. The first one is LPSM's default, as in all other runs."""

OPTIMA = {
    "best switching rate, chosen offline": "best_rate",
    "best sequence with the true number of switches": "best_switching",
    "best expert of each round": "each_round",
}
"""Offline optima, which are rows of the table of regret that no learner can reach, with their columns."""

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

COMMENTARY = join_paragraphs(
    """
    The thesis proposes (section 2.5.5) to compare Learn-alpha with other learners in non-stationary
    simulations. The traffic of this study repeats four regimes twice. They are quiet reading, busy browsing,
    a live stream and pushed messages. No policy knows the schedule.

    A negative regret to the best expert means that switching reduced the loss. The learner lost less than any
    fixed polling time would have lost in the same rounds. Regrets over the learners' own rounds are not
    comparable, because each learner determines its own rounds.

    Browsing is bursty in every regime. Pages and pauses alternate far more often than the regimes do, and a
    learner without switches cannot follow them either.

    The loss counts the time that a byte waits and the number of polls. The slowdown of a page depends on the
    round trips that wait one after the other, and the energy also depends on the page time. The best learner
    by one measure is therefore not always the best by another measure.
    """
)

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
"""Verdict on a policy, by those on its energy and its slowdown."""


class SeedRows:
    """Rows of all seeds on one trace with one gamma of the learners' loss, one per seed and policy.

    *rows* have the columns ``seed``, ``policy``, ``energy_j`` and ``slowdown``, and may have others. Rows
    with another *gamma* do not count. The policies are compared with the policy *reference*.
    """

    def __init__(self, rows: pd.DataFrame, gamma: str = PUBLISHED, reference: str = LEARN_ALPHA) -> None:
        self.rows = rows[rows["gamma"].isin(["", gamma])] if "gamma" in rows else rows
        self.rows = self.rows.assign(energy_mj=1000 * self.rows["energy_j"])
        self.reference = reference

    def values(self, policy: str, column: str) -> pd.Series[float]:
        """Return *column* of *policy* as one value per seed."""
        rows = self.rows[self.rows["policy"] == policy]
        return rows.set_index("seed")[column].sort_index().astype(float)

    def mean(self, policy: str, column: str) -> Interval:
        """Return the mean of *column* over seeds with its confidence interval."""
        return confidence_interval(self.values(policy, column))

    def difference(self, policy: str, column: str) -> Interval:
        """Return the paired difference of *policy* to the reference."""
        return confidence_interval(self.values(policy, column) - self.values(self.reference, column))

    def verdict(self, policy: str) -> str:
        """Return the verdict on *policy* compared with the reference; lower is better."""
        margins = {
            "energy_j": ENERGY_MARGIN * self.mean(self.reference, "energy_j").mean,
            "slowdown": SLOWDOWN_MARGIN,
        }
        words = Words("better", "equivalent", "worse")
        energy, slowdown = (
            judge(self.difference(policy, column), -margin, margin, words)
            for column, margin in margins.items()
        )
        undecided = f"undecided (energy {energy}, slowdown {slowdown})"
        return _VERDICTS.get((energy, slowdown), undecided)

    def best_learner(self, column: str) -> str:
        """Return the learner with the lowest mean of *column*."""
        return min(LEARNERS, key=lambda learner: self.mean(learner, column).mean)

    def best_fixed(self) -> dict[str, str]:
        """Return the best fixed polling times by criterion, chosen offline; an empty string if none fits."""
        means = {
            column: {policy: self.mean(policy, column).mean for policy in (*FIXED, LEARN_ALPHA)}
            for column in ("energy_j", "slowdown")
        }
        energy, slowdown = means["energy_j"], means["slowdown"]
        as_fast = [policy for policy in FIXED if slowdown[policy] <= slowdown[LEARN_ALPHA]]
        as_frugal = [policy for policy in FIXED if energy[policy] <= energy[LEARN_ALPHA]]
        return {
            "minimum energy": min(FIXED, key=energy.__getitem__),
            "minimum energy at no more slowdown than Learn-alpha": min(
                as_fast, key=energy.__getitem__, default=""
            ),
            "minimum slowdown at no more energy than Learn-alpha": min(
                as_frugal, key=slowdown.__getitem__, default=""
            ),
        }


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return runs on each trace and seed, the runs for the choices, and the plotted runs."""
    (trace, pages, control_pages), seeds = _sizes(scale), _seeds(scale, seed)
    others = 1 + len(FIXED) + len(BOUNDED)
    found: list[Task] = []
    for number in seeds:
        for name, count, gammas in ((trace, pages, (None, MILD)), (CONTROL, control_pages, (None,))):
            arguments = {"trace": name, "pages": count, "seed": number, "gammas": gammas}
            weight = count * (others + len(gammas) * len(LEARNERS))
            found.append(Task("policies", run_policies, arguments, weight))
    for part, policies, numbers in (
        ("gamma", GAMMA_POLICIES, scale.choosing(CHOOSING)),
        ("uplink", UPLINK_POLICIES, seeds[:UPLINK_SEEDS]),
    ):
        for number in numbers:
            scenario = Scenario(trace, pages=pages, seed=number)
            found.append(comparison_task(list(policies), scenario, {"part": part}))
    plotted = Scenario(trace, pages=pages // 2, seed=seed)
    for alpha in PLOTTED_RATES:
        arguments = {"alpha": alpha, "scenario": plotted}
        found.append(Task("timeline", polling_times, arguments, plotted.pages))
    return found


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return means, regret and verdicts."""
    (trace, pages, control_pages), seeds = _sizes(scale), _seeds(scale, seed)
    policies, choices = pd.DataFrame(rows.of("policies")), pd.DataFrame(rows.of("run"))
    shifting, control = (policies[policies["trace"] == name] for name in (trace, CONTROL))
    by_gamma = {gamma: SeedRows(shifting, gamma) for gamma in (PUBLISHED, gamma_label(MILD))}
    published, mild = by_gamma.values()
    stationary = SeedRows(control)
    gammas = choices[choices["part"] == "gamma"]
    uplinks = SeedRows(choices[choices["part"] == "uplink"], reference=next(iter(UPLINK_POLICIES)))
    remarks = {
        "Published gamma": [*comparisons(published), leaders(published)],
        f"Gamma {MILD:g}": [*comparisons(mild), leaders(mild)],
        "Stationary control": [*comparisons(stationary), gains(published, stationary)],
    }
    return Findings(
        "non-stationary",
        "Gain of Learn-alpha on non-stationary traffic (thesis, section 2.5.5)",
        f"trace {trace}, {pages} pages, and as a stationary control {control_pages} pages of {CONTROL};"
        f" {len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}; after an uplink packet LPSM dozes"
        f" for {UPLINK_POLICIES[uplinks.reference]} beacon; differences are paired; {RULE}",
        remarks=[
            _gamma_remark(gammas),
            *(f"{part}. {text}" for part, texts in remarks.items() for text in texts),
            polls_to_forget(),
        ],
        commentary=COMMENTARY,
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
    """Return the trace, its number of pages for two rounds of all four regimes, and that of the control."""
    return ("shifting:length=0.5", 314, 60) if scale.full else ("shifting:length=0.05", 32, 15)


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: REPLICATIONS if scale.full else scale.replications]


def _signed(value: Interval, digits: int) -> str:
    """Return a difference as text with its sign and interval, rounded to *digits* decimals."""
    return f"{value.mean:+.{digits}f} ± {value.half_width:.{digits}f}"


def _display_name(policy: str) -> str:
    """Return a policy's name for a table, with the length in ms for a fixed polling time."""
    beacons = policy.partition("listen_interval=")[2]
    return f"{policy} ({beacons}00 ms)" if beacons else policy


def comparisons(rows: SeedRows) -> list[str]:
    """Return one remark for each kind of policy compared with Learn-alpha, and one on regret."""
    energy, slowdown = (rows.difference("Static-expert", name) for name in ("energy_mj", "slowdown"))
    share = 100 * energy.mean / rows.mean("Static-expert", "energy_mj").mean
    energy, slowdown = (value._replace(mean=-value.mean) for value in (energy, slowdown))
    relation = "less" if share > 0 else "more"
    remarks = [
        (
            f"Compared with Static-expert, Learn-alpha takes {abs(share):.1f} % {relation} energy"
            f" ({_signed(energy, 1)} mJ per page), and its slowdown differs by {_signed(slowdown, 3)}."
        )
    ]
    for title, policies in (("Fixed-share", LEARNERS[2:]), ("BSD", BOUNDED)):
        by_verdict: dict[str, list[str]] = {}
        for policy in policies:
            by_verdict.setdefault(rows.verdict(policy), []).append(policy)
        verdicts = "; ".join(f"{', '.join(names)}: {verdict}" for verdict, names in by_verdict.items())
        remarks.append(f"{title} compared with Learn-alpha: {verdicts}.")
    for criterion, policy in rows.best_fixed().items():
        text = "there is none"
        if policy:
            energy, slowdown = (rows.difference(policy, name) for name in ("energy_mj", "slowdown"))
            text = (
                f"{_display_name(policy)}. Compared with Learn-alpha it is {rows.verdict(policy)}"
                f" ({_signed(energy, 1)} mJ per page, {_signed(slowdown, 3)} slowdown)"
            )
        remarks.append(f"Best fixed polling time, {criterion}: {text}.")
    losses = rows.values(LEARN_ALPHA, "common")
    to_best, to_rate = (
        confidence_interval(losses - rows.values(HINDSIGHT, name)) for name in ("best_expert", "best_rate")
    )
    better = [policy for policy in LEARNERS[1:] if rows.difference(policy, "common").high < 0]
    remarks.append(
        f"Regret of Learn-alpha on the same rounds: {_signed(to_best, 1)} nats to the best expert, and"
        f" {_signed(to_rate, 1)} nats to Fixed-share at the best rate. Both are chosen offline, so no user"
        f" knows them. Learners with a lower loss: {', '.join(better) or 'no learner with a fixed rate'}."
    )
    return remarks


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


def leaders(rows: SeedRows) -> str:
    """Return a remark on the learners with the lowest mean loss, energy and slowdown, and the best rate."""
    measures = {"loss on the same rounds": "common", "energy": "energy_j", "slowdown": "slowdown"}
    names = [f"{measure}: {rows.best_learner(column)}" for measure, column in measures.items()]
    return (
        f"Learners with the lowest means: {'; '.join(names)}. The switching rate with the minimum loss,"
        f" chosen offline, is {rows.values(HINDSIGHT, 'alpha').median():.2g} (median over seeds)."
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


def _gamma_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return energy, slowdown and their product under each candidate gamma."""
    lines = []
    for policy, group in runs.groupby("policy", sort=False):
        energy, slowdown = (confidence_interval(group[name]) for name in ("energy_j", "slowdown"))
        lines.append(
            {
                "gamma": GAMMA_POLICIES[str(policy)],
                "mJ per page": f"{confidence_interval(1000 * group['energy_j']):.1f}",
                "slowdown": f"{slowdown:.3f}",
                "J x slowdown": f"{energy.mean * slowdown.mean:.4f}",
            }
        )
    return pd.DataFrame(lines)


def _gamma_remark(runs: pd.DataFrame) -> str:
    products = runs.groupby("policy")[["energy_j", "slowdown"]].mean().prod(axis="columns")
    gamma = GAMMA_POLICIES[str(products.idxmin())]
    relation = "It is" if gamma == gamma_label(MILD) else "It is not"
    return (
        f"On the seeds for choosing, gamma {gamma} has the lowest product of energy and slowdown."
        f" {relation} the milder gamma {MILD:g} of the tables, which contrasts with the published gamma and"
        " is run with other seeds."
    )


def _uplink_table(rows: SeedRows) -> pd.DataFrame:
    """Return energy and slowdown under each choice, and the verdict compared with the default."""
    lines, compared = [], f"compared with {UPLINK_POLICIES[rows.reference]}"
    for policy, uplink in UPLINK_POLICIES.items():
        is_default = policy == rows.reference
        difference = "" if is_default else _signed(rows.difference(policy, "slowdown"), 3)
        lines.append(
            {
                "after an uplink packet": uplink,
                "mJ per page": f"{rows.mean(policy, 'energy_mj'):.1f}",
                "slowdown": f"{rows.mean(policy, 'slowdown'):.3f}",
                "slowdown, difference": difference,
                compared: "" if is_default else rows.verdict(policy),
            }
        )
    return pd.DataFrame(lines)


def energy_and_slowdown(rows: SeedRows, policies: Sequence[str]) -> pd.DataFrame:
    """Return energy and slowdown, with paired differences to Learn-alpha and the verdict, by policy."""
    lines = []
    for policy in policies:
        energy, slowdown = (rows.difference(policy, name) for name in ("energy_mj", "slowdown"))
        compared = {
            "mJ per page, difference to Learn-alpha": _signed(energy, 1),
            "slowdown, difference": _signed(slowdown, 3),
            "compared with Learn-alpha": rows.verdict(policy),
        }
        lines.append(
            {
                "policy": _display_name(policy),
                "mJ per page": f"{rows.mean(policy, 'energy_mj'):.1f}",
                "slowdown": f"{rows.mean(policy, 'slowdown'):.3f}",
                "delay per page, ms": f"{rows.mean(policy, 'delay_ms'):.0f}",
                **(dict.fromkeys(compared, "") if policy == LEARN_ALPHA else compared),
            }
        )
    return pd.DataFrame(lines)


def _by_regime(rows: SeedRows) -> pd.DataFrame:
    """Return power and delay in each regime, one line per policy."""
    lines = []
    for policy in REGIMES_SHOWN:
        power = {f"{name}, mW": f"{rows.mean(policy, f'power_mw, {name}'):.1f}" for name in REGIMES}
        delay = {f"{name}, ms": f"{rows.mean(policy, f'delay_ms, {name}'):.0f}" for name in REGIMES}
        lines.append({"policy": _display_name(policy), **power, **delay})
    return pd.DataFrame(lines)


def _common_regret(by_gamma: Mapping[str, SeedRows]) -> pd.DataFrame:
    """Return the regret of each learner and optimum in the rounds of Learn-alpha's run, in nats per run."""
    keys = {policy: (policy, "common") for policy in LEARNERS}
    keys |= {name: (HINDSIGHT, column) for name, column in OPTIMA.items()}
    lines = []
    for name, key in keys.items():
        line = {"learner": name}
        for gamma, rows in by_gamma.items():
            losses, best = rows.values(*key), rows.values(HINDSIGHT, "best_expert")
            difference = confidence_interval(losses - rows.values(LEARN_ALPHA, "common"))
            line[f"regret to the best expert, gamma {gamma}"] = _signed(confidence_interval(losses - best), 1)
            line[f"difference to Learn-alpha, gamma {gamma}"] = (
                "" if name == LEARN_ALPHA else _signed(difference, 1)
            )
        lines.append(line)
    return pd.DataFrame(lines)


def _own_regret(by_gamma: Mapping[str, SeedRows]) -> pd.DataFrame:
    """Return each learner's regret over the rounds of its own run, in nats per run."""
    columns = {
        "rounds": "rounds",
        "own_regret": "regret to the best expert",
        "own_switching_regret": "regret to the true number of switches",
    }
    return pd.DataFrame(
        {"learner": policy}
        | {
            f"{label}, gamma {gamma}": f"{rows.mean(policy, column):.0f}"
            for gamma, rows in by_gamma.items()
            for column, label in columns.items()
        }
        for policy in LEARNERS
    )


def _energy_against_slowdown(rows: SeedRows) -> pd.DataFrame:
    """Return energy and slowdown with half widths, one row per plotted policy."""
    points = []
    for group, policies in GROUPS.items():
        for policy in policies:
            point: dict[str, str | float] = {"group": group, "policy": policy}
            for column in ("slowdown", "energy_mj"):
                mean = rows.mean(policy, column)
                point |= {column: mean.mean, f"{column}_ci95": mean.half_width}
            points.append(point)
    return pd.DataFrame(points)


def _loss_of_each_rate(by_gamma: Mapping[str, SeedRows]) -> pd.DataFrame:
    """Return the regret of Fixed-share at each rate, and of Learn-alpha, in nats, with half widths."""
    curves = []
    for gamma, rows in by_gamma.items():
        regrets = rows.rows.loc[rows.rows["policy"] == HINDSIGHT, "curve"]
        fixed = [confidence_interval(values) for values in np.array(regrets.tolist()).T]
        best = rows.values(HINDSIGHT, "best_expert")
        learn_alpha = confidence_interval(rows.values(LEARN_ALPHA, "common") - best)
        curve = {
            "gamma": gamma,
            "alpha": CURVE,
            "fixed_share": [regret.mean for regret in fixed],
            "fixed_share_ci95": [regret.half_width for regret in fixed],
            "learn_alpha": learn_alpha.mean,
            "learn_alpha_ci95": learn_alpha.half_width,
        }
        curves.append(pd.DataFrame(curve))
    return pd.concat(curves, ignore_index=True)
