"""The study of non-stationary traffic: writes ``docs/studies/non-stationary.md`` and its figures.

``python benchmarks/non_stationary.py`` runs it and writes every number anew: about seven minutes on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from string import Template

import numpy as np

from psm_sim.campaign.tasks import run_tasks
from psm_sim.losses import Poll, make_loss
from psm_sim.studies.non_stationary import tables as findings
from psm_sim.studies.non_stationary import words as summary
from psm_sim.studies.non_stationary.task import (
    BOUNDED,
    FIXED,
    LEARN_ALPHA,
    LEARNERS,
    NonStationaryTask,
    timeline,
)

ROOT = Path(__file__).resolve().parents[1]
TRACE, PAGES, MILD = "shifting:length=0.5", 314, 1e-5
CONTROL, CONTROL_PAGES = "ucb", 60
GAMMAS = ("published", f"{MILD:g}")
REGIMES_SHOWN = (LEARN_ALPHA, "Static-expert", "Fixed-share 0.01", "bsd:p=0.5", FIXED[0], FIXED[1])


def main() -> None:
    """Run all seeds, then write the document from its template."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "studies")
    args = parser.parse_args()
    begun = time.perf_counter()
    seeds = range(1, args.seeds + 1)
    tasks = [NonStationaryTask(TRACE, PAGES, seed, (None, MILD)) for seed in seeds]
    tasks += [NonStationaryTask(CONTROL, CONTROL_PAGES, seed) for seed in seeds]

    def told(done: int, total: int, _: str) -> None:
        print(f"{done:,} of {total:,} pages", file=sys.stderr)

    rows = run_tasks(tasks, args.workers, told)
    study, control = (
        findings.Study(row for each in rows for row in each if row["trace"] == trace)
        for trace in (TRACE, CONTROL)
    )
    write(study, control, args.to, args.seeds)
    print(f"{args.seeds} seeds in {time.perf_counter() - begun:.0f} s", file=sys.stderr)


def write(
    study: findings.Study, control: findings.Study, folder: Path, seeds: int, shown_pages: int = PAGES // 2
) -> None:
    """Write figures and document; the polling times of the first *shown_pages* pages are drawn."""
    from psm_sim.reporting.figures import non_stationary as figures

    figures.energy_against_slowdown(study, folder / "non-stationary-energy")
    figures.loss_of_each_rate(study, GAMMAS, folder / "non-stationary-regret")
    shown = [timeline(TRACE, shown_pages, 1, alpha) for alpha in (None, 0.0, 0.1)]
    figures.polling_times(shown, folder / "non-stationary-polling")
    template = Template((ROOT / "benchmarks" / "non_stationary.md").read_text(encoding="utf-8"))
    rates = {gamma: study.values("hindsight", "alpha", gamma) for gamma in GAMMAS}
    text = template.substitute(
        trace=TRACE,
        pages=PAGES,
        seeds=seeds,
        mild=f"{MILD:g}",
        findings=summary.findings(study),
        mild_findings=summary.findings(study, GAMMAS[1]),
        energy=findings.energy_and_slowdown(study, (*LEARNERS, *BOUNDED, *FIXED)),
        mild_energy=findings.energy_and_slowdown(study, LEARNERS, GAMMAS[1]),
        common=findings.common_regret(study, GAMMAS),
        own=findings.own_regret(study, GAMMAS),
        regimes=findings.by_regime(study, REGIMES_SHOWN),
        control=CONTROL,
        control_pages=CONTROL_PAGES,
        control_findings=summary.findings(control),
        control_energy=findings.energy_and_slowdown(control, (*LEARNERS, *BOUNDED, *FIXED[:4])),
        gains=summary.gains(study, control),
        frugal=summary.most_frugal(study),
        mild_frugal=summary.most_frugal(study, GAMMAS[1]),
        leaders=summary.leaders(study),
        polls_to_forget=f"{polls_to_forget():,.0f}",
        best_alpha=f"{rates[GAMMAS[0]].median():.2g}",
        mild_best_alpha=f"{rates[GAMMAS[1]].median():.2g}",
    )
    (folder / "non-stationary.md").write_text(text, encoding="utf-8")


def polls_to_forget() -> float:
    """Return how many empty polls give 200 ms back what one frame, held for a doze of 100 ms, cost it."""
    times_ms, loss = np.array([100.0, 200.0]), make_loss("inverse-log")
    cost, gain = (loss(poll, times_ms) for poll in (Poll(100.0, 1500, 1), Poll(100.0)))
    return float((cost[1] - cost[0]) / (gain[0] - gain[1]))


if __name__ == "__main__":
    main()
