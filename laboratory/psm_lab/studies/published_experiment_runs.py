"""Published experiments under one preset, with every policy on the same pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psm_lab.studies.study import Scale
from psm_lab.studies.tasks import OptimumTask, Rows, RunTask, Task, add_ratios
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario

LPSM = LOG, INVERSE = ("lpsm:loss=inverse-log", "lpsm:loss=inverse")
BSD = ("bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1")
POLICIES = ("always-on", "psm", *BSD, *LPSM)
PRESETS = ("thesis-uniform", "thesis", "plain")
"""Presets under which every published number is judged. The first one is the headline and is plotted."""

MAX_RUNS, MAX_LONG_RUNS = 20, 6
"""Maximum number of replications, and of long replications, under each preset except the headline."""

MAX_PAGES = 0.1
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
    def under(cls, study: str, preset: str, policies: Sequence[str] = POLICIES) -> Experiment:
        """Return the experiment of *study* with *policies* under the preset that *preset* names."""
        return cls(study, load_preset(preset), tuple(policies))

    def scenario(self, pages: int, seed: int, **changes: Any) -> Scenario:
        """Return the scenario of one replication.

        *pages* and *seed* are those of the scenario. *changes* override parameters of the trace.
        """
        trace = self.preset.trace_spec(**{**self.preset.calibration(self.study), **changes})
        return Scenario(trace, pages=pages, seed=seed, settings=self.preset.settings)

    def seeds(self, scale: Scale, first: int, *, long: bool = False) -> range:
        """Return the seeds on which numbers are judged.

        Parameters
        ----------
        scale : Scale
            Size of the study.
        first : int
            First seed of the study.
        long : bool
            Whether to return the seeds of the long runs.
        """
        seeds = scale.judging(first, long=long)
        return seeds if self.preset.name == PRESETS[0] else seeds[: MAX_LONG_RUNS if long else MAX_RUNS]

    def runs(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return one comparison per seed, labelled with the study and the preset."""
        specs = tuple(self.preset.policy_spec(policy) for policy in self.policies)
        labels = {"study": self.study, "preset": self.preset.name}
        return [RunTask(specs, self.scenario(pages, seed), labels) for seed in seeds]

    def optima(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return tasks that compute the offline optimum without delay on the same pages, one per seed."""
        labels = {"preset": self.preset.name}
        return [OptimumTask(self.scenario(pages, seed), prices=0, labels=labels) for seed in seeds]

    def frame(self, rows: Rows) -> pd.DataFrame:
        """Return the rows of the experiment with plain policy names and ratios to static PSM."""
        runs = [row for row in rows.of("run") if row["preset"] == self.preset.name]
        names = {str(self.preset.policy_spec(policy)): policy for policy in POLICIES}
        frame = pd.DataFrame(runs).assign(policy=[names[row["policy"]] for row in runs])
        frame = with_long_pages(add_ratios(frame, "psm"))
        return frame.assign(energy_saved=1 - frame["energy_ratio"], time_saved=1 - frame["page_ratio_mean"])


def with_long_pages(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the mean ratio over the pages that take longest without power saving, as ``page_ratio_long``."""
    always = frame[frame["policy"] == "always-on"].set_index("seed")["page_times_s"]
    psm = frame[frame["policy"] == "psm"].set_index("seed")["page_times_s"]
    ratios = []
    for seed, times_s in zip(frame["seed"], frame["page_times_s"], strict=True):
        count = max(1, round(MAX_PAGES * len(times_s)))
        longest = np.argsort(always[seed], kind="stable")[-count:]
        ratios.append(float(np.mean(np.array(times_s)[longest] / np.array(psm[seed])[longest])))
    return frame.assign(page_ratio_long=ratios)


def values_of(frame: pd.DataFrame, quantities: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """Return the values of each policy and quantity, one per replication."""
    values: dict[tuple[str, str], list[float]] = {}
    for quantity in quantities:
        for policy, value in zip(frame["policy"], frame[quantity].tolist(), strict=True):
            values.setdefault((policy, quantity), []).append(value)
    return values


def setting_of(experiments: Sequence[Experiment], scale: Scale, seed: int, *, long: bool = False) -> str:
    """Return a text with the number of replications of each preset and their seeds.

    Parameters
    ----------
    experiments : sequence of Experiment
        Experiments, one per preset.
    scale, seed, long
        As for :meth:`Experiment.seeds`.
    """
    pages = scale.long_pages if long else scale.pages
    parts = []
    for experiment in experiments:
        seeds = experiment.seeds(scale, seed, long=long)
        parts.append(f"{experiment.preset.name} {len(seeds)} (seeds {seeds[0]} to {seeds[-1]})")
    return f"replications of {pages} pages under each preset: {', '.join(parts)}; figures: {PRESETS[0]}"
