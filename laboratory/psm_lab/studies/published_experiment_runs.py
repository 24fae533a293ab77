"""Published experiments under one preset, with every policy on the same pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psm_lab.studies.published_claims import published_numbers
from psm_lab.studies.study import Scale, table_of_means
from psm_lab.studies.tasks import Rows, Task, comparison_task, optimum_task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import Preset, load_preset

LPSM = LOG, INVERSE = ("lpsm:loss=inverse-log", "lpsm:loss=inverse")
BSD = ("bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1")
POLICIES = ("always-on", "psm", *BSD, *LPSM)
PRESETS = ("thesis-uniform", "thesis", "plain")
"""Presets under which every published number is judged. The first one is the headline and is plotted."""

MAX_RUNS, MAX_LONG_RUNS = 20, 6
"""Maximum number of replications, and of long replications, under each preset except the headline."""

LONG_PAGE_SHARE = 0.1
"""Share of the pages that count as longer transfers, namely those that take longest without power saving."""


@dataclass(frozen=True)
class Experiment:
    """Published experiment under one preset.

    Parameters
    ----------
    study : str
        Study whose calibrated parameters are used, such as ``"lpsm-100"``.
    preset : Preset
        Setting of the runs.
    policies : tuple of str
        Policies, under the names that the published numbers use.
    """

    study: str
    preset: Preset
    policies: tuple[str, ...] = POLICIES

    @classmethod
    def under_each_preset(cls, study: str) -> list[Experiment]:
        """Return the experiment of *study* under each of :data:`PRESETS`."""
        return [cls(study, load_preset(preset)) for preset in PRESETS]

    def scenario(self, pages: int, seed: int, **changes: Any) -> Scenario:
        """Return the scenario of one replication.

        *pages* and *seed* are those of the scenario. *changes* override parameters of the trace.
        """
        trace = self.preset.trace_spec(**{**self.preset.calibration(self.study), **changes})
        return Scenario(trace, pages=pages, seed=seed, settings=self.preset.settings)

    def seeds(self, scale: Scale, first: int, *, long: bool = False) -> range:
        """Return the seeds on which numbers are judged at a *scale*, counted from the seed *first*.

        If *long* is true, return the seeds of the long runs.
        """
        seeds = scale.judging(first, long=long)
        return seeds if self.preset.name == PRESETS[0] else seeds[: MAX_LONG_RUNS if long else MAX_RUNS]

    def runs(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return one comparison of the policies over *pages* pages for each of the *seeds*."""
        specs = tuple(self.preset.policy_spec(policy) for policy in self.policies)
        labels = {"study": self.study, "preset": self.preset.name}
        return [comparison_task(specs, self.scenario(pages, seed), labels) for seed in seeds]

    def optima(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return the offline optimum without delay for each comparison of :meth:`runs`."""
        labels = {"preset": self.preset.name}
        return [optimum_task(self.scenario(pages, seed), labels) for seed in seeds]

    def frame(self, rows: Rows) -> pd.DataFrame:
        """Return the *rows* of :meth:`runs` with plain policy names, and with ratios."""
        names = {str(self.preset.policy_spec(policy)): policy for policy in POLICIES}
        runs = [row for row in rows.of("run") if row["preset"] == self.preset.name]
        return with_ratios(pd.DataFrame(runs).assign(policy=[names[row["policy"]] for row in runs]))

    def optimal_energies(self, rows: Rows) -> list[float]:
        """Return the energies of :meth:`optima` in J per page, from all *rows*."""
        return [row["energy_j"] for row in rows.of("optimum") if row["preset"] == self.preset.name]


def with_ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one setting with ratios to other policies on the same pages.

    *frame* has the rows of :func:`~psm_lab.studies.tasks.compare_policies`, with the policies ``always-on``
    and ``psm`` for each seed. ``energy_ratio``, ``energy_saved`` and ``time_saved`` are relative to static
    PSM. ``page_ratio_mean`` and ``page_ratio_max`` are the mean and the maximum of the ratios of page times
    to those of static PSM. ``page_ratio_long`` is the mean of these ratios over the pages that take longest
    without power saving. ``always_on_ratio`` is the energy without power saving divided by the energy of the
    row.
    """
    always, psm = (frame[frame["policy"] == name].set_index("seed") for name in ("always-on", "psm"))
    ratios = []
    for seed, times_s in zip(frame["seed"], frame["page_times_s"], strict=True):
        ratio = np.array(times_s) / np.array(psm["page_times_s"][seed])
        count = max(1, round(LONG_PAGE_SHARE * len(ratio)))
        longest = np.argsort(always["page_times_s"][seed], kind="stable")[-count:]
        ratios.append((ratio.mean(), ratio.max(), ratio[longest].mean()))
    frame = frame.copy()
    frame[["page_ratio_mean", "page_ratio_max", "page_ratio_long"]] = ratios
    energy_ratio = frame["energy_j"] / frame["seed"].map(psm["energy_j"])
    return frame.assign(
        energy_ratio=energy_ratio,
        always_on_ratio=frame["seed"].map(always["energy_j"]) / frame["energy_j"],
        energy_saved=1 - energy_ratio,
        time_saved=1 - frame["page_ratio_mean"],
    )


def values_of(frame: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    """Return the values of each policy and column, one per replication."""
    return {
        (str(policy), column): rows[column].tolist()
        for policy, rows in frame.groupby("policy", sort=False)
        for column in frame.columns
    }


def table_of_means_and_optimum(
    frame: pd.DataFrame, best: Sequence[float], columns: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Return the means of each policy, with the optimum (energies *best*) in the last row."""
    optimum = {"policy": "offline optimum, no delay", "J/page": f"{confidence_interval(best):.3f}"}
    rows = [table_of_means(frame, "policy", columns), pd.DataFrame([{**optimum, "slowdown": "1"}])]
    return pd.concat(rows, ignore_index=True).fillna("")


def setting_of(experiments: Sequence[Experiment], scale: Scale, seed: int, *, long: bool = False) -> str:
    """Return the setting as text; see :meth:`Experiment.seeds` for *scale*, *seed* and *long*."""
    parts = []
    for experiment in experiments:
        seeds = experiment.seeds(scale, seed, long=long)
        parts.append(f"{experiment.preset.name} {len(seeds)} (seeds {seeds[0]} to {seeds[-1]})")
    pages = scale.long_pages if long else scale.pages
    return f"replications of {pages} pages under each preset: {', '.join(parts)}; figures: {PRESETS[0]}"


def mean_energy_by_state(frame: pd.DataFrame, best: Sequence[float], study: str) -> pd.DataFrame:
    """Return the mean energy of each policy by radio state, with the published values, in J per page.

    The result has the published energies as ``published_j`` and ``published_beacons_j``, and the ends of a
    published range of savings as ``published_low_j`` and ``published_high_j``. Missing values are NaN.

    Parameters
    ----------
    frame : DataFrame
        Runs, one row per policy and replication, with ``awake_j``, ``asleep_j`` and ``beacons_j``.
    best : sequence of float
        Energy of the offline optimum without delay in J per page, one value per replication.
    study : str
        Study whose published numbers are added.
    """
    states = ["awake_j", "asleep_j", "beacons_j"]
    bars = frame.groupby("policy", sort=False)[states].mean().reset_index()
    psm_j = bars.loc[bars["policy"] == "psm", states].to_numpy().sum()
    return bars.assign(
        hindsight_j=confidence_interval(best).mean,
        published_j=_published(study, bars, "energy_j", "value"),
        published_beacons_j=_published(study, bars, "beacons_j", "value"),
        published_low_j=psm_j * (1 - _published(study, bars, "energy_saved", "high")),
        published_high_j=psm_j * (1 - _published(study, bars, "energy_saved", "low")),
    )


def mean_slowdowns(frame: pd.DataFrame, study: str) -> pd.DataFrame:
    """Return each policy's slowdown and its page time relative to static PSM, with the published ratios.

    *frame* has the runs, one row per policy and replication. *study* names the study whose published
    numbers are added.
    """
    groups = frame.groupby("policy", sort=False)
    bars = pd.DataFrame({"policy": [name for name, _ in groups]})
    for name, column in (("slowdown", "slowdown"), ("over_psm", "page_ratio_mean")):
        means = [confidence_interval(rows[column]) for _, rows in groups]
        bars[name] = [mean.mean for mean in means]
        bars[f"{name}_half_width"] = [mean.half_width for mean in means]
    return bars.assign(published=_published(study, bars, "page_ratio_mean", "value"))


def _published(study: str, bars: pd.DataFrame, quantity: str, field: str) -> pd.Series[float]:
    """Return a *field* of the published numbers of a *quantity*, for the policies of *bars*."""
    numbers = [number for number in published_numbers(study) if number.quantity == quantity]
    return bars["policy"].map({number.policy: getattr(number, field) for number in numbers}).astype(float)
