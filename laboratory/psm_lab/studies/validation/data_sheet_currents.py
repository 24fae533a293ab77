"""Validation of the mean currents at DTIM 1, 3 and 10, predicted from data sheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_lab.studies.validation.hardware_measurements import (
    StationTask,
    idle_scenario,
    idle_task,
    measured_rows,
    not_compared,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import MacParameters
from psm_sim.simulation.scenario import Scenario

PERIODS = (1, 3, 10)
LONGER_BYTES = 225
"""Size of a beacon that was measured at an access point of 802.11n."""


def beacon_ms(row: Mapping[str, Any], beacon_bytes: int | None = None) -> float:
    """Return the time for which the chip of *row* receives one beacon, in ms.

    It is the time stated by the data sheet, or the air time of a beacon of *beacon_bytes*. None selects the
    beacon that the simulator has for 802.11n by default.
    """
    if "wake_ms" in row:
        return float(row["wake_ms"])
    mac = MacParameters(
        model="dcf", standard="802.11n", beacon_mbps=row["beacon_mbps"], beacon_bytes=beacon_bytes
    )
    return 1000 * FrameTiming(mac).beacon_s


def data_sheet_charge(row: Mapping[str, Any], beacon_bytes: int | None = None) -> float:
    """Return the charge in mC that a beacon adds to the sleep current; arguments as :func:`beacon_ms`."""
    return float((row["receive_ma"] - row["sleep_ma"]) * beacon_ms(row, beacon_bytes) / 1000)


class DataSheetStudy:
    """Study of the mean currents that follow from data sheets."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one idle run per chip, DTIM period and size of the beacon, and one per measured profile.

        Parameters
        ----------
        scale, seed
            Not used.
        """
        chips = [
            StationTask(
                f"psm:listen_interval={period}",
                idle_scenario(row["sleep_ma"], data_sheet_charge(row, size), period),
                {"chip": row["chip"], "period": period, "bytes": size},
            )
            for row, period, _ in _values()
            for size in (None, LONGER_BYTES)
        ]
        beacons = {"beacon.interval_ms": 102.4}
        profiles = [
            StationTask(
                row["policy"],
                Scenario(idle_task(), settings=beacons, profile=row["profile"]),
                {"setting": row["setting"]},
            )
            for row in measured_rows()["profile_current"]
        ]
        return chips + profiles

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the simulated with the measured currents.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        found = rows.of("station")
        chips = {(row["chip"], row["period"], row["bytes"]): row["mean_ma"] for row in found if "chip" in row}
        settings = {row["setting"]: row["mean_ma"] for row in found if "setting" in row}
        frame = pd.DataFrame([_judge(*value, chips) for value in _values()])
        profiles = pd.DataFrame([_judge_profile(row, settings) for row in measured_rows()["profile_current"]])
        others = frame[~frame["chip"].str.startswith("ESP8266")]
        verdicts = [*frame["verdict"], *profiles["verdict"]]
        sizes = frame["difference %"].abs()
        return Findings(
            study="data-sheet",
            title="Mean current of an idle, associated station, predicted from data sheets",
            setting="100 h without traffic for each, beacons every 100 TU, policy psm; sleep and receive"
            " currents of the data sheets; a beacon is received for its air time, or for the time that the"
            " data sheet states",
            remarks=[
                f"Predicted: {tally_verdicts(verdicts)}.",
                (
                    "Without the ESP8266, whose measured currents may have been computed from the same"
                    f" numbers: {tally_verdicts([*others['verdict'], *profiles['verdict']])}."
                ),
                (
                    f"The differences at DTIM 1, 3 and 10 have a median of {sizes.median():.0f} % and a"
                    f" maximum of {sizes.max():.0f} %. With beacons of {LONGER_BYTES} B the median is"
                    f" {frame[_LONGER].abs().median():.0f} %."
                ),
            ],
            commentary=COMMENTARY,
            tables=[
                Table("Measured and simulated mean current in mA", frame),
                Table(
                    "Mean current of a Pico W (CYW43439) with the currents of its data sheet, in mA", profiles
                ),
                Table("Data sheets", _sheets()),
                Table("Sources that are not compared", not_compared("data-sheet")),
            ],
        )


_LONGER = f"difference with {LONGER_BYTES} B, %"

COMMENTARY = (
    (
        "The sources do not state the access point. The beacon is that of an access point of 802.11n in the"
        " simulator, 149 B, at 1 Mbit/s or, at 5 GHz, 6 Mbit/s. An access point of 802.11n was measured with"
        " about 225 B (softlockup.com, 2012), for which the last column has the difference."
    ),
    (
        "Data sheets state neither the time to wake up nor the margin before a beacon. Their sleep currents"
        " leave out wake-ups for timers and keep-alive frames, which have the largest effect at DTIM 10."
    ),
    (
        "The data sheet of the ESP32-C6 has two sleep currents. The larger one, 0.18 mA, exceeds the current"
        " measured at DTIM 10. The smaller one is used for this reason, so the three rows of this chip are"
        " not blind."
    ),
)

STUDY = DataSheetStudy()


def _values() -> Iterator[tuple[Mapping[str, Any], int, float]]:
    """Yield each data sheet with each DTIM period and its measured current."""
    measured = {row["chip"]: row["ma"] for row in measured_rows()["dtim"] if row["mode"] == "light sleep"}
    for row in measured_rows()["data_sheet"]:
        for period, current_ma in zip(PERIODS, measured[row["chip"]], strict=False):  # some end at DTIM 3
            yield row, period, current_ma


def _judge(
    row: Mapping[str, Any], period: int, measured_ma: float, simulated: Mapping[tuple[Any, ...], float]
) -> dict[str, Any]:
    current_ma = simulated[row["chip"], period, None]
    difference = per_cent(current_ma, measured_ma)
    return {
        "chip": row["chip"],
        "DTIM": period,
        "measured": measured_ma,
        "simulated": current_ma,
        "difference %": difference,
        "verdict": validation_verdict("dtim", difference),
        _LONGER: per_cent(simulated[row["chip"], period, LONGER_BYTES], measured_ma),
    }


def _judge_profile(row: Mapping[str, Any], simulated: Mapping[str, float]) -> dict[str, Any]:
    current_ma = simulated[row["setting"]]
    difference = per_cent(current_ma, row["ma"])
    return {
        "setting": row["setting"],
        "policy": row["policy"],
        "measured": row["ma"],
        "simulated": current_ma,
        "difference %": difference,
        "verdict": validation_verdict("dtim", difference),
        "source": row["source"],
    }


def _sheets() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "chip": row["chip"],
            "asleep mA": row["sleep_ma"],
            "receiving mA": row["receive_ma"],
            "beacon ms": beacon_ms(row),
            "source": row["source"],
        }
        for row in measured_rows()["data_sheet"]
    )
