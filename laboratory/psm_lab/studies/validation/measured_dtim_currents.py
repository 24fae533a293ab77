"""Validation of the mean current at DTIM 3, interpolated between two points that calibrate the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_lab.studies.validation.hardware_measurements import (
    StationTask,
    idle_scenario,
    measured_rows,
    per_cent,
    tally_verdicts,
    validation_verdict,
)

BEACON_S = 0.1024
_PERIOD = 3
_LIGHT = "light sleep"


def fitted_currents(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the base current in mA and the charge per beacon in mC of a *row*.

    They are fitted to DTIM 1 and 10, or to the sleep current and DTIM 1 if the row has a sleep current.
    """
    first = row["ma"][0]
    if "sleep_ma" in row:
        return row["sleep_ma"], (first - row["sleep_ma"]) * BEACON_S
    charge = (first - row["ma"][2]) * BEACON_S / (1 - 1 / 10)
    return first - charge / BEACON_S, charge


class DtimStudy:
    """Study of the mean current at DTIM 3."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run at DTIM 3 per row with a valid fit; *scale* and *seed* are not used."""
        return [
            StationTask(
                f"psm:listen_interval={_PERIOD}", idle_scenario(*fitted_currents(row), _PERIOD), _labels(row)
            )
            for row in measured_rows()["dtim"]
            if fitted_currents(row)[1] >= 0
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the simulated with the measured currents.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        simulated = {(row["chip"], row["mode"]): row["mean_ma"] for row in rows.of("station")}
        frame = pd.DataFrame([_judge(row, simulated) for row in measured_rows()["dtim"]])
        light, verdicts = frame["mode"] == _LIGHT, frame["verdict"]
        return Findings(
            study="dtim",
            title="Mean current of an idle, associated station at DTIM 3",
            setting="100 h without traffic for each, beacons every 100 TU; base and charge per beacon as in"
            " column 'fit'; the policy psm hears DTIM beacons only",
            remarks=[
                (
                    f"Calibrated, in light sleep: {tally_verdicts(verdicts[light].tolist())}. Calibrated, in"
                    f" modem sleep: {tally_verdicts(verdicts[~light].tolist())}."
                )
            ],
            commentary=COMMENTARY,
            tables=[Table("Measured and simulated mean current in mA", frame)],
            figures={"currents": _points(frame[light])},
        )


COMMENTARY = (
    (
        "With DTIM 1 and 10 given, the current at DTIM 3 is an interpolation. It tests that the current is"
        " linear in the rate of beacons, and that the simulator counts beacons correctly."
    ),
    (
        "In modem sleep the processor is awake and draws most of the current, so these rows test the model"
        " weakly."
    ),
    "No fit means that no charge per beacon explains a higher current at DTIM 3 or 10 than at DTIM 1.",
    "CYW43012 was measured with other networks nearby. Its kits differ by 23 % between releases.",
    (
        "Sources that state ranges of currents are not compared (Infineon/mbed-os-example-wlan-lowpower for"
        " CYW4343W and CYW43012)."
    ),
)

STUDY = DtimStudy()


def _labels(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"chip": row["chip"], "mode": row["mode"]}


def _judge(row: Mapping[str, Any], simulated: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    base, charge = fitted_currents(row)
    measured = {
        **_labels(row),
        "fit": "sleep and DTIM 1" if "sleep_ma" in row else "DTIM 1 and 10",
        "base mA": base,
        "uC per beacon": 1000 * charge,
        "DTIM 1": row["ma"][0],
        "DTIM 3": row["ma"][1],
    }
    current_ma = simulated.get((row["chip"], row["mode"]))
    if current_ma is None:
        return {
            **measured,
            "simulated, DTIM 3": float("nan"),
            "difference %": float("nan"),
            "verdict": "no fit",
        }
    difference = per_cent(current_ma, row["ma"][1])
    result = {
        "simulated, DTIM 3": current_ma,
        "difference %": difference,
        "verdict": validation_verdict("dtim", difference),
    }
    return {**measured, **result}


def _points(frame: pd.DataFrame) -> pd.DataFrame:
    shown = frame[frame["verdict"] != "no fit"]
    columns = {"label": shown["chip"], "measured": shown["DTIM 3"], "ours": shown["simulated, DTIM 3"]}
    return pd.DataFrame(
        {**columns, "verdict": shown["verdict"], "tolerance": measured_rows()["tolerance"]["dtim"]}
    )
