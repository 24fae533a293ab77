"""Study of traffic that changes its kind: Learn-alpha and its rivals, on shifting and stationary pages."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.tasks import Rows, Task
from psm_sim.simulation.scenario import Scenario
from psm_sim.studies.non_stationary import figures, remarks, tables
from psm_sim.studies.non_stationary.by_seed import BySeed
from psm_sim.studies.non_stationary.task import (
    BOUNDED,
    FIXED,
    LEARN_ALPHA,
    LEARNERS,
    NonStationaryTask,
)
from psm_sim.studies.non_stationary.timeline import TimelineTask
from psm_sim.studies.study import Findings, Scale, Table, paragraphs

FULL_TRACE, FULL_PAGES = "shifting:length=0.5", 314
QUICK_TRACE, QUICK_PAGES = "shifting:length=0.1", 64
CONTROL, CONTROL_PAGES = "ucb", 60
MILD = 1e-5
GAMMAS = ("published", f"{MILD:g}")
REGIMES_SHOWN = (LEARN_ALPHA, "Static-expert", "Fixed-share 0.01", "bsd:p=0.5", FIXED[0], FIXED[1])
DRAWN_RATES = (None, 0.0, 0.1)
COMMENTARY = paragraphs(
    """
    The thesis closes (section 2.5.5) with a wish: to see Learn-alpha and its rivals in simulations that are
    non-stationary. This is one: quiet reading, busy browsing, a live stream and pushed messages in turn,
    two rounds of all four. No policy is told the schedule.

    A negative regret to the best expert means that switching paid: the learner lost less than any fixed
    polling time would have in the very rounds that it lived through. Regrets over learners' own rounds are
    not comparable, since each made its own rounds.

    Browsing is bursty as it is: pages and pauses alternate within every regime, far more often than the
    regimes do, and a learner without switches cannot follow that either.

    The loss counts a byte's waiting and the number of polls. The slowdown of a page counts the round trips
    that wait one after the other, and the joules count also how long the page takes. So the best learner
    by one measure need not be the best by another.
    """
)


class NonStationary:
    """All policies over the same pages of each seed, once more with a milder gamma, and a control."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return a run on each trace for each seed, and the runs that are drawn over time."""
        trace, pages = _shifting(scale)
        seeds = _seeds(scale, seed)
        shifting = [NonStationaryTask(trace, pages, each, (None, MILD)) for each in seeds]
        control = [NonStationaryTask(CONTROL, CONTROL_PAGES, each) for each in seeds]
        drawn = Scenario(trace, pages=pages // 2, seed=seed)
        return [*shifting, *control, *(TimelineTask(alpha, drawn) for alpha in DRAWN_RATES)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return means, regret and verdicts; arguments as for :class:`Study`."""
        trace, pages = _shifting(scale)
        shifting, control = (
            BySeed(row for row in rows.of("run") if row["trace"] == each) for each in (trace, CONTROL)
        )
        seeds = _seeds(scale, seed)
        return Findings(
            "non-stationary",
            "What Learn-alpha gains when the traffic changes its kind (thesis, section 2.5.5)",
            f"trace {trace}, {pages} pages, and as a stationary control {CONTROL_PAGES} pages of {CONTROL};"
            f" {len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}; differences are paired; a rival"
            " wins that is better in energy or slowdown and not worse in the other",
            remarks=_remarks(shifting, control),
            commentary=COMMENTARY,
            tables=_tables(shifting, control),
            figures={
                "trade-off": figures.energy_against_slowdown(shifting),
                "regret": figures.loss_of_each_rate(shifting, GAMMAS),
                "polling": pd.DataFrame(rows.of("timeline")),
            },
        )


def _shifting(scale: Scale) -> tuple[str, int]:
    """Return the trace and its pages: two rounds of all four regimes."""
    return (FULL_TRACE, FULL_PAGES) if scale.pages >= 100 else (QUICK_TRACE, QUICK_PAGES)


def _seeds(scale: Scale, seed: int) -> range:
    return range(seed, seed + (20 if scale.pages >= 100 else scale.replications))


def _remarks(shifting: BySeed, control: BySeed) -> list[str]:
    mild = GAMMAS[1]
    told = {
        "Published gamma": [*remarks.comparisons(shifting), remarks.leaders(shifting)],
        f"Gamma {mild}": [*remarks.comparisons(shifting, mild), remarks.leaders(shifting, mild)],
        "Stationary control": [*remarks.comparisons(control), remarks.gains(shifting, control)],
    }
    sentences = [f"{name}. {sentence}" for name, each in told.items() for sentence in each]
    return [*sentences, remarks.polls_to_forget()]


def _tables(shifting: BySeed, control: BySeed) -> list[Table]:
    mild, everything = GAMMAS[1], (*LEARNERS, *BOUNDED, *FIXED)
    return [
        Table("Energy and slowdown, published gamma", tables.energy_and_slowdown(shifting, everything)),
        Table(f"LPSM with gamma = {mild}", tables.energy_and_slowdown(shifting, LEARNERS, mild)),
        Table("Power and delay a page in each regime", tables.by_regime(shifting, REGIMES_SHOWN)),
        Table(
            "Regret in nats, every learner over the rounds of Learn-alpha's own run",
            tables.common_regret(shifting, GAMMAS),
        ),
        Table("Regret of each learner over its own rounds, in nats", tables.own_regret(shifting, GAMMAS)),
        Table(
            "The same on stationary traffic, published gamma",
            tables.energy_and_slowdown(control, (*LEARNERS, *BOUNDED, *FIXED[:4])),
        ),
    ]


STUDY = NonStationary()
