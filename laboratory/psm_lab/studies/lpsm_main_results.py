"""Studies of the thesis's main results (section 2.5.4): 100 pages, and 4 experiments of 500 pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from psm_lab.studies.bar_chart_numbers import mean_energy_by_state, slowdown_numbers
from psm_lab.studies.published_claims import Claim, published_claims, published_numbers
from psm_lab.studies.published_experiment_runs import (
    INVERSE,
    LOG,
    LPSM,
    PRESETS,
    Experiment,
    setting_of,
    values_of,
)
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.summary_stats import confidence_interval

QUANTITIES = {
    "energy_j": "J/page",
    "awake_j": "awake J",
    "asleep_j": "asleep J",
    "beacons_j": "beacons J",
    "slowdown": "slowdown",
    "energy_ratio": "energy / psm",
    "page_ratio_mean": "page time / psm",
    "page_ratio_long": "longest tenth / psm",
    "page_ratio_max": "worst page / psm",
}
ALL_POLICIES = 4
"""Number of long replications with every policy. Further replications run only the judged policies."""

OPTIMA = 10
"""Maximum number of replications for which the offline optimum is computed."""


@dataclass(frozen=True)
class HeadlineStudy(Study):
    """Every policy on the same pages, in independent replications, under each preset.

    ``name`` and ``title`` identify the study in a report. ``long`` selects the runs of 500 pages.
    """

    name: str
    title: str
    long: bool

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per preset and seed, and the offline optimum for some of them.

        *scale* and *seed* as for :class:`Study`.
        """
        return [task for preset in PRESETS for task in self._tasks(preset, scale, seed)]

    def _tasks(self, preset: str, scale: Scale, seed: int) -> list[Task]:
        complete, pages = Experiment.under(self.name, preset), self._pages(scale)
        seeds = complete.seeds(scale, seed, long=self.long)
        optima = complete.optima(pages, seeds[: ALL_POLICIES if self.long else OPTIMA])
        if not self.long:
            return [*complete.runs(pages, seeds), *optima]
        judged = dict.fromkeys(number.policy for number in published_numbers(self.name))
        reduced = Experiment.under(self.name, preset, ("always-on", *judged))
        return [
            *complete.runs(pages, seeds[:ALL_POLICIES]),
            *reduced.runs(pages, seeds[ALL_POLICIES:]),
            *optima,
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the means under each preset with the published bars; arguments as for :class:`Study`."""
        experiments = [Experiment.under(self.name, preset) for preset in PRESETS]
        frames = {experiment.preset.name: experiment.frame(rows) for experiment in experiments}
        best = {name: _optimum_energies(rows, name) for name in frames}
        headline = frames[PRESETS[0]]
        claims = [
            claim
            for experiment in experiments
            for claim in self._claims(experiment, frames[experiment.preset.name])
        ]
        return Findings(
            self.name,
            self.title,
            setting_of(experiments, scale, seed, long=self.long) + self._setting_suffix(),
            remarks=[line for name in frames for line in _remarks(name, frames[name], best[name])],
            tables=[
                Table(f"Means with 95 % confidence intervals, preset {name}", _means(frame, best[name]))
                for name, frame in frames.items()
            ],
            claims=claims,
            presets=[experiment.preset for experiment in experiments],
            provisional=not scale.full,
            figures={
                "energy": mean_energy_by_state(headline, best[PRESETS[0]], self.name),
                "slowdown": slowdown_numbers(headline, self.name),
            },
        )

    def _claims(self, experiment: Experiment, frame: pd.DataFrame) -> list[Claim]:
        return published_claims(self.name, values_of(frame, tuple(QUANTITIES)), experiment.preset)

    def _pages(self, scale: Scale) -> int:
        return scale.long_pages if self.long else scale.pages

    def _setting_suffix(self) -> str:
        return f"; policies without published numbers: {ALL_POLICIES} replications" if self.long else ""


def _optimum_energies(rows: Rows, preset: str) -> list[float]:
    return [row["energy_j"] for row in rows.of("optimum") if row["preset"] == preset]


def _means(frame: pd.DataFrame, best: Sequence[float]) -> pd.DataFrame:
    rows = [
        {
            "policy": policy,
            **{label: f"{confidence_interval(group[name]):.3f}" for name, label in QUANTITIES.items()},
        }
        for policy, group in frame.groupby("policy", sort=False)
    ]
    optimum = dict.fromkeys(QUANTITIES.values(), "") | {
        "J/page": f"{confidence_interval(best):.3f}",
        "slowdown": "1",
    }
    return pd.DataFrame([*rows, {"policy": "offline optimum, no delay", **optimum}])


def _remarks(preset: str, frame: pd.DataFrame, best: Sequence[float]) -> list[str]:
    psm, log = (frame[frame["policy"] == name] for name in ("psm", LOG))
    paired = confidence_interval(log["energy_j"].to_numpy() - psm["energy_j"].to_numpy())
    above = confidence_interval(log["energy_j"].to_numpy()[: len(best)] / best - 1)
    dozing = frame[frame["policy"].isin(["psm", *LPSM])]
    other = (dozing["energy_j"] - dozing["beacons_j"]).groupby(dozing["policy"]).mean()
    means = frame.groupby("policy", sort=False)["energy_j"].mean()
    spread = 100 * (other.max() / other.min() - 1)
    return [
        (
            f"Preset {preset}: the energy of LPSM with 1/log T minus that of static PSM is {paired:.3f} J per"
            f" page (paired). The difference to the offline optimum without delay is"
            f" {100 * above.mean:+.1f} %."
            f" The energy without beacons differs by {spread:.2f} % between static PSM and both LPSM losses."
        ),
        (
            f"Preset {preset}: the minimum energy of the BSD settings is {_min_bsd(means)}. LPSM needs"
            f" {means[LOG]:.3f} J with 1/log T and {means[INVERSE]:.3f} J with 1/T."
        ),
    ]


def _min_bsd(means: pd.Series[float]) -> str:
    bsd = means[means.index.str.startswith("bsd")]
    return f"{bsd.min():.3f} J ({bsd.idxmin()})"


LPSM_100 = HeadlineStudy("lpsm-100", "100 Web transfers (thesis, figures 2-6 a and 2-7 a)", long=False)
LPSM_4X500 = HeadlineStudy("lpsm-4x500", "4 x 500 Web transfers (figures 2-6 b and 2-7 b)", long=True)
