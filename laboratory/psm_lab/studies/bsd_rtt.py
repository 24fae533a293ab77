"""Round-trip study: page time and energy of every policy against the round-trip time to the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from psm_lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_lab.studies.tasks import OptimumTask, Rows, RunTask, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation.scenario import Scenario

TRACE = "ucb:server_delay_ms=none,mean_think_s=54.5"
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
TOLERANCE = 0.05
COMMENTARY = join_paragraphs(
    """
    The reference model seems to request a page's objects one after the other. Parallel connections share
    each wait for a beacon. The difference is largest at short round trips, where the wait is nearly all of
    a page's time.
    """
)


class RoundTrips(Study):
    """Sweep over round-trip times at the settings of the reference model.

    Segments have 1000 B, each segment has its ACK, and the server has no delay. Every policy runs with four
    parallel connections. The policies of the reference model also run with a single connection.
    """

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per number of connections, round trip and seed, and the offline optima.

        *scale* and *seed* as for :class:`Study`.
        """
        seeds = _seeds(scale, seed)
        scenarios = [
            (rtt_ms, Scenario(TRACE, pages=scale.pages, seed=number, settings=_settings(rtt_ms)))
            for rtt_ms in ROUND_TRIPS_MS
            for number in seeds
        ]
        runs = [
            RunTask(
                policies,
                _with_connections(scenario, connections),
                {"connections": connections, "rtt_ms": rtt_ms},
            )
            for connections, policies in ((4, POLICIES), (1, tuple(REFERENCE)))
            for rtt_ms, scenario in scenarios
        ]
        best = [OptimumTask(scenario, prices=0, labels={"rtt_ms": rtt_ms}) for rtt_ms, scenario in scenarios]
        return [*runs, *best]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the ratios of mean page times with the reference model; arguments as for :class:`Study`."""
        frame, best = pd.DataFrame(rows.of("run")), pd.DataFrame(rows.of("optimum"))
        parallel, single = (_curves(frame[frame["connections"] == connections]) for connections in (4, 1))
        return Findings(
            "bsd-rtt",
            "Page time and energy against the server's round trip",
            f"segments of 1000 B, an ACK for each, initial window 2, no server delay,"
            f" {len(_seeds(scale, seed))} replications of {scale.pages} pages, from seed {seed}",
            remarks=[
                f"With up to four parallel connections, as in the paper, {_agreement(parallel)}",
                f"With one connection at a time, {_agreement(single)}",
            ],
            commentary=COMMENTARY,
            tables=[
                Table(
                    "Mean page time relative to no power saving (simulated / reference), four connections",
                    _wide(parallel),
                ),
                Table(
                    "Mean page time relative to no power saving (simulated / reference), one connection",
                    _wide(single),
                ),
            ],
            figures={"round-trips": pd.concat([parallel, _optimum_curve(best)], ignore_index=True)},
        )


def _seeds(scale: Scale, seed: int) -> range:
    return range(seed, seed + (3 if scale.full else 1))


def _settings(round_trip_ms: float) -> dict[str, float]:
    # A round trip crosses the wired link twice, and the wireless link with 0.1 ms in each direction.
    return {**SETTINGS, "links.wired.latency_ms": round_trip_ms / 2 - 0.1}


def _with_connections(scenario: Scenario, connections: int) -> Scenario:
    return replace(scenario, settings={**scenario.settings, "browser.connections": connections})


def _optimum_curve(best: pd.DataFrame) -> pd.DataFrame:
    """Return the energy of the offline optimum without delay as a curve."""
    energies = best.groupby("rtt_ms", sort=False)["energy_j"].mean().reset_index()
    return energies.assign(policy="hindsight, no delay", time_ratio=1.0, half_width=0.0)


def _curves(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        [
            _point(float(group["rtt_ms"].iloc[0]), str(group["policy"].iloc[0]), group)
            for _, group in frame.groupby(["rtt_ms", "policy"], sort=False)
        ]
    )


def _point(rtt_ms: float, policy: str, group: pd.DataFrame) -> dict[str, object]:
    references = dict(zip(ROUND_TRIPS_MS, REFERENCE.get(policy, ()), strict=False))
    mean = confidence_interval(group["time_ratio"])
    return {
        "rtt_ms": rtt_ms,
        "policy": policy,
        "time_ratio": mean.mean,
        "half_width": mean.half_width,
        "reference": references.get(rtt_ms),
        "page_time_s": group["page_time_s"].mean(),
        "energy_j": group["energy_j"].mean(),
    }


def _agreement(curves: pd.DataFrame) -> str:
    compared = curves.dropna(subset=["reference"])
    far = compared[(compared["time_ratio"] / compared["reference"] - 1).abs() > TOLERANCE]
    exceptions = [
        f"{policy} at {rtt_ms:g} ms ({ratio:.2f}, reference {reference:g})"
        for policy, rtt_ms, ratio, reference in zip(
            far["policy"], far["rtt_ms"], far["time_ratio"], far["reference"], strict=True
        )
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


STUDY = RoundTrips()
