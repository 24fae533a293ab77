"""Study of how the sleep times of LPSM evolve under both losses (thesis, figure 2-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from psm_lab.studies.published_experiment_runs import PRESETS
from psm_lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.network import Observer
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import DigestCache, Scenario

LOSSES = ("inverse", "inverse-log")
THINK = ("mah", "exponential", "gamma:2", "uniform", "constant")
PAGES = 30
COMMENTARY = join_paragraphs(
    """
    As published, buffered frames shorten the sleep time at once, and idle time lengthens it step by step. The
    loss 1/log T backs off much faster than 1/T.
    """
)


class RestRecorder(Observer):
    """Observer that records the time of each sleep decision in seconds, and its length in beacons."""

    def __init__(self) -> None:
        self.chosen: list[tuple[float, int]] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Record one decision; arguments as for :class:`~psm_sim.network.Observer`."""
        self.chosen.append((time_s, rest.beacons))


@dataclass(frozen=True)
class SleepTask:
    """Task that runs LPSM under one loss."""

    kind: ClassVar[str] = "sleep"

    loss: str
    policy: Spec
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Eight times the number of pages, because LPSM decides at each poll."""
        return 8 * self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        return digest_of([self.kind, self.loss, self.scenario.key([self.policy], cache)])

    def run(self) -> list[dict[str, Any]]:
        """Run LPSM and return one row per sleep decision."""
        topology, recorder = self.scenario.resolve_topology(), RestRecorder()
        prepare(self.policy, topology, [recorder]).execute(self.scenario.workload().pages)
        beacon_ms = 1000 * topology.beacon.interval_s
        return [
            {"loss": self.loss, "time_s": time_s, "sleep_ms": beacon_ms * beacons}
            for time_s, beacons in recorder.chosen
        ]


class SleepTimes(Study):
    """Sleep times of one run under each loss, for think times with different tails."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run for each distribution of think times and each loss.

        *scale* is not used, and *seed* is the seed of the pages.
        """
        preset = load_preset(PRESETS[0])
        policies = {loss: preset.policy_spec(Spec("lpsm").with_("loss", loss)) for loss in LOSSES}
        return [
            SleepTask(loss, policy, Scenario(preset.trace_spec(think=think), pages=PAGES, seed=seed,
                      settings=preset.settings), {"think": think})
            for think in THINK
            for loss, policy in policies.items()
        ]  # fmt: skip

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the sleep times, and how fast each loss backs off; arguments as for :class:`Study`."""
        times, preset = pd.DataFrame(rows.of("sleep")), load_preset(PRESETS[0])
        plotted = times[times["think"] == preset.trace_parameters["think"]]
        return Findings(
            "sleep-times",
            "Evolution of LPSM's sleep times under both losses (figure 2-5)",
            f"preset {preset.name}, and think times of other tails; {PAGES} pages, seed {seed}",
            remarks=[_steps_remark(plotted), *_mean_remarks(times)],
            commentary=COMMENTARY,
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


def _mean_remarks(times: pd.DataFrame) -> list[str]:
    means = times.groupby(["loss", "think"], sort=False)["sleep_ms"].mean()
    return [
        f"Mean sleep time with {loss} by distribution of think times: "
        + ", ".join(f"{think} {means[loss, think]:.0f} ms" for think in THINK) + "."
        for loss in LOSSES
    ]  # fmt: skip


def _quantiles(times: pd.DataFrame) -> pd.DataFrame:
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    rows = []
    for (think, loss), group in times.groupby(["think", "loss"], sort=False):
        quantiles = np.quantile(group["sleep_ms"], shares)
        cells = {f"{100 * share:g} % (ms)": f"{ms:.0f}" for share, ms in zip(shares, quantiles, strict=True)}
        rows.append({"think times": think, "loss": loss, **cells, "sleeps": len(group)})
    return pd.DataFrame(rows)


def _changes(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at which the sleep time changes, and the last row of each loss."""
    loss, length = times["loss"], times["sleep_ms"]
    changed = (length != length.shift()) | (loss != loss.shift()) | (loss != loss.shift(-1))
    return times[changed].reset_index(drop=True)


STUDY = SleepTimes()
