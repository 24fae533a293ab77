"""Sleep times of LPSM as they evolve under both losses (thesis, figure 2-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from psm_sim.campaign.tasks import Rows, Task
from psm_sim.keys import key_of
from psm_sim.network import Observer
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec
from psm_sim.studies.study import Findings, Scale, Table

LOSSES = ("inverse", "inverse-log")
PAGES = 30


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
    labels: ClassVar[Mapping[str, Any]] = {}

    loss: str
    policy: Spec
    scenario: Scenario

    @property
    def weight(self) -> int:
        """Its pages."""
        return self.scenario.pages

    def key(self) -> str:
        """Return a hash of everything that decides the rows."""
        return key_of([self.kind, self.loss, self.scenario.key([self.policy])])

    def run(self) -> list[dict[str, Any]]:
        """Return one row for each sleep."""
        place, recorder = self.scenario.place(), RestRecorder()
        prepare(self.policy, place, [recorder]).over(self.scenario.workload().pages)
        beacon_ms = place.beacon.interval_ms
        return [
            {"loss": self.loss, "time_s": at_s, "sleep_ms": beacon_ms * beacons}
            for at_s, beacons in recorder.chosen
        ]


class SleepTimes:
    """The sleep times of one run under each loss."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run for each loss."""
        preset = load_preset("thesis")
        scenario = Scenario(preset.trace_spec(), pages=PAGES, seed=seed, settings=preset.settings)
        policies = {loss: preset.policy_spec(Spec("lpsm").with_("loss", loss)) for loss in LOSSES}
        return [SleepTask(loss, policy, scenario) for loss, policy in policies.items()]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the sleep times, and how fast each loss backs off; arguments as for :class:`Study`."""
        times = pd.DataFrame(rows.of("sleep"))
        return Findings(
            "sleep-times",
            "Evolution of LPSM's sleep times under both losses (figure 2-5)",
            f"preset thesis, {PAGES} pages, seed {seed}",
            remarks=[
                (
                    "As published, held frames bring the sleep time down at once, silence"
                    " lengthens it step by step, and 1/log T backs off much faster than 1/T."
                )
            ],
            tables=[Table("Sleep times chosen", _spread(times))],
            figures={"sleep-times": _changes(times)},
        )


def _spread(times: pd.DataFrame) -> pd.DataFrame:
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    rows = []
    for loss, group in times.groupby("loss", sort=False):
        spread = np.quantile(group["sleep_ms"], quantiles)
        cells = {f"{100 * share:g} % (ms)": f"{ms:.0f}" for share, ms in zip(quantiles, spread, strict=True)}
        rows.append({"loss": loss, **cells, "sleeps": len(group)})
    return pd.DataFrame(rows)


def _changes(times: pd.DataFrame) -> pd.DataFrame:
    """Keep the first sleep of each length, and the last of all."""
    loss, length = times["loss"], times["sleep_ms"]
    changed = (length != length.shift()) | (loss != loss.shift()) | (loss != loss.shift(-1))
    return times[changed].reset_index(drop=True)


STUDY = SleepTimes()
