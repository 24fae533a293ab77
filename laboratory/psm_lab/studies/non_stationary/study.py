"""Study of Learn-alpha and other learners on shifting and stationary traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from psm_lab.studies.non_stationary import lpsm_parameter_choices, remarks, tables
from psm_lab.studies.non_stationary.paired_differences import RULE, SeedRows
from psm_lab.studies.non_stationary.tasks import (
    BOUNDED,
    FIXED,
    LEARN_ALPHA,
    LEARNERS,
    NonStationaryTask,
    TimelineTask,
)
from psm_lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.simulation.scenario import Scenario

FULL_TRACE, FULL_PAGES = "shifting:length=0.5", 314
QUICK_TRACE, QUICK_PAGES = "shifting:length=0.1", 64
CONTROL, CONTROL_PAGES = "ucb", 60
REPLICATIONS, UPLINK_SEEDS, CHOOSING = 10, 5, 3
MILD = 1e-5
GAMMAS = ("published", f"{MILD:g}")
REGIMES_SHOWN = (LEARN_ALPHA, "Static-expert", "Fixed-share 0.01", "bsd:p=0.5", FIXED[0], FIXED[1])
PLOTTED_RATES = (None, 0.0, 0.1)
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


class NonStationary(Study):
    """All policies over the same pages of each seed, with two gammas and a stationary control."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return runs on each trace and seed, the runs for the choices, and the plotted runs."""
        trace, pages = _shifting(scale)
        seeds = _seeds(scale, seed)
        shifting = [NonStationaryTask(trace, pages, seed, (None, MILD)) for seed in seeds]
        control = [NonStationaryTask(CONTROL, CONTROL_PAGES, seed) for seed in seeds]
        gammas = lpsm_parameter_choices.gamma_tasks(trace, pages, scale.choosing(CHOOSING))
        uplinks = lpsm_parameter_choices.uplink_tasks(trace, pages, seeds[:UPLINK_SEEDS])
        plotted = Scenario(trace, pages=pages // 2, seed=seed)
        timelines = [TimelineTask(alpha, plotted) for alpha in PLOTTED_RATES]
        return [*shifting, *control, *gammas, *uplinks, *timelines]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return means, regret and verdicts."""
        trace, pages = _shifting(scale)
        shifting, control = (
            SeedRows(row for row in rows.of("policies") if row["trace"] == name) for name in (trace, CONTROL)
        )
        parts = {part: [row for row in rows.of("run") if row["part"] == part] for part in ("gamma", "uplink")}
        seeds = _seeds(scale, seed)
        return Findings(
            "non-stationary",
            "Gain of Learn-alpha on non-stationary traffic (thesis, section 2.5.5)",
            f"trace {trace}, {pages} pages, and as a stationary control {CONTROL_PAGES} pages of {CONTROL};"
            f" {len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}; after an uplink packet LPSM dozes"
            f" for {lpsm_parameter_choices.DEFAULT_UPLINK} beacon; differences are paired;"
            f" {RULE}",
            remarks=[_gamma_remark(parts["gamma"]), *_remarks(shifting, control)],
            commentary=COMMENTARY,
            tables=[*_tables(shifting, control), *_choices(parts)],
            provisional=not scale.full,
            figures={
                "trade-off": tables.energy_against_slowdown(shifting),
                "regret": tables.loss_of_each_rate(shifting, GAMMAS),
                "polling": pd.DataFrame(rows.of("timeline")),
            },
        )


def _shifting(scale: Scale) -> tuple[str, int]:
    """Return the trace and its number of pages, which are two rounds of all four regimes."""
    return (FULL_TRACE, FULL_PAGES) if scale.full else (QUICK_TRACE, QUICK_PAGES)


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: REPLICATIONS if scale.full else scale.replications]


def _gamma_remark(rows: Sequence[Row]) -> str:
    gamma = lpsm_parameter_choices.chosen_gamma(rows)
    relation = "It is" if gamma == MILD else "It is not"
    return (
        f"On the seeds for choosing, gamma {gamma:g} has the lowest product of energy and slowdown."
        f" {relation} the milder gamma {MILD:g} of the tables, which contrasts with the published gamma and"
        " is run with other seeds."
    )


def _choices(parts: Mapping[str, Sequence[Row]]) -> list[Table]:
    return [
        Table("Choice of gamma, on the seeds for choosing", lpsm_parameter_choices.gammas(parts["gamma"])),
        Table(
            "Learn-alpha by its choice after an uplink packet",
            lpsm_parameter_choices.uplinks(parts["uplink"]),
        ),
    ]


def _remarks(shifting: SeedRows, control: SeedRows) -> list[str]:
    mild = GAMMAS[1]
    remarks_by_part = {
        "Published gamma": [*remarks.comparisons(shifting), remarks.leaders(shifting)],
        f"Gamma {mild}": [*remarks.comparisons(shifting, mild), remarks.leaders(shifting, mild)],
        "Stationary control": [*remarks.comparisons(control), remarks.gains(shifting, control)],
    }
    texts = [f"{name}. {text}" for name, group in remarks_by_part.items() for text in group]
    return [*texts, remarks.polls_to_forget()]


def _tables(shifting: SeedRows, control: SeedRows) -> list[Table]:
    mild, all_policies = GAMMAS[1], (*LEARNERS, *BOUNDED, *FIXED)
    return [
        Table("Energy and slowdown, published gamma", tables.energy_and_slowdown(shifting, all_policies)),
        Table(f"LPSM with gamma = {mild}", tables.energy_and_slowdown(shifting, LEARNERS, mild)),
        Table("Power and delay per page in each regime", tables.by_regime(shifting, REGIMES_SHOWN)),
        Table(
            "Regret in nats, every learner over the rounds of Learn-alpha's own run",
            tables.common_regret(shifting, GAMMAS),
        ),
        Table("Regret of each learner over its own rounds, in nats", tables.own_regret(shifting, GAMMAS)),
        Table(
            "Energy and slowdown on stationary traffic, published gamma",
            tables.energy_and_slowdown(control, (*LEARNERS, *BOUNDED, *FIXED[:4])),
        ),
    ]


STUDY = NonStationary()
