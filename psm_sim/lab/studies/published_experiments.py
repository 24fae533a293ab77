"""Published experiments under one preset: every policy on the same pages, and the ratios between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.campaign.comparison_task import RunTask, add_ratios
from psm_sim.campaign.optimum_task import OptimumTask
from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.study import Scale
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario

LPSM = LOG, INVERSE = ("lpsm:loss=inverse-log", "lpsm:loss=inverse")
BSD = ("bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1")
POLICIES = ("always-on", "psm", *BSD, *LPSM)
PRESETS = ("thesis-uniform", "thesis", "plain")
"""The presets that every published number is judged under; the first one is the headline, and is drawn."""

BESIDE, BESIDE_LONG = 20, 6
"""The most replications, and long ones, under each preset but the headline's."""

MAX_PAGES = 0.1
"""The share of the pages, those that take longest without power saving, that count as longer transfers."""


@dataclass(frozen=True)
class Experiment:
    """One published experiment under one preset.

    Parameters
    ----------
    study
        The study whose calibrated parameters are used, such as ``"lpsm-100"``.
    preset
        The setting.
    policies
        The policies, by the names that the published numbers have.
    """

    study: str
    preset: Preset
    policies: tuple[str, ...] = POLICIES

    @classmethod
    def under(cls, study: str, preset: str, policies: Sequence[str] = POLICIES) -> Experiment:
        """Return an experiment of *study* under the *preset* of that name, with these *policies*."""
        return cls(study, load_preset(preset), tuple(policies))

    def scenario(self, pages: int, seed: int, **changes: Any) -> Scenario:
        """Return the pages of one replication; *changes* override parameters of the trace."""
        trace = self.preset.trace_spec(**{**self.preset.calibration(self.study), **changes})
        return Scenario(trace, pages=pages, seed=seed, settings=self.preset.settings)

    def seeds(self, scale: Scale, first: int, *, long: bool = False) -> range:
        """Return the seeds that numbers are judged on.

        Parameters
        ----------
        scale
            The size of the study.
        first
            Its first seed.
        long
            Whether the runs are the long ones.
        """
        seeds = scale.judging(first, long=long)
        return seeds if self.preset.name == PRESETS[0] else seeds[: BESIDE_LONG if long else BESIDE]

    def runs(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return one comparison per seed, labelled with the study and the preset."""
        specs = tuple(self.preset.policy_spec(policy) for policy in self.policies)
        labels = {"study": self.study, "preset": self.preset.name}
        return [RunTask(specs, self.scenario(pages, seed), labels) for seed in seeds]

    def optima(self, pages: int, seeds: Sequence[int]) -> list[Task]:
        """Return hindsight's best schedule without delay on the same pages, one task per seed."""
        labels = {"preset": self.preset.name}
        return [OptimumTask(self.scenario(pages, seed), prices=0, labels=labels) for seed in seeds]

    def frame(self, rows: Rows) -> pd.DataFrame:
        """Return its rows with plain names of the policies, and their ratios to static PSM."""
        mine = [row for row in rows.of("run") if row["preset"] == self.preset.name]
        names = {str(self.preset.policy_spec(policy)): policy for policy in POLICIES}
        frame = pd.DataFrame(mine).assign(policy=[names[row["policy"]] for row in mine])
        frame = with_long_pages(add_ratios(frame, "psm"))
        return frame.assign(energy_saved=1 - frame["energy_ratio"], time_saved=1 - frame["page_ratio_mean"])


def with_long_pages(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the mean ratio of the pages that take longest without power saving, as ``page_ratio_long``."""
    always = frame[frame["policy"] == "always-on"].set_index("seed")["page_times_s"]
    psm = frame[frame["policy"] == "psm"].set_index("seed")["page_times_s"]
    found = []
    for seed, times_s in zip(frame["seed"], frame["page_times_s"], strict=True):
        count = max(1, round(MAX_PAGES * len(times_s)))
        longest = np.argsort(always[seed], kind="stable")[-count:]
        found.append(float(np.mean(np.array(times_s)[longest] / np.array(psm[seed])[longest])))
    return frame.assign(page_ratio_long=found)


def values_of(frame: pd.DataFrame, quantities: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """Return the values of each policy and quantity, one per replication."""
    found: dict[tuple[str, str], list[float]] = {}
    for quantity in quantities:
        for policy, value in zip(frame["policy"], frame[quantity].tolist(), strict=True):
            found.setdefault((policy, quantity), []).append(value)
    return found


def setting_of(experiments: Sequence[Experiment], scale: Scale, seed: int, *, long: bool = False) -> str:
    """Return in words how often each preset's pages are loaded, and with which seeds.

    Parameters
    ----------
    experiments
        One per preset.
    scale, seed, long
        As for :meth:`Experiment.seeds`.
    """
    pages = scale.long_pages if long else scale.pages
    told = []
    for experiment in experiments:
        seeds = experiment.seeds(scale, seed, long=long)
        told.append(f"{experiment.preset.name} {len(seeds)} (seeds {seeds[0]} to {seeds[-1]})")
    return f"replications of {pages} pages under each preset: {', '.join(told)}; figures: {PRESETS[0]}"
