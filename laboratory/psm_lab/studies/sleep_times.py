"""Study of how the sleep times of LPSM evolve under both losses (thesis, figure 2-5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psm_lab.studies.published_claims import study_texts
from psm_lab.studies.published_experiment_runs import PRESETS
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.component_spec import Spec
from psm_sim.network import Observer
from psm_sim.policies import Poll, Rest
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.run import run_workload

LOSSES = ("inverse", "inverse-log")
THINK = ("mah", "exponential", "gamma:2", "uniform", "constant")
PAGES = 30
"""Number of pages of a run."""


class RestRecorder(Observer):
    """Observer that records the time of each sleep decision in seconds, and its length in beacons."""

    def __init__(self) -> None:
        self.chosen: list[tuple[float, int]] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Record one decision. See :class:`~psm_sim.network.Observer` for the arguments."""
        self.chosen.append((time_s, rest.beacons))


def sleep_times(policy: Spec, scenario: Scenario) -> list[Row]:
    """Run LPSM and return one row per sleep decision."""
    topology, recorder = scenario.resolve_topology(), RestRecorder()
    run_workload(policy, topology, scenario.workload(), observers=[recorder])
    beacon_ms = 1000 * topology.beacon.interval_s
    return [{"time_s": time_s, "sleep_ms": beacon_ms * beacons} for time_s, beacons in recorder.chosen]


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one run for each distribution of think times and each loss; *scale* is not used."""
    preset = load_preset(PRESETS[0])
    all_tasks = []
    for think in THINK:
        trace = preset.trace_spec(think=think)
        scenario = Scenario(trace, pages=PAGES, seed=seed, settings=preset.settings)
        for loss in LOSSES:
            arguments = {"policy": preset.policy_spec(f"lpsm:loss={loss}"), "scenario": scenario}
            labels = {"think": think, "loss": loss}
            all_tasks.append(Task("sleep", sleep_times, arguments, 8 * PAGES, labels))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the sleep times, and how fast each loss backs off."""
    times, preset = pd.DataFrame(rows.of("sleep")), load_preset(PRESETS[0])
    plotted = times[times["think"] == preset.trace_parameters["think"]]
    means = times.groupby(["loss", "think"], sort=False)["sleep_ms"].mean()
    by_think = {loss: ", ".join(f"{think} {means[loss, think]:.0f} ms" for think in THINK) for loss in LOSSES}
    return Findings(
        **study_texts("sleep-times"),
        setting=f"preset {preset.name}, and think times of other tails; {PAGES} pages, seed {seed}",
        remarks=[
            _steps_remark(plotted),
            *(
                f"Mean sleep time with {loss} by distribution of think times: {text}."
                for loss, text in by_think.items()
            ),
        ],
        tables=[Table("Sleep times", _quantiles(times))],
        presets=[preset],
        figures={"sleep-times": _changes(plotted)},
    )


def _steps_remark(plotted: pd.DataFrame) -> str:
    """Return a remark on how often the sleep time decreases and increases under each loss."""
    parts = []
    for loss, group in plotted.groupby("loss", sort=False):
        steps = group["sleep_ms"].diff()
        parts.append(
            f"{loss} {group['sleep_ms'].mean():.0f} ms on average, {int((steps < 0).sum())} decreases and"
            f" {int((steps > 0).sum())} increases"
        )
    return f"Sleep times: {'; '.join(parts)}."


def _quantiles(times: pd.DataFrame) -> pd.DataFrame:
    groups = times.groupby(["think", "loss"], sort=False)["sleep_ms"]
    table = groups.quantile(np.array([0.05, 0.25, 0.5, 0.75, 0.95])).unstack().map("{:.0f}".format)
    table.columns = [f"{100 * share:g} % (ms)" for share in table.columns]
    table = table.assign(sleeps=groups.size()).reset_index()
    return table.rename(columns={"think": "think times"})


def _changes(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at which the sleep time changes, and the last row of each loss."""
    loss, length = times["loss"], times["sleep_ms"]
    changed = (length != length.shift()) | (loss != loss.shift()) | (loss != loss.shift(-1))
    return times[changed].reset_index(drop=True)
