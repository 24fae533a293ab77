"""Saturated stations and one that only dozes, here and in ns-3.

``python -m benchmarks.peer_crowd`` compares all cells of ``benchmarks/peer_crowd.csv``.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from psm_sim.policies import make_policy
from tests.network.parts.mac.air_bench import AirBench

MEASURED = Path(__file__).parents[4] / "benchmarks" / "peer_crowd.csv"
KEYS = ("stations", "up", "down", "bytes", "ampdu", "rts", "requests")
BEGIN_S, BEACON_MS, LONGEST = 3.072, 20.48, 65_535
PIFS_S, BEACON_S = 19e-6, 1424e-6
WAITING = 200


class Crowd(NamedTuple):
    """Delay of a beacon and time from its due time to its end, in ms, and goodput in Mbit/s."""

    late_ms: float
    listened_ms: float
    mbps: float


def simulate(cell: tuple[int, ...], seed: int, seconds: float) -> Crowd:
    """Return beacon delay, listening time and goodput of a cell."""
    stations, up, down, size, ampdu, rts, requests = cell
    settings: dict[str, object] = {
        "mac.standard": "802.11n", "mac.beacon_bytes": 154, "beacon.interval_ms": BEACON_MS,
        "mac.ampdu_bytes": ampdu, "mac.block_ack_request": bool(requests), "seed": seed,
    }  # fmt: skip
    if rts <= LONGEST:
        settings["mac.rts_bytes"] = rts
    bench = AirBench(make_policy("psm"), *[make_policy("always-on")] * stations, **settings)
    passed = 0

    def saturate(send, link, receive, begin_s):
        def again(segment):
            nonlocal passed
            receive(segment)
            passed += bench.env.now >= BEGIN_S
            send(bench.frame(size))

        link.deliver = again
        for number in range(WAITING):
            bench.at(begin_s + number * 1e-6, lambda: send(bench.frame(size)))

    for number in range(1, stations + 1):
        hop = bench.hops[number]
        if up:
            saturate(bench.stations[number].send, hop.up, lambda _: None, 1.5 + 0.02 * number)
        if down:
            saturate(bench.ports[number].forward, hop.down, hop.down.deliver, 1.51 + 0.02 * number)
    before = []
    bench.at(BEGIN_S - 1e-6, lambda: before.append(usage(bench, bench.env.now)))
    bench.run(BEGIN_S + seconds)
    used = usage(bench, BEGIN_S + seconds) - before[0]
    late_s = used.awake_s / used.beacons
    listened_s = late_s + PIFS_S + BEACON_S
    return Crowd(1000 * late_s, 1000 * listened_s, 8e-6 * size * passed / seconds)


def usage(bench, time_s):
    """Return the usage of the dozing station until *time_s*."""
    bench.stations[0]._radio.advance(time_s)
    return bench.ledgers[0].usage(time_s)


def measured() -> dict[tuple[int, ...], tuple[Crowd, int]]:
    """Return the mean of the runs of ns-3 and their number, for each cell."""
    with MEASURED.open() as source:
        rows = list(csv.DictReader(source))
    cells: dict[tuple[int, ...], list[dict[str, float]]] = {
        tuple(int(row[key]) for key in KEYS): [] for row in rows
    }
    for row in rows:
        cells[tuple(int(row[key]) for key in KEYS)].append({key: float(row[key]) for key in row})
    means = {}
    for cell, runs in cells.items():
        beacons, late_s, listened_s, packets, seconds = (
            sum(run[name] for run in runs)
            for name in ("beacons", "late_s", "listened_s", "packets", "seconds")
        )
        mbps = 8e-6 * cell[3] * packets / seconds
        means[cell] = Crowd(1000 * late_s / beacons, 1000 * listened_s / beacons, mbps), len(runs)
    return means
