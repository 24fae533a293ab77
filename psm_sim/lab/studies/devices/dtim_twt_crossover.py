"""Crossover of DTIM and TWT: the wake interval from which TWT needs less power on an idle station."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.lab.studies.devices.task import DeviceTask
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Page, Workload

CHIPS = ("nrf7002", "esp32-c6")
PERIODS = (1, 2, 3, 10)
MANTISSAS = (10, 20, 40, 80, 160, 320, 640)
"""Mantissas of the wake intervals, in units of 2^15 us; the intervals are 0.33 to 21 s long."""

_UNIT_S = 2**15 / 1e6
_HOURS = 10.0


def crossover_tasks() -> list[DeviceTask]:
    """Return one task per chip with an idle station under each DTIM period and each TWT agreement."""
    agreements = tuple(f"twt:exponent=15,mantissa={mantissa}" for mantissa in MANTISSAS)
    listening = tuple(f"psm:listen_interval={period}" for period in PERIODS)
    page = Page(3600 * _HOURS, 1000, (), (300,), (0.0,))
    workload = Workload("idle", (page,), True, f"{_HOURS:g} h without traffic")
    settings = {"beacon.interval_tu": 100}
    return [
        DeviceTask(
            (*listening, *agreements), Scenario(workload, settings=settings, profile=chip), {"idle": chip}
        )
        for chip in CHIPS
    ]


def crossover_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return for each chip and DTIM period the TWT wake interval of equal power."""
    lines = []
    for chip in CHIPS:
        mw = {row["policy"]: row["mw"] for row in rows if row["idle"] == chip}
        powers = np.array([mw[f"twt:exponent=15,mantissa={mantissa}"] for mantissa in MANTISSAS])
        # Power is linear in the inverse of the interval, so linear interpolation on that scale is exact.
        rates = 1 / (np.array(MANTISSAS) * _UNIT_S)
        for period in PERIODS:
            dtim_mw = mw[f"psm:listen_interval={period}"]
            interval_s = 1 / float(np.interp(dtim_mw, powers[::-1], rates[::-1]))
            lines.append(_row(chip, period, dtim_mw, interval_s))
    return pd.DataFrame(lines)


def _row(chip: str, period: int, dtim_mw: float, interval_s: float) -> dict[str, Any]:
    return {
        "chip": chip,
        "DTIM period": period,
        "mW": dtim_mw,
        "mean wait, DTIM, s": period * 0.1024 / 2,
        "same power: TWT interval, s": interval_s,
        "mean wait, TWT, s": interval_s / 2,
    }


def crossover_points(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the mean wait and the power of every setting, for the figure."""
    points = []
    for row in rows:
        family, _, value = row["policy"].partition(":")
        number = int(value.rpartition("=")[2])
        wait_s = number * (0.1024 if family == "psm" else _UNIT_S) / 2
        points.append({"chip": row["idle"], "family": family, "wait_s": wait_s, "mw": row["mw"]})
    return pd.DataFrame(points)
