"""Study of published results beyond the two papers: contention, energy per frame, EAPS and TWT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import claim_of, published_numbers, searched_sources, study_texts
from psm_lab.studies.study import Findings, Scale, Table, table_of_means
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.network import load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.simulation.run import execute, prepare_stations, station_setups
from psm_sim.simulation.table import directions_of, measure, usage_of

CELLS = ((0, "tcp"), (0, "datagram"), (10, "tcp"), (10, "datagram"), (20, "tcp"))
"""Number of neighbors and transport of the station that saves power."""

CELL = {
    "mac.model": "dcf",
    "mac.standard": "802.11n",
    "beacon.interval_ms": 102.4,
    "beacon.dtim_period": 3,
    "access_point.release_on_uplink": False,
    "links.wired.rate_mbps": 1000,
    "links.wired.latency_ms": 10,
    "tcp.segment_bytes": 1024,
    "tcp.delayed_ack_ms": 0,
}
"""Settings of the published simulation program, as far as psm_sim has them."""

OFFERED_MBPS = 65.0
"""Load of all neighbors together, as in the published program, and more than the channel carries."""

_PAYLOAD_BYTES, _DATAGRAM_BYTES = 1024, 1052  # as in the published program; the second has IP and UDP headers
_BEACON_S = 0.001384  # 149 B at 1 Mbit/s and the preamble
_SUPPLY_V = 3.3  # no effect, because only currents are compared

CURRENTS = {
    "power.awake_w": _SUPPLY_V * 0.050,
    "power.transmit_w": _SUPPLY_V * 0.232,
    "power.asleep_w": _SUPPLY_V * 0.00012,
    "power.supply_v": _SUPPLY_V,
    # Ramps up and down around a beacon: 2.6 ms at 4.5 mA and 0.8 ms at 12.5 mA.
    "power.beacon_j": _SUPPLY_V * (0.0026 * 0.0045 + 0.0008 * 0.0125 + _BEACON_S * 0.050),
}
"""Currents of the published power model of a CC3235. The supply voltage has no effect on them."""

WAKE_J = {
    "tcp": _SUPPLY_V * (0.0235 * 0.025 + 0.0008 * 0.0125),
    "datagram": _SUPPLY_V * (0.023 * 0.028 + 0.0008 * 0.0125),
}
"""Ramps up and down around a transmission, by transport. They take no time in the published simulation."""


def run_contention(scenario: Scenario) -> list[Row]:
    """Run all stations and return mean current and time awake of the first one, under static PSM."""
    stations = station_setups(scenario, scenario.resolve_topology())
    row = measure(execute(prepare_stations("psm", stations), stations, "psm")[0])
    (direction,) = directions_of(row)
    awake_s = row["usage.awake_s"] + row["usage.beacons"] * _BEACON_S
    return [
        {
            "current_ma": row["mean_current_ma"],
            "awake_ms": 1000 * awake_s / row["simulated_s"],
            "latency_ms": 1000 * row[f"latency.{direction}.latency_s.mean"],
        }
    ]


def contention_tasks(seeds: Sequence[int], seconds: float) -> list[Task]:
    """Return one task per cell and seed. Each station sends for *seconds*."""
    return [
        Task(
            "contention",
            run_contention,
            {"scenario": _cell(neighbors, transport, seed, seconds)},
            1000 if neighbors else 1,  # a saturated channel takes as long to simulate as 1,000 pages
            {"neighbors": neighbors, "transport": transport, "seed": seed},
        )
        for neighbors, transport in CELLS
        for seed in seeds
    ]


def _cell(neighbors: int, transport: str, seed: int, seconds: float) -> Scenario:
    size = _PAYLOAD_BYTES if transport == "tcp" else _DATAGRAM_BYTES
    sent = "push:push.sender=station,push.timing=clock"
    sensor = f"{sent},push.period_s=1,push.transport={transport},push.bytes={size}"
    stations = [StationSpec("sensor", trace=sensor, seed=100 * seed)]
    if neighbors:
        period_s = neighbors * 8 * _PAYLOAD_BYTES / (1e6 * OFFERED_MBPS)
        trace = f"{sent},push.period_s={period_s:g},push.bytes={_DATAGRAM_BYTES}"
        stations.append(
            StationSpec("neighbor", count=neighbors, policy="always-on", trace=trace, seed=100 * seed + 1)
        )
    stations = [replace(station, trace=f"{station.trace},stretch_s={seconds:g}") for station in stations]
    settings = CELL | CURRENTS | {"power.wake_j": WAKE_J[transport]}
    topology = replace(load_topology("three-node", settings), stations=tuple(stations))
    return Scenario(topology=topology, pages=1, seed=seed)


def _increases(rows: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    """Return the relative increases of current and time awake, by setting and quantity."""
    cells = {key: group.set_index("seed") for key, group in rows.groupby(["neighbors", "transport"])}
    pairs = {
        "20 saturated neighbors, TCP": (cells[20, "tcp"], cells[0, "tcp"]),
        "10 saturated neighbors, TCP instead of UDP": (cells[10, "tcp"], cells[10, "datagram"]),
    }
    columns = {"current_increase": "current_ma", "awake_increase": "awake_ms"}
    return {
        (setting, quantity): (more[column] / less[column] - 1).tolist()
        for setting, (more, less) in pairs.items()
        for quantity, column in columns.items()
    }


_TCP_REQUESTS = (
    "push:push.sender=station,push.timing=clock,push.period_s=5,push.transport=tcp,push.reply_bytes=100,"
    "push.bytes=100,stretch_s=600"
)

DEVICE_CASES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "requests to a cloud": ("ping:sender=station,period_s=5", {}),
    "requests to an edge server": ("ping:sender=station,period_s=5", {"links.wired.latency_ms": 1}),
    "TCP requests to a cloud": (_TCP_REQUESTS, {}),
    "TCP requests to an edge server": (_TCP_REQUESTS, {"links.wired.latency_ms": 1}),
    "ucb": ("ucb", {}),
}
"""Traces and settings on which the claim of EAPS is tested. Its own traffic is not known."""

DEVICE_CHIP = "cyw43439"


def run_prediction(scenario: Scenario) -> list[Row]:
    """Return energy and delay of ``predict``, relative to static PSM and to an always-on station."""
    comparison = run_comparison(("psm", "predict"), scenario)
    psm, predicted = comparison.runs
    awake_s = _delay_s(comparison.always_on)
    return [
        {
            "energy_ratio": predicted.energy_per_page_j / psm.energy_per_page_j,
            "delay_ratio": _delay_s(predicted) / awake_s,
            "psm_delay_ratio": _delay_s(psm) / awake_s,
        }
    ]


def _delay_s(run: Result) -> float:
    directions = directions_of(run.row)
    return float(run[f"latency.{directions[0]}.latency_s.mean" if directions else "page_time_s.mean"])


def prediction_tasks(seeds: Sequence[int], pages: int) -> list[Task]:
    """Return one task per kind of traffic and seed. *pages* is the number of pages of ``ucb``."""
    tasks = []
    for case, (trace, settings) in DEVICE_CASES.items():
        count = pages if trace == "ucb" else 2
        for seed in seeds:
            scenario = Scenario(trace, pages=count, seed=seed, settings=settings, profile=DEVICE_CHIP)
            tasks.append(
                Task("prediction", run_prediction, {"scenario": scenario}, 3 * count, {"case": case})
            )
    return tasks


FRAME_MJ = {
    "none": 0.0,
    "Samsung Galaxy Note": 0.088,
    "Raspberry Pi": 0.126,
    "HTC Legend": 0.1295,
    "Linksys WRT54G": 0.46,
    "Soekris net4826": 0.93,
}
"""Energy per transmitted frame in mJ, measured by Serrano et al.; used here for received frames, too."""

FRAME_POLICIES = (
    "always-on", "psm", "psm:listen_interval=3", "bsd:p=1", "bsd:p=0.5", "lpsm", "dynamic", "skip",
    "predict", "stpm", "outstanding", "anticipate",
)  # fmt: skip
FRAME_CHIPS = {"papers' card": "", "esp32-c6": "esp32-c6"}
FRAME_TRACES = ("ucb", "mqtt")
_COUNTED_J = 0.001  # any energy above 0: frames are counted only if they cost energy


def count_frames(policies: Sequence[str], scenario: Scenario) -> list[Row]:
    """Return, per policy and page, the number of frames and the energy without the energy of frames."""
    rows = []
    for run in run_comparison(policies, scenario).runs:
        usage, pages = usage_of(run.row), run["pages"]
        radio_j = usage.total_j - usage.frames_j
        rows.append(
            {
                "seed": scenario.seed,
                "policy": run.policy,
                "radio_j": radio_j / pages,
                "frames": usage.frames / pages,
            }
        )
    return rows


def frame_tasks(seeds: Sequence[int], pages: int) -> list[Task]:
    """Return one task per trace, chip and seed. *pages* is the number of pages of ``ucb``."""
    settings, tasks = {"power.frame_j": _COUNTED_J}, []
    for trace, (chip, profile) in product(FRAME_TRACES, FRAME_CHIPS.items()):
        count = pages if trace == "ucb" else 2
        for seed in seeds:
            scenario = Scenario(trace, pages=count, seed=seed, settings=settings, profile=profile)
            tasks.append(
                Task(
                    "frames",
                    count_frames,
                    {"policies": FRAME_POLICIES, "scenario": scenario},
                    count * (1 + len(FRAME_POLICIES)),
                    {"trace": trace, "chip": chip},
                )
            )
    return tasks


def _energies(group: pd.DataFrame, frame_mj: float) -> pd.DataFrame:
    """Return the energy per page of each policy, one row per seed, if each frame needs *frame_mj*."""
    energy = group["radio_j"] + frame_mj / 1000 * group["frames"]
    return energy.to_frame("j").set_index([group["seed"], group["policy"]])["j"].unstack()


def swapped_pairs(group: pd.DataFrame, frame_mj: float) -> list[tuple[str, str, bool]]:
    """Return the pairs of policies whose order by energy changes if each frame needs *frame_mj*.

    The third value of each tuple is whether the paired 95 % interval excludes zero both with and without the
    energy of frames.
    """
    without, with_frames = _energies(group, 0.0), _energies(group, frame_mj)
    swapped = []
    for one, other in combinations(without.columns, 2):
        before, after = (
            confidence_interval((energies[one] - energies[other]).tolist())
            for energies in (without, with_frames)
        )
        if before.mean * after.mean < 0:
            swapped.append((one, other, not (before.low <= 0 <= before.high or after.low <= 0 <= after.high)))
    return swapped


def _frame_rows(frames: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, by trace, chip and device, the frames' share of PSM's energy and the swapped policies."""
    for (trace, chip), group in frames.groupby(["trace", "chip"], sort=False):
        psm = group[group["policy"] == "psm"]
        for device, frame_mj in FRAME_MJ.items():
            if frame_mj:
                swapped = swapped_pairs(group, frame_mj)
                frames_j = frame_mj / 1000 * psm["frames"].mean()
                yield {
                    "trace": trace,
                    "chip": chip,
                    "frame of": device,
                    "mJ per frame": frame_mj,
                    "share of psm's energy, %": 100 * frames_j / (psm["radio_j"].mean() + frames_j),
                    "pairs in another order": len(swapped),
                    "beyond the intervals": sum(certain for *_, certain in swapped),
                    "which": "; ".join(f"{one} and {other}" for one, other, _ in swapped),
                }


