"""Validation of ping times, predicted from the documented power-save mode of the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_lab.studies.validation.hardware_measurements import (
    StationTask,
    measured_rows,
    not_compared,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.simulation.scenario import Scenario

_TRACE = "pushes:kind=clock,period_s=1,spread_s=0,page_s=3600"


class PingStudy:
    """Study of the round trip of a ping every second."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run of an hour per policy with *seed*; *scale* is not used."""
        policies = dict.fromkeys(row["policy"] for row in measured_rows()["ping"])
        scenario = Scenario(_TRACE, pages=1, seed=seed, settings={"beacon.interval_ms": 102.4})
        return [StationTask(policy, scenario, {"policy": policy}) for policy in policies]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the simulated with the measured round trips.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        simulated = {row["policy"]: row for row in rows.of("station")}
        frame = pd.DataFrame([_judge(row, simulated[row["policy"]]) for row in measured_rows()["ping"]])
        return Findings(
            study="ping",
            title="Round trip of a ping every second, predicted from the documented mode of the device",
            setting=f"1 h of pings, seed {seed}; beacons every 100 TU, DTIM period 1, no losses; the round"
            " trip with power save off is added if the source states it",
            remarks=[f"Predicted: {tally_verdicts(frame['verdict'].tolist())}."],
            commentary=COMMENTARY,
            tables=[
                Table("Measured and simulated round trip in ms", frame),
                Table("Sources that are not compared", not_compared("ping")),
            ],
        )


COMMENTARY = (
    (
        "No source states the DTIM period of its access point or its losses. A longer period or lost beacons"
        " explain larger values, but the sources do not tell which of them was the reason."
    ),
)

STUDY = PingStudy()


def _judge(row: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, Any]:
    value_ms = simulated[f"{row['statistic']}_ms"] + row["base_ms"]
    difference = per_cent(value_ms, row["ms"])
    return {
        "device": row["device"],
        "policy": row["policy"],
        "statistic": row["statistic"],
        "measured": row["ms"],
        "simulated": value_ms,
        "difference %": difference,
        "verdict": validation_verdict("latency", difference),
        "source": row["source"],
    }
