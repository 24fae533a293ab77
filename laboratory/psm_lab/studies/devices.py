"""Study of energy and delay of devices over chips, traffic and server delays, and of DTIM against TWT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psm_lab.studies.published_claims import study_texts
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.workload import Page, Workload

_DIRECTIONS = ("round_trip_down", "down", "round_trip_up", "up")
"""Directions of messages, in descending order of the delay that power saving causes."""


def run_policies(policies: Sequence[str], scenario: Scenario) -> list[Row]:
    """Run the policies over the same traffic and return one row of mean power and delay per policy."""
    comparison = run_comparison(policies, scenario)
    always_on_s = delay_s(comparison.always_on)
    return [
        {
            "policy": run.policy,
            "mw": run["mean_power_mw"],
            "delay_ms": 1000 * (delay_s(run) - always_on_s),
        }
        for run in comparison.runs
    ]


def delay_s(run: Result) -> float:
    """Return the mean latency of the messages of *run*, or its mean page time if it has no messages.

    If there are messages in several directions, the latency is that of the most delayed direction.
    """
    for direction in _DIRECTIONS:
        if run.row.get(f"latency.{direction}.delivered"):
            return float(run[f"latency.{direction}.latency_s.mean"])
    return float(run["page_time_s.mean"])


IDLE_CHIPS = ("nrf7002", "esp32-c6")
PERIODS = (1, 2, 3, 10)
"""DTIM periods and listen intervals of the study."""
MANTISSAS = (10, 20, 40, 80, 160, 320, 640)
"""Mantissas of the wake intervals, in units of 2^15 us; the intervals are 0.33 to 21 s long."""

_UNIT_S, _BEACON_S = 2**15 / 1e6, 0.1024  # unit of the TWT mantissas; 100 time units (TU)
_HOURS = 10.0  # an idle device is periodic, so longer runs have the same power
REPLICATIONS = 3
"""Number of seeds."""


LISTENING = {f"psm:listen_interval={period}": period for period in PERIODS}
AGREEMENTS = {f"twt:exponent=15,mantissa={mantissa}": mantissa for mantissa in MANTISSAS}


def crossover_tasks() -> list[Task]:
    """Return one task per chip with an idle station under each DTIM period and each TWT agreement."""
    page = Page(3600 * _HOURS, 1000, (), (300,), (0.0,))
    workload = Workload("idle", (page,), True, f"{_HOURS:g} h without traffic")
    settings = {"beacon.interval_ms": 102.4}
    return [
        _task((*LISTENING, *AGREEMENTS), Scenario(workload, settings=settings, profile=chip), idle=chip)
        for chip in IDLE_CHIPS
    ]


def crossover_table(rows: Sequence[Row]) -> pd.DataFrame:
    """Return for each chip and DTIM period the TWT wake interval of equal power."""
    lines = []
    for chip in IDLE_CHIPS:
        mw = {row["policy"]: row["mw"] for row in rows if row["idle"] == chip}
        powers = np.array([mw[policy] for policy in AGREEMENTS])
        # Power is linear in the inverse of the interval, so linear interpolation on that scale is exact.
        rates = 1 / (np.array(MANTISSAS) * _UNIT_S)
        for policy, period in LISTENING.items():
            interval_s = 1 / float(np.interp(mw[policy], powers[::-1], rates[::-1]))
            lines.append(
                {
                    "chip": chip,
                    "DTIM period": period,
                    "mW": mw[policy],
                    "mean wait, DTIM, s": period * _BEACON_S / 2,
                    "same power: TWT interval, s": interval_s,
                    "mean wait, TWT, s": interval_s / 2,
                }
            )
    return pd.DataFrame(lines)


def crossover_points(rows: Sequence[Row]) -> pd.DataFrame:
    """Return the mean wait and the power of every setting, for the figure."""
    intervals_s = {policy: period * _BEACON_S for policy, period in LISTENING.items()}
    intervals_s |= {policy: mantissa * _UNIT_S for policy, mantissa in AGREEMENTS.items()}
    return pd.DataFrame(
        {
            "chip": row["idle"],
            "family": row["policy"].partition(":")[0],
            "wait_s": intervals_s[row["policy"]] / 2,
            "mw": row["mw"],
        }
        for row in rows
    )


CHIPS = ("", "esp32-c6", "cyw43439", "pixel-5")
"""Profiles of chips; the empty name is the card of the papers."""

TRAFFIC = {
    "ucb": "ucb",
    "ucb, no server delay": "ucb:server_delay_ms=none",
    "ucb, server delay 650 ms": "ucb:server_delay_ms=650",
    "mqtt": "mqtt",
}
"""Traces by their titles. One page of mqtt lasts an hour."""

POLICIES = (
    "always-on", "psm", "psm:listen_interval=3", "bsd:p=1", "bsd:p=0.5", "lpsm",
    "dynamic:stack=linux", "dynamic:stack=brcmfmac", "dynamic:stack=esp-idf", "dynamic:stack=talaria",
    "skip", "predict", "stpm", "stpm:delay_w=0.1", "uapsd", "twt:exponent=10",
)  # fmt: skip
"""Published policies and policies of production drivers."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return all policies on each chip and traffic, and idle stations for the crossover."""
    comparisons = [
        _task(
            POLICIES,
            Scenario(trace, pages=_pages(title, scale), seed=number, profile=chip),
            chip=chip or "papers' card",
            traffic=title,
        )
        for chip in CHIPS
        for title, trace in TRAFFIC.items()
        for number in scale.few(seed, REPLICATIONS)
    ]
    return [*comparisons, *crossover_tasks()]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare energy and delay of all policies."""
    device_rows, seeds = rows.of("device"), scale.few(seed, REPLICATIONS)
    idle = [row for row in device_rows if "idle" in row]
    frame = pd.DataFrame([row for row in device_rows if "idle" not in row])
    means = frame.groupby(["traffic", "chip", "policy"], sort=False, as_index=False)[
        ["mw", "delay_ms"]
    ].mean()
    esp32 = means[means["chip"] == "esp32-c6"]
    crossover = crossover_table(idle)
    return Findings(
        **study_texts("devices"),
        setting=f"seeds {', '.join(map(str, seeds))}; {scale.pages} pages, or 2 h of mqtt;"
        " topology three-node with the chip's profile; the delay is the mean page time, or the mean"
        " latency of a command and its answer, minus that of an always-on radio",
        remarks=[*(_least_power(esp32, title) for title in TRAFFIC), _crossover_remark(crossover)],
        tables=[
            *(
                Table(f"Mean power in mW, {title}", _wide(means[means["traffic"] == title], "chip", "mw"))
                for title in TRAFFIC
            ),
            Table("Mean delay in ms, chip esp32-c6", _wide(esp32, "traffic", "delay_ms")),
            Table("Idle station: DTIM and TWT at the same power", crossover),
        ],
        figures={"trade": esp32, "crossover": crossover_points(idle)},
    )


def _task(policies: Sequence[str], scenario: Scenario, **labels: str) -> Task:
    weight = scenario.pages * (1 + len(policies))
    return Task("device", run_policies, {"policies": policies, "scenario": scenario}, weight, labels)


def _pages(title: str, scale: Scale) -> int:
    return 2 if title == "mqtt" else scale.pages


def _wide(means: pd.DataFrame, columns: str, values: str) -> pd.DataFrame:
    wide = means.pivot_table(index="policy", columns=columns, values=values, sort=False)
    return wide.reset_index().rename_axis(columns=None)


_SHORT_DELAY_MS = 60.0  # above 51 ms, the mean wait for the next beacon


def _least_power(means: pd.DataFrame, title: str) -> str:
    """Return a remark on the policy of short delay that needs the least power on an ESP32-C6."""
    shown = means[(means["traffic"] == title) & (means["delay_ms"] <= _SHORT_DELAY_MS)]
    best = shown.sort_values("mw").iloc[0]
    return (
        f"{title}, esp32-c6: {best['policy']} needs the least power of all policies with a delay of at"
        f" most {_SHORT_DELAY_MS:g} ms, {best['mw']:.3g} mW at {best['delay_ms']:.0f} ms."
    )


def _crossover_remark(table: pd.DataFrame) -> str:
    intervals_s = table[table["chip"] == "nrf7002"].set_index("DTIM period")["same power: TWT interval, s"]
    return (
        "An idle nrf7002 needs less power with TWT than with DTIM if the TWT interval exceeds"
        f" {intervals_s[1]:.2g} s (DTIM 1), {intervals_s[3]:.2g} s (DTIM 3) or {intervals_s[10]:.2g} s"
        " (DTIM 10). The mean wait is then ten times as long."
    )
