"""Sleep times of LPSM as they evolve under both losses (thesis, figure 2-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.component_spec import Spec
from psm_sim.hashing import digest_of
from psm_sim.lab.studies.published_experiments import PRESETS
from psm_sim.lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_sim.network import Observer
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.scenario_key import DigestCache

LOSSES = ("inverse", "inverse-log")
THINK = ("mah", "exponential", "gamma:2", "uniform", "constant")
PAGES = 30
COMMENTARY = join_paragraphs(
    """
    As published, held frames bring the sleep time down at once, silence lengthens it step by step, and
    1/log T backs off much faster than 1/T.
    """
)


class RestRecorder(Observer):
    """Recorder of when a policy was asked, in seconds, and for how many beacons it chose to doze."""

    def __init__(self) -> None:
        self.chosen: list[tuple[float, int]] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Keep one answer."""
        self.chosen.append((time_s, rest.beacons))


@dataclass(frozen=True)
class SleepTask:
    """One run of LPSM under one loss."""

    kind: ClassVar[str] = "sleep"

    loss: str
    policy: Spec
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Its pages, each of which takes the time of eight, since LPSM is asked at each poll."""
        return 8 * self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the rows."""
        return digest_of([self.kind, self.loss, self.scenario.key([self.policy], cache)])

    def run(self) -> list[dict[str, Any]]:
        """Return one row for each sleep."""
        place, recorder = self.scenario.resolve_topology(), RestRecorder()
        prepare(self.policy, place, [recorder]).execute(self.scenario.workload().pages)
        beacon_ms = 1000 * place.beacon.interval_s
        return [
            {"loss": self.loss, "time_s": at_s, "sleep_ms": beacon_ms * beacons}
            for at_s, beacons in recorder.chosen
        ]


class SleepTimes(Study):
    """The sleep times of one run under each loss, with think times of each tail."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run for each family of think times and each loss."""
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
        drawn = times[times["think"] == preset.trace_parameters["think"]]
        return Findings(
            "sleep-times",
            "Evolution of LPSM's sleep times under both losses (figure 2-5)",
            f"preset {preset.name}, and think times of other tails; {PAGES} pages, seed {seed}",
            remarks=[_climbs(drawn), *_means(times)],
            commentary=COMMENTARY,
            tables=[Table("Sleep times chosen", _spread(times))],
            presets=[preset],
            figures={"sleep-times": _changes(drawn)},
        )


def _climbs(drawn: pd.DataFrame) -> str:
    """Compare how much the sleep time grows from one doze to the next where it grows."""
    told = []
    for loss, group in drawn.groupby("loss", sort=False):
        steps = group["sleep_ms"].diff()
        told.append(f"{loss} {group['sleep_ms'].mean():.0f} ms on average, {int((steps < 0).sum())} falls and"
                    f" {int((steps > 0).sum())} rises")  # fmt: skip
    return f"Sleep times: {'; '.join(told)}."


def _means(times: pd.DataFrame) -> list[str]:
    means = times.groupby(["loss", "think"], sort=False)["sleep_ms"].mean()
    return [
        f"Mean sleep time with {loss} by think times: "
        + ", ".join(f"{think} {means[loss, think]:.0f} ms" for think in THINK) + "."
        for loss in LOSSES
    ]  # fmt: skip


def _spread(times: pd.DataFrame) -> pd.DataFrame:
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    rows = []
    for (think, loss), group in times.groupby(["think", "loss"], sort=False):
        spread = np.quantile(group["sleep_ms"], quantiles)
        cells = {f"{100 * share:g} % (ms)": f"{ms:.0f}" for share, ms in zip(quantiles, spread, strict=True)}
        rows.append({"think times": think, "loss": loss, **cells, "sleeps": len(group)})
    return pd.DataFrame(rows)


def _changes(times: pd.DataFrame) -> pd.DataFrame:
    """Keep the first sleep of each length, and the last of all."""
    loss, length = times["loss"], times["sleep_ms"]
    changed = (length != length.shift()) | (loss != loss.shift()) | (loss != loss.shift(-1))
    return times[changed].reset_index(drop=True)


STUDY = SleepTimes()
