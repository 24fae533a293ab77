"""Validation of the latency of a probe every 5 s, with one fitted beacon loss rate per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from psm_sim.campaign.parallel_tasks import Rows, Task
from psm_sim.lab.studies.study import Findings, Scale, Table
from psm_sim.lab.studies.validation.hardware_measurements import (
    StationTask,
    measured_rows,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.simulation.scenario import Scenario

LOSSES = (0.0, 0.46, 0.48, 0.5, 0.52, 0.54, 0.56, 0.58, 0.6)
"""Candidate loss rates. The rate that minimises the larger difference of p50 and p90 is used."""

ADDED_MS = 5.94
"""Median latency measured with power saving off, which is added to the simulated latency."""

_P99 = (
    "With a single rate of independent losses p99 is too low. Outages of the link, or a rate that varies"
    " within an hour, would explain it."
)
_DTIM = "The source does not state the DTIM period of the access point, and 1 is assumed."

_PERCENTILES = ("p50", "p90", "p99")


class LatencyStudy:
    """Study of the latency of probes."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run per loss rate with *seed*: 10 h, or 2 h at a small *scale*."""
        return [StationTask("psm", _scenario(loss, _hours(scale), seed), {"loss": loss}) for loss in LOSSES]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the measured percentiles with those of the loss rate that fits best.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_sim.lab.studies.study.Study`.
        """
        simulated = [_add_base_latency(row) for row in rows.of("station")]
        frame = pd.DataFrame([_judge(row, simulated) for row in measured_rows()["latency"]])
        return Findings(
            study="latency",
            title="Round trip of a probe every 5 s to a Raspberry Pi Zero W, beacons lost",
            setting=f"{_hours(scale):g} h of probes for each loss rate, seed {seed}; beacons every 100 TU,"
            f" policy psm, beacons lost independently, the next one awaited after a miss; {ADDED_MS:g} ms"
            " added, the median measured with power saving off",
            remarks=[
                f"p99, predicted: {tally_verdicts(frame['p99, predicted'].tolist())}.",
                f"p50 and p90, fitted: {tally_verdicts(frame['p50 and p90, fitted'].tolist())}.",
                "Source: raspberrypi/linux, issue 7533, about 715 probes an hour.",
            ],
            commentary=[_P99, _DTIM],
            tables=[
                Table("Measured and simulated percentiles in ms", frame),
                Table(
                    "Simulated percentiles at each loss rate, in ms",
                    pd.DataFrame(simulated)[["loss", *_PERCENTILES]],
                ),
            ],
        )


STUDY = LatencyStudy()


def _hours(scale: Scale) -> float:
    return 10.0 if scale.full else 2.0


def _scenario(loss: float, hours: float, seed: int) -> Scenario:
    trace = f"pushes:kind=clock,period_s=5,spread_s=0.3,page_s={3600 * hours:g}"
    settings = {"beacon.interval_tu": 100, "beacon.loss": loss, "beacon.loss_seed": seed}
    return Scenario(trace, pages=1, seed=seed, settings=settings)


def _add_base_latency(row: Mapping[str, Any]) -> dict[str, float]:
    return {"loss": row["loss"], **{name: row[f"{name}_ms"] + ADDED_MS for name in _PERCENTILES}}


def _judge(row: Mapping[str, Any], simulated: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    best = min(simulated, key=lambda candidate: max(map(abs, _differences(row, candidate)[:2])))
    p50, p90, p99 = _differences(row, best)
    pairs = {
        name: f"{value:.0f} / {best[name]:.0f}" for name, value in zip(_PERCENTILES, row["ms"], strict=True)
    }
    return {
        "hour": row["hour"],
        "loss fitted": best["loss"],
        **pairs,
        "p50 %": p50,
        "p90 %": p90,
        "p99 %": p99,
        "p50 and p90, fitted": validation_verdict("latency", p50, p90),
        "p99, predicted": validation_verdict("latency", p99),
    }


def _differences(row: Mapping[str, Any], simulated: Mapping[str, float]) -> list[float]:
    return [per_cent(simulated[name], value) for name, value in zip(_PERCENTILES, row["ms"], strict=True)]
