"""Measurements of hardware with which the simulator is compared, and the rule of the verdicts."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_lab.studies.published_claims import judge
from psm_sim.common.hashing import digest_of
from psm_sim.common.summary_stats import Interval
from psm_sim.policies import Policy
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import DigestCache, Scenario
from psm_sim.workload import Page, Workload

if TYPE_CHECKING:
    import pandas as pd

RULE = """\
A row agrees if the simulated value differs from the measured value by at most a tolerance. It is 5.5 % for
the mean current of a sleeping station, 3.5 % for the mean current of a duty cycle, and 25 % for a statistic
of the latency. The tolerances were fixed before any run. Rows that were added later are judged with the same
tolerances, and were written down before the first run that compares them. The 99th percentile of the latency
was first judged when its values were known.

All rows of the sources count, also those that were known beforehand not to fit. Each compared value has one
of three roles:

* *Predicted*: the measured value and the other values of its measurement influenced nothing. The inputs are
  data sheets, documented settings, or another hour.
* *Calibrated*: other values of the same measurement calibrate the model. The current at DTIM 3 is an
  interpolation, because the currents at DTIM 1 and 10 calibrate, or the sleep current and that at DTIM 1.
* *Fitted*: a parameter was chosen so that the value agrees."""


@cache
def measured_rows() -> dict[str, Any]:
    """Return the content of ``measured.toml``."""
    return tomllib.loads(Path(__file__).with_name("measured.toml").read_text(encoding="utf-8"))


def per_cent(ours: float, measured: float) -> float:
    """Return the difference of the simulated value *ours* from *measured*, in per cent of *measured*."""
    return 100 * (ours / measured - 1)


def validation_verdict(kind: str, *differences: float) -> str:
    """Return ``agrees`` if no difference exceeds the tolerance of this *kind* of row, or ``differs``.

    *differences* are in per cent.
    """
    tolerance = measured_rows()["tolerance"][kind] + 1e-9  # a difference of just the tolerance agrees
    verdicts = {judge(Interval(difference, 0.0, 1), -tolerance, tolerance) for difference in differences}
    return "agrees" if verdicts == {"agrees"} else "differs"


def not_compared(study: str) -> pd.DataFrame:
    """Return the sources that *study* does not compare, with the reasons."""
    import pandas as pd

    rows = [row for row in measured_rows()["not_compared"] if row["study"] == study]
    return pd.DataFrame(rows)[["source", "reason"]]


def tally_verdicts(verdicts: Sequence[str]) -> str:
    """Return a text with the number of rows that agree, and of those that do not, by verdict."""
    counts = Counter(verdict for verdict in verdicts if verdict != "agrees")
    others = "".join(f", {count} {verdict}" for verdict, count in counts.items())
    return (
        f"{len(verdicts) - counts.total()} of {len(verdicts)} rows agree{others.replace('differs', 'differ')}"
    )


SUPPLY_V = 3.3
IDLE_S = 360_000.0
"""Length of an idle run. After 100 h the page at its end is less than a thousandth of the energy."""


@dataclass(frozen=True)
class StationTask:
    """Task that simulates one station.

    The row has the mean current in mA and, if there are datagrams, statistics of their delays in ms.
    ``policy`` and ``scenario`` determine the row, and ``labels`` are added to it.
    """

    policy: str | Policy
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "station"
    weight: int = 1

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the row."""
        policy = [self.policy.name, self.policy.config()] if isinstance(self.policy, Policy) else self.policy
        return digest_of([self.kind, policy, self.scenario.key(cache=cache)])

    def run(self) -> list[dict[str, Any]]:
        """Run the station and return the row."""
        import numpy as np

        workload, run = self.scenario.workload(), prepare(self.policy, self.scenario.resolve_topology())
        result = run.execute(workload.pages, messages=workload.messages)
        row: dict[str, Any] = {"mean_ma": result.mean_current_ma}
        if run.world.messenger is not None and run.world.messenger.delays_s:
            delays_ms = 1000 * np.array(run.world.messenger.delays_s)
            row |= {f"p{percent}_ms": float(np.percentile(delays_ms, percent)) for percent in (50, 90, 99)}
            row |= {"mean_ms": float(delays_ms.mean()), "maximum_ms": float(delays_ms.max())}
        return [row]


def idle_scenario(base_ma: float, charge_mc: float, dtim_period: int) -> Scenario:
    """Return a scenario of an idle station with a supply of 3.3 V and beacons every 100 TU.

    Parameters
    ----------
    base_ma, charge_mc : float
        Current of the sleeping station, and additional charge per received beacon.
    dtim_period : int
        DTIM period of the access point.
    """
    power = {"awake_w": 0.3, "asleep_w": base_ma * SUPPLY_V / 1000, "beacon_j": charge_mc * SUPPLY_V / 1000}
    settings = {f"power.{key}": value for key, value in {**power, "supply_v": SUPPLY_V}.items()}
    beacons = {"beacon.interval_ms": 102.4, "beacon.dtim_period": dtim_period}
    return Scenario(idle_task(), settings={**settings, **beacons})


def idle_task(hours: float = IDLE_S / 3600) -> Workload:
    """Return a workload of *hours* h without traffic, which ends with one small page."""
    page = Page(3600 * hours, 1000, (), (300,), (0.0,))
    return Workload("idle", (page,), True, f"{hours:g} h without traffic")
