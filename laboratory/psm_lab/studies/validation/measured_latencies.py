"""Validation of the latency of a probe every 5 s, with losses of beacons fitted to one hour each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_lab.studies.validation.hardware_measurements import (
    StationTask,
    measured_rows,
    per_cent,
    tally_verdicts,
    validation_verdict,
)
from psm_sim.simulation.scenario import Scenario

ADDED_MS = 5.94
"""Median latency measured with power saving off, which is added to the simulated latency."""

MODELS = {"in runs": "Losses in runs", "independent": "Independent losses"}
"""Models of the losses, with their names in sentences. Only in the first one does the rate vary in time."""

_BEACON_MS = 102.4
_PERCENTILES = (50, 90, 99)
_LOSSES, _RUNS = np.arange(96) / 100, np.arange(10, 201) / 10


def latency_percentiles(loss: ArrayLike, run: ArrayLike) -> NDArray[np.float64]:
    """Return the 50th, 90th and 99th percentile of the latency in ms, along the last axis.

    A probe arrives at a random time between two beacons and waits for the first beacon that is received. The
    simulator gives the same values but for the time on the channel.

    Parameters
    ----------
    loss, run : array_like
        Probability that a beacon is lost, and mean number of beacons that are lost in a row.
    """
    loss, run = np.asarray(loss, float)[..., None], np.asarray(run, float)[..., None]
    later = 1 - np.array(_PERCENTILES) / 100  # share of the probes that wait longer
    with np.errstate(divide="ignore", invalid="ignore"):  # in the branch that is not used
        lost = np.floor(np.log(later / loss) / np.log(1 - 1 / run)) + 1
        longer = loss * (1 - 1 / run) ** (lost - 1)  # share of the probes for which that many are lost
        beacons = np.where(later < loss, lost + (1 - later / longer) * run, (1 - later) / (1 - loss))
    return np.asarray(_BEACON_MS * beacons + ADDED_MS)


def fit_losses(ms: Sequence[float], model: str) -> tuple[float, float]:
    """Return the loss and the mean run that minimise the larger difference of p50 and p90.

    Parameters
    ----------
    ms : sequence of float
        Measured percentiles; the first two are used.
    model : str
        One of :data:`MODELS`. Independent losses have a mean run of 1 / (1 - loss).
    """
    losses, runs = np.meshgrid(_LOSSES, _RUNS, indexing="ij")
    if model == "independent":
        losses, runs = _LOSSES, 1 / (1 - _LOSSES)
    differences = np.abs(latency_percentiles(losses, runs)[..., :2] / np.array(ms[:2]) - 1).max(axis=-1)
    best = int(np.argmin(differences))
    return round(float(losses.flat[best]), 2), round(float(runs.flat[best]), 3)


class LatencyStudy:
    """Study of the latency of probes."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run per hour and model with *seed*: 10 h, or 2 h at a small *scale*."""
        return [
            StationTask(
                "psm",
                _scenario(loss, run if model == "in runs" else None, _hours(scale), seed),
                {"hour": row["hour"], "model": model, "loss": loss, "run": run},
            )
            for row in measured_rows()["latency"]
            for model in MODELS
            for loss, run in [fit_losses(row["ms"], model)]
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the measured percentiles with those of the losses that fit p50 and p90 best.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        simulated = {(row["model"], row["hour"]): row for row in rows.of("station")}
        hours = measured_rows()["latency"]
        same = pd.DataFrame([_judge(row, simulated[model, row["hour"]]) for model in MODELS for row in hours])
        later = pd.DataFrame(
            [
                _judge_next(row, simulated[model, fitted["hour"]])
                for model in MODELS
                for fitted, row in pairwise(hours)
            ]
        )
        return Findings(
            study="latency",
            title="Round trip of a probe every 5 s to a Raspberry Pi Zero W, beacons lost",
            setting=f"{_hours(scale):g} h of probes for each fit, seed {seed}; beacons every 100 TU, policy"
            f" psm, the next beacon awaited after a miss; {ADDED_MS:g} ms added, the median measured with"
            " power saving off",
            remarks=[_tally(model, same, later) for model in MODELS]
            + ["Source: raspberrypi/linux, issue 7533, about 715 probes an hour."],
            commentary=COMMENTARY,
            tables=[
                Table("Measured / simulated percentiles of the fitted hour in ms", same),
                Table("Measured / simulated percentiles of the next hour of the source in ms", later),
            ],
        )


COMMENTARY = (
    (
        "Losses in runs follow Gilbert's model (beacon.loss_run): the channel is good or bad for some"
        " beacons, and all beacons are lost while it is bad. The loss rate and the mean run are fitted to p50"
        " and p90 of one hour. Independent losses have one parameter."
    ),
    (
        "Losses in runs were chosen after a review had compared them with p99 of the hours 00, 02 and 04."
        " Hours 22 and 23, and the next hours, were compared afterwards."
    ),
    (
        "In hour 22 the median is less than half a beacon interval plus the latency without power saving. No"
        " loss of beacons explains that, so the station was awake for some probes."
    ),
    "The hours after 00 are 02 and 04; the source has no hours 01 and 03.",
    "The source does not state the DTIM period of the access point, and 1 is assumed.",
)

STUDY = LatencyStudy()


def _tally(model: str, same: pd.DataFrame, later: pd.DataFrame) -> str:
    same, later = same[same["losses"] == model], later[later["losses"] == model]
    next_hour = [verdict for column in _NEXT for verdict in later[column]]
    return (
        f"{MODELS[model]}, predicted: {tally_verdicts([*same[_P99], *next_hour])}"
        f" (p99 of the same hour: {tally_verdicts(same[_P99].tolist())}; next hour:"
        f" {tally_verdicts(next_hour)}). Fitted, p50 and p90: {tally_verdicts(same[_FITTED].tolist())}."
    )


def _hours(scale: Scale) -> float:
    return 10.0 if scale.full else 2.0


def _scenario(loss: float, run: float | None, hours: float, seed: int) -> Scenario:
    trace = f"pushes:kind=clock,period_s=5,spread_s=0.3,page_s={3600 * hours:g}"
    settings = {"beacon.interval_ms": 102.4, "beacon.loss": loss}
    runs = {} if run is None or not loss else {"beacon.loss_run": run}
    return Scenario(trace, pages=1, seed=seed, settings={**settings, **runs})


_FITTED, _P99 = "p50 and p90, fitted", "p99, predicted"
_NEXT = tuple(f"p{percent}, predicted" for percent in _PERCENTILES)


def _judge(row: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, Any]:
    p50, p90, p99 = _differences(row, simulated)
    return {
        "losses": simulated["model"],
        "hour": row["hour"],
        "loss": simulated["loss"],
        "mean run": simulated["run"],
        **_pairs(row, simulated),
        "p50 %": p50,
        "p90 %": p90,
        "p99 %": p99,
        _FITTED: validation_verdict("latency", p50, p90),
        _P99: validation_verdict("latency", p99),
    }


def _judge_next(row: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, Any]:
    differences = _differences(row, simulated)
    return {
        "losses": simulated["model"],
        "fitted to hour": simulated["hour"],
        "hour": row["hour"],
        **_pairs(row, simulated),
        **{f"p{percent} %": value for percent, value in zip(_PERCENTILES, differences, strict=True)},
        **{
            name: validation_verdict("latency", value) for name, value in zip(_NEXT, differences, strict=True)
        },
    }


def _simulated_ms(simulated: Mapping[str, Any]) -> list[float]:
    return [simulated[f"p{percent}_ms"] + ADDED_MS for percent in _PERCENTILES]


def _pairs(row: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, str]:
    values = zip(_PERCENTILES, row["ms"], _simulated_ms(simulated), strict=True)
    return {f"p{percent}": f"{measured:.0f} / {ours:.0f}" for percent, measured, ours in values}


def _differences(row: Mapping[str, Any], simulated: Mapping[str, Any]) -> list[float]:
    return [
        per_cent(ours, measured) for ours, measured in zip(_simulated_ms(simulated), row["ms"], strict=True)
    ]
