"""Studies of the thesis's main results (section 2.5.4): 100 pages, and 4 experiments of 500 pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from psm_lab.studies.published_claims import published_claims, published_numbers, study_texts
from psm_lab.studies.published_experiment_runs import (
    INVERSE,
    LOG,
    LPSM,
    PRESETS,
    Experiment,
    mean_energy_by_state,
    mean_slowdowns,
    setting_of,
    table_of_means_and_optimum,
    values_of,
)
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.summary_stats import confidence_interval

COLUMNS = {
    "J/page": ("energy_j", "{:.3f}"),
    "awake J": ("awake_j", "{:.3f}"),
    "asleep J": ("asleep_j", "{:.3f}"),
    "beacons J": ("beacons_j", "{:.3f}"),
    "slowdown": ("slowdown", "{:.3f}"),
    "energy / psm": ("energy_ratio", "{:.3f}"),
    "page time / psm": ("page_ratio_mean", "{:.3f}"),
    "longest tenth / psm": ("page_ratio_long", "{:.3f}"),
    "worst page / psm": ("page_ratio_max", "{:.3f}"),
}
ALL_POLICIES = 4
"""Number of long replications with every policy. Further replications run only the judged policies."""

OPTIMA = 10
"""Maximum number of replications for which the offline optimum is computed."""


@dataclass(frozen=True)
class HeadlineStudy(Study):
    """Every policy on the same pages, in independent replications, under each preset.

    ``name`` is the name of the study. ``long`` selects the runs of 500 pages.
    """

    name: str
    long: bool

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per preset and seed, and the offline optimum for some of them."""
        complete, pages = ALL_POLICIES if self.long else None, scale.long_pages if self.long else scale.pages
        judged = dict.fromkeys(number.policy for number in published_numbers(self.name))
        all_tasks: list[Task] = []
        for experiment in Experiment.under_each_preset(self.name):
            seeds = experiment.seeds(scale, seed, long=self.long)
            all_tasks += experiment.runs(pages, seeds[:complete])
            if self.long:
                reduced = replace(experiment, policies=("always-on", *judged))
                all_tasks += reduced.runs(pages, seeds[ALL_POLICIES:])
            all_tasks += experiment.optima(pages, seeds[: complete or OPTIMA])
        return all_tasks

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the means under each preset with the published bars."""
        experiments = Experiment.under_each_preset(self.name)
        remarks, tables, claims, figures = [], [], [], {}
        for experiment in experiments:
            preset, frame, best = experiment.preset, experiment.frame(rows), experiment.optimal_energies(rows)
            claims += published_claims(self.name, values_of(frame), preset)
            remarks += _remarks(preset.name, frame, best)
            title = f"Means with 95 % confidence intervals, preset {preset.name}"
            tables.append(Table(title, table_of_means_and_optimum(frame, best, COLUMNS)))
            if preset.name == PRESETS[0]:
                figures["energy"] = mean_energy_by_state(frame, best, self.name)
                figures["slowdown"] = mean_slowdowns(frame, self.name)
        few = f"; policies without published numbers: {ALL_POLICIES} replications" if self.long else ""
        return Findings(
            **study_texts(self.name),
            setting=setting_of(experiments, scale, seed, long=self.long) + few,
            remarks=remarks,
            tables=tables,
            claims=claims,
            presets=[experiment.preset for experiment in experiments],
            provisional=not scale.full,
            figures=figures,
        )


def _remarks(preset: str, frame: pd.DataFrame, best: Sequence[float]) -> list[str]:
    psm_j, log_j = (frame.loc[frame["policy"] == name, "energy_j"].to_numpy() for name in ("psm", LOG))
    above = confidence_interval(log_j[: len(best)] / best - 1)
    dozing = frame[frame["policy"].isin(["psm", *LPSM])]
    other = (dozing["energy_j"] - dozing["beacons_j"]).groupby(dozing["policy"]).mean()
    means = frame.groupby("policy", sort=False)["energy_j"].mean()
    bsd = means[means.index.str.startswith("bsd")]
    return [
        (
            f"Preset {preset}: the energy of LPSM with 1/log T minus that of static PSM is"
            f" {confidence_interval(log_j - psm_j):.3f} J per page (paired). The difference to the offline"
            f" optimum without delay is {100 * above.mean:+.1f} %. The energy without beacons differs by"
            f" {100 * (other.max() / other.min() - 1):.2f} % between static PSM and both LPSM losses."
        ),
        (
            f"Preset {preset}: the minimum energy of the BSD settings is {bsd.min():.3f} J ({bsd.idxmin()})."
            f" LPSM needs {means[LOG]:.3f} J with 1/log T and {means[INVERSE]:.3f} J with 1/T."
        ),
    ]


LPSM_100 = HeadlineStudy("lpsm-100", long=False)
LPSM_4X500 = HeadlineStudy("lpsm-4x500", long=True)
