"""Validation of the latency of a probe every 5 s: one loss rate of beacons is fitted per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.study import Findings, Scale, Table
from psm_sim.lab.studies.validation.measured_rows import (
    measured_rows,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.lab.studies.validation.task import StationTask
from psm_sim.simulation.scenario import Scenario

LOSSES = (0.0, 0.46, 0.48, 0.5, 0.52, 0.54, 0.56, 0.58, 0.6)
"""The rates tried; the one with the least difference, of the larger of median and 90 %, is taken."""

FLOOR_MS = 5.94
"""Median measured with power saving off, which is added to ours."""

_P99 = (
    "One rate of independent losses leaves p99 too low: the link has bad spells, so that an hour has more"
    " than one rate. The access point's DTIM period is not told; 1 is assumed."
)

_PERCENTILES = ("p50", "p90", "p99")


class LatencyStudy:
    """Study of the latency of probes."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run per loss rate: of 12 h, or 2 h in a quick study."""
        return [StationTask("psm", _scenario(loss, _hours(scale), seed), {"loss": loss}) for loss in LOSSES]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Set ours, with the loss rate that fits best, beside the measured percentiles.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_sim.lab.studies.study.Study`.
        """
        found = [_with_floor(row) for row in rows.of("station")]
        frame = pd.DataFrame([_judged(row, found) for row in measured_rows()["latency"]])
        return Findings(
            study="latency",
            title="Round trip of a probe every 5 s to a Raspberry Pi Zero W, beacons lost",
            setting=f"{_hours(scale):g} h of probes for each loss rate, seed {seed}; beacons every 100 TU,"
            f" policy psm, beacons lost independently, the next one awaited after a miss; {FLOOR_MS:g} ms"
            " added, the median measured with power saving off",
            remarks=[
                f"{tally_verdicts(frame['verdict'].tolist())}; the verdict is on p50 and p90, p99 is shown.",
                _P99,
                "Source: raspberrypi/linux, issue 7533, about 715 probes an hour.",
            ],
            tables=[
                Table("Percentiles in ms, measured and ours", frame),
                Table("Ours at each loss rate, in ms", pd.DataFrame(found)[["loss", *_PERCENTILES]]),
            ],
        )


STUDY = LatencyStudy()


def _hours(scale: Scale) -> float:
    return 10.0 if scale.full else 2.0


def _scenario(loss: float, hours: float, seed: int) -> Scenario:
    trace = f"pushes:kind=clock,period_s=5,spread_s=0.3,page_s={3600 * hours:g}"
    settings = {"beacon.interval_tu": 100, "beacon.loss": loss, "beacon.loss_seed": seed}
    return Scenario(trace, pages=1, seed=seed, settings=settings)


def _with_floor(row: Mapping[str, Any]) -> dict[str, float]:
    return {"loss": row["loss"], **{name: row[f"{name}_ms"] + FLOOR_MS for name in _PERCENTILES}}


def _judged(row: Mapping[str, Any], found: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    best = min(found, key=lambda ours: max(map(abs, _differences(row, ours)[:2])))
    p50, p90, p99 = _differences(row, best)
    sides = {
        name: f"{value:.0f} / {best[name]:.0f}" for name, value in zip(_PERCENTILES, row["ms"], strict=True)
    }
    return {
        "hour": row["hour"],
        "loss fitted": best["loss"],
        **sides,
        "p50 %": p50,
        "p90 %": p90,
        "p99 %": p99,
        "verdict": validation_verdict("latency", p50, p90),
    }


def _differences(row: Mapping[str, Any], ours: Mapping[str, float]) -> list[float]:
    return [per_cent(ours[name], value) for name, value in zip(_PERCENTILES, row["ms"], strict=True)]
