"""Validation of the mean current of a radio with a duty cycle, without fitted parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_lab.studies.validation.hardware_measurements import (
    StationTask,
    idle_task,
    measured_rows,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation.scenario import Scenario

_SUPPLY_V, _HOURS = 3.3, 2.0


@dataclass
class DutyCycleStudy(Policy):
    """Policy that stays awake for ``window_ms`` after every beacon."""

    name: ClassVar[str] = "window"
    window_ms: float = 75.0

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake for the rest of the window; arguments as for :class:`~psm_sim.policies.Policy`."""
        start_s = self.beacon_grid.time(self.beacon_grid.after(now_s) - 1)
        return Rest(max(0.0, start_s + self.window_ms / 1000 - now_s))


_TWT = (
    "The nRF7002 wakes for a service period of target wake time. It draws as much as 15 ms of reception,"
    " which is more than the 8.192 ms that were negotiated."
)


class DutyCycle:
    """Study of the mean current of duty cycles."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run per chip and duty cycle; *scale* and *seed* are not used."""
        return [
            StationTask(
                DutyCycleStudy(window), _scenario(row, interval), {"chip": row["chip"], "cycle": _name(cycle)}
            )
            for row in measured_rows()["duty"]
            for cycle in row["windows"]
            for window, interval, _ in [cycle]
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the simulated with the measured currents.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        simulated = {(row["chip"], row["cycle"]): row["mean_ma"] for row in rows.of("station")}
        frame = pd.DataFrame(
            [_judge(row, cycle, simulated) for row in measured_rows()["duty"] for cycle in row["windows"]]
        )
        return Findings(
            study="duty-cycle",
            title="Mean current of a radio that listens for a window of each interval, nothing fitted",
            setting=f"{_HOURS:g} h for each; currents with the radio on and off by the same source",
            remarks=[
                f"Predicted: {tally_verdicts(frame['verdict'].tolist())}.",
                "Source, ESP32: glenn20, MicroPython ESPNOW power measurements, Power Profiler Kit II.",
                "Source, nRF7002: balaji-nordic/wifi-power-meas-test, which asserts its value within 25 %.",
            ],
            commentary=[_TWT],
            tables=[Table("Measured and simulated mean current in mA", frame)],
        )


STUDY = DutyCycle()


def _name(cycle: Sequence[float]) -> str:
    return f"{cycle[0]:g} of {cycle[1]:g} ms"


def _scenario(row: Mapping[str, Any], interval_ms: float) -> Scenario:
    watts = {"awake_w": row["on_ma"] * _SUPPLY_V / 1000, "asleep_w": row["off_ma"] * _SUPPLY_V / 1000}
    power = {f"power.{key}": value for key, value in {**watts, "beacon_j": 0.0, "supply_v": 3.3}.items()}
    return Scenario(idle_task(_HOURS), settings={**power, "beacon.interval_ms": float(interval_ms)})


def _judge(
    row: Mapping[str, Any], cycle: Sequence[float], simulated: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    current_ma, name = simulated[row["chip"], _name(cycle)], _name(cycle)
    difference = per_cent(current_ma, cycle[2])
    return {
        "chip": row["chip"],
        "window": name,
        "measured": cycle[2],
        "simulated": current_ma,
        "difference %": difference,
        "verdict": validation_verdict("duty-cycle", difference),
    }