def _policy_table(frames: pd.DataFrame, trace: str, chip: str) -> pd.DataFrame:
    group = frames[(frames["trace"] == trace) & (frames["chip"] == chip)]
    columns = {name: _energies(group, FRAME_MJ[name]).mean() for name in ("none", "Soekris net4826")}
    counts = group.groupby("policy")["frames"].mean()
    table = pd.DataFrame({"frames per page": counts})
    for name, energy in columns.items():
        table[f"J per page, {name}"] = energy
        table[f"rank, {name}"] = energy.rank().astype(int)
    return table.sort_values("rank, none").reset_index()


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return the tasks of contention, of EAPS and of the energy per frame."""
    seeds, pages = _seeds(scale, seed), _pages(scale)
    return [
        *contention_tasks(seeds, _seconds(scale)),
        *prediction_tasks(seeds, pages),
        *frame_tasks(seeds, pages),
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Judge the published numbers and compare the rankings."""
    contention, predictions, frames = (
        pd.DataFrame(rows.of(kind)) for kind in ("contention", "prediction", "frames")
    )
    contention = contention.sort_values(["neighbors", "transport"])
    values = _increases(contention) | _prediction_ratios(predictions)
    ranking = pd.DataFrame(_frame_rows(frames))
    seeds = _seeds(scale, seed)
    return Findings(
        **study_texts("field"),
        setting=f"{len(seeds)} seeds from {seeds[0]} on; {_seconds(scale):g} s with contention,"
        f" {_pages(scale)} pages of ucb, two pages of the other traces",
        remarks=_remarks(ranking, predictions),
        claims=[
            claim_of(number, values[number.policy, number.quantity]) for number in published_numbers("field")
        ],
        provisional=not scale.full,
        tables=[
            Table(
                "Station under static PSM beside saturated neighbors",
                table_of_means(contention, ["neighbors", "transport"], _CONTENTION),
            ),
            Table("Policies in another order with an energy per frame", ranking),
            *(
                Table(f"Energy per page and rank, {trace}, {chip}", _policy_table(frames, trace, chip))
                for trace in FRAME_TRACES
                for chip in FRAME_CHIPS
            ),
            Table("Sources", searched_sources("field")),
        ],
    )


