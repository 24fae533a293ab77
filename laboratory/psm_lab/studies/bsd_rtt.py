"""Round-trip study: page time and energy of every policy against the round-trip time to the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import study_texts
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task, comparison_task, optimum_task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation import Scenario

TRACE = "ucb:server_delay_ms=none,mean_think_s=54.5"
# The round trips are those of the reference model; 100.2 ms is just above a beacon interval.
ROUND_TRIPS_MS = (10, 20, 30, 40, 60, 80, 100.2, 120, 150, 200, 300, 400, 600)
REFERENCE = {
    "psm": (6.5, 4.1, 2.95, 2.32, 1.59, 1.23, 1.93, 1.62, 1.31, 1.47, 1.32, 1.24, 1.16),
    "bsd:p=1": (1, 1, 1, 1, 1, 1, 1.54, 1.59, 1.31, 1.47, 1.65, 1.24, 1.49),
    "bsd:p=0.5": (1, 1, 1, 1, 1, 1, 1, 1, 1, 1.27, 1.32, 1.24, 1.16),
    "bsd:p=0.2": (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.16),
}
"""Ratios of mean page times from an independent packet model of the same scenario, 3 x 150 pages."""

POLICIES = ("always-on", *REFERENCE, "bsd:p=0.1", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
SETTINGS = {"tcp.segment_bytes": 1000, "tcp.delayed_ack_ms": 0}
"""Settings of the reference model. Its policies also run with a single connection instead of four."""

TOLERANCE, REPLICATIONS = 0.05, 3
"""Relative difference from the reference that is accepted, and number of seeds."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return comparisons with four and with one connection, and optima, for each round trip and seed."""
    all_tasks: list[Task] = []
    for rtt_ms in ROUND_TRIPS_MS:
        # A round trip crosses the wired link twice, and the wireless link with 0.1 ms in each direction.
        settings = {**SETTINGS, "links.wired.latency_ms": rtt_ms / 2 - 0.1}
        for number in scale.few(seed, REPLICATIONS):
            scenario = Scenario(TRACE, pages=scale.pages, seed=number, settings=settings)
            all_tasks.append(optimum_task(scenario, {"rtt_ms": rtt_ms}))
            for connections, policies in ((4, POLICIES), (1, tuple(REFERENCE))):
                run = replace(scenario, settings={**settings, "browser.connections": connections})
                all_tasks.append(
                    comparison_task(policies, run, {"connections": connections, "rtt_ms": rtt_ms})
                )
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare the ratios of mean page times with the reference model."""
    frame, optima = pd.DataFrame(rows.of("run")), pd.DataFrame(rows.of("optimum"))
    parallel, single = (_curves(frame[frame["connections"] == connections]) for connections in (4, 1))
    best = optima.groupby("rtt_ms", sort=False)["energy_j"].mean().reset_index()
    best = best.assign(policy="hindsight, no delay", time_ratio=1.0, half_width=0.0)
    title = "Mean page time relative to no power saving (simulated / reference), {}"
    return Findings(
        **study_texts("bsd-rtt"),
        setting="segments of 1000 B, an ACK for each, initial window 2, no server delay,"
        f" {len(scale.few(seed, REPLICATIONS))} replications of {scale.pages} pages, from seed {seed}",
        remarks=[
            f"With up to four parallel connections, as in the paper, {_agreement(parallel)}",
            f"With one connection at a time, {_agreement(single)}",
        ],
        tables=[
            Table(title.format("four connections"), _wide(parallel)),
            Table(title.format("one connection"), _wide(single)),
        ],
        figures={"round-trips": pd.concat([parallel, best], ignore_index=True)},
    )


def _curves(frame: pd.DataFrame) -> pd.DataFrame:
    references: dict[Any, float] = {
        (rtt_ms, policy): ratio
        for policy, ratios in REFERENCE.items()
        for rtt_ms, ratio in zip(ROUND_TRIPS_MS, ratios, strict=True)
    }
    points = []
    for (rtt_ms, policy), group in frame.groupby(["rtt_ms", "policy"], sort=False):
        ratio = confidence_interval(group["time_ratio"])
        points.append(
            {
                "rtt_ms": rtt_ms,
                "policy": policy,
                "time_ratio": ratio.mean,
                "half_width": ratio.half_width,
                "reference": references.get((rtt_ms, policy)),
                "energy_j": group["energy_j"].mean(),
            }
        )
    return pd.DataFrame(points)


def _agreement(curves: pd.DataFrame) -> str:
    compared = curves.dropna(subset=["reference"])
    far = compared[(compared["time_ratio"] / compared["reference"] - 1).abs() > TOLERANCE]
    exceptions = [
        f"{point['policy']} at {point['rtt_ms']:g} ms ({point['time_ratio']:.2f}, reference"
        f" {point['reference']:g})"
        for point in far.to_dict("records")
    ]
    near = f"{len(compared) - len(far)} of {len(compared)} ratios are within {TOLERANCE:.0%} of the reference"
    return f"{near} model{'. The exceptions are ' + ', '.join(exceptions) if exceptions else ''}."


def _wide(curves: pd.DataFrame) -> pd.DataFrame:
    shown = curves[curves["policy"] != "always-on"].copy()
    has_reference = shown["reference"].notna()
    shown["ratio"] = shown["time_ratio"].map("{:.2f}".format)
    shown.loc[has_reference, "ratio"] += shown.loc[has_reference, "reference"].map(" / {:.2f}".format)
    wide = shown.pivot_table(index="rtt_ms", columns="policy", values="ratio", aggfunc="first", sort=False)
    return wide.reset_index().rename(columns={"rtt_ms": "RTT ms"}).rename_axis(columns=None)
