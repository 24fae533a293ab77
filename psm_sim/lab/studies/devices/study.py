"""Study of energy and delay of devices over chips, traffic and server delays, and of DTIM against TWT."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.devices import dtim_twt_crossover
from psm_sim.lab.studies.devices.task import DeviceTask
from psm_sim.lab.studies.study import Findings, Scale, Table
from psm_sim.simulation.scenario import Scenario

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


class DevicesStudy:
    """Study of energy and delay of devices."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return all policies on each chip and traffic, and idle stations for the crossover.

        *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        comparisons = [
            DeviceTask(
                POLICIES,
                Scenario(trace, pages=_pages(title, scale), seed=number, profile=chip),
                {"chip": chip or "papers' card", "traffic": title},
            )
            for chip in CHIPS
            for title, trace in TRAFFIC.items()
            for number in _seeds(scale, seed)
        ]
        return [*comparisons, *dtim_twt_crossover.crossover_tasks()]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare energy and delay of all policies.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_sim.lab.studies.study.Study`.
        """
        device_rows = rows.of("device")
        idle = [row for row in device_rows if "idle" in row]
        frame = pd.DataFrame([row for row in device_rows if "idle" not in row])
        means = frame.groupby(["traffic", "chip", "policy"], sort=False)[["mw", "delay_ms"]].mean()
        means = means.reset_index()
        return Findings(
            study="devices",
            title="Production policies compared with published policies, on several chips and traffic",
            setting=f"seeds {', '.join(map(str, _seeds(scale, seed)))}; {scale.pages} pages, or 2 h of mqtt;"
            " topology three-node with the chip's profile; the delay is the mean page time, or the mean"
            " latency of a command and its answer, minus that of an always-on radio",
            remarks=[*_remarks(means), _crossover_remark(dtim_twt_crossover.crossover_table(idle))],
            tables=[
                *(Table(f"Mean power in mW, {title}", _wide(means, title, "mw")) for title in TRAFFIC),
                Table("Mean delay in ms, chip esp32-c6", _delays(means)),
                Table(
                    "Idle station: DTIM and TWT at the same power", dtim_twt_crossover.crossover_table(idle)
                ),
            ],
            figures={
                "trade": means[means["chip"] == "esp32-c6"],
                "crossover": dtim_twt_crossover.crossover_points(idle),
            },
        )


STUDY = DevicesStudy()


def _pages(title: str, scale: Scale) -> int:
    return 2 if title == "mqtt" else scale.pages


def _seeds(scale: Scale, seed: int) -> list[int]:
    return [seed + number for number in range(3 if scale.full else 1)]


def _wide(means: pd.DataFrame, title: str, value: str) -> pd.DataFrame:
    shown = means[means["traffic"] == title]
    wide = shown.pivot_table(index="policy", columns="chip", values=value, sort=False)
    return wide.reset_index().rename_axis(columns=None)


def _delays(means: pd.DataFrame) -> pd.DataFrame:
    shown = means[means["chip"] == "esp32-c6"]
    wide = shown.pivot_table(index="policy", columns="traffic", values="delay_ms", sort=False)
    return wide.reset_index().rename_axis(columns=None)


def _remarks(means: pd.DataFrame) -> list[str]:
    """Return for each traffic the policy of short delay that needs the least power on an ESP32-C6."""
    remarks = []
    for title in TRAFFIC:
        shown = means[(means["traffic"] == title) & (means["chip"] == "esp32-c6")]
        best = shown[shown["delay_ms"] <= _SHORT_DELAY_MS].sort_values("mw").iloc[0]
        remarks.append(
            f"{title}, esp32-c6: {best['policy']} needs the least power of all policies with a delay of at"
            f" most {_SHORT_DELAY_MS:g} ms, {best['mw']:.3g} mW at {best['delay_ms']:.0f} ms."
        )
    return remarks


_SHORT_DELAY_MS = 60.0


def _crossover_remark(table: pd.DataFrame) -> str:
    intervals_s = table[table["chip"] == "nrf7002"].set_index("DTIM period")["same power: TWT interval, s"]
    return (
        "An idle nrf7002 needs less power with TWT than with DTIM if the TWT interval exceeds"
        f" {intervals_s[1]:.2g} s (DTIM 1), {intervals_s[3]:.2g} s (DTIM 3) or {intervals_s[10]:.2g} s"
        " (DTIM 10). The mean wait is then ten times as long."
    )