_CONTENTION = {
    "mean current, mA": ("current_ma", "{:.2f}"),
    "awake, ms per s": ("awake_ms", "{:.2f}"),
    "latency, ms": ("latency_ms", "{:.2f}"),
}


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[:8] if scale.full else scale.seeds(seed)[:2]


def _seconds(scale: Scale) -> float:
    return 10.0 if scale.full else 2.0


def _pages(scale: Scale) -> int:
    return 50 if scale.full else 5


def _prediction_ratios(rows: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    return {
        (f"predict, {case}", quantity): group[quantity].tolist()
        for case, group in rows.groupby("case")
        for quantity in ("energy_ratio", "delay_ratio")
    }


def _remarks(ranking: pd.DataFrame, predictions: pd.DataFrame) -> list[str]:
    pairs = len(FRAME_POLICIES) * (len(FRAME_POLICIES) - 1) // 2
    changed, certain = ranking["pairs in another order"], ranking["beyond the intervals"]
    share = ranking["share of psm's energy, %"]
    text = (
        f"With the measured energies per frame, at most {changed.max()} of {pairs} pairs of policies are in"
        f" another order by energy, and at most {certain.max()} of them beyond the 95 % intervals. No pair is"
        f" in {(changed == 0).sum()} of {len(ranking)} cases. The frames are {share.min():.2g} to"
        f" {share.max():.2g} % of the energy of static PSM."
    )
    static = predictions.groupby("case", sort=False)["psm_delay_ratio"].mean()
    delays = ", ".join(f"{ratio:.2f} ({case})" for case, ratio in static.items())
    return [text, f"Delay of static PSM relative to a station that is always awake: {delays}."]
