"""Saturated stations of 802.11n beside ns-3: late beacons, time awake of a dozing station, and goodput.

    python -m benchmarks.peer_crowd [FOLDER [SEEDS]]

``peer_crowd.csv`` has the runs of ns-3.44, of 4 or 8 s each. psm_sim has as many seeds,
for 8 s each.
Printed are the mean delay of a beacon, the mean time from its due time to its end, for which a station that
only dozes is awake, and the goodput: here and in ns-3 with 95 % intervals over the seeds, and the difference
in per cent. A difference beyond its tolerance is marked as missed, even if its interval reaches into it.

With FOLDER, as for ``peer_air_ns3.py``, the file is completed to SEEDS runs of each cell (16). Beacons every
20 TU instead of 100 TU measure the delay five times as fast.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import repeat
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peer_air_ns3 import build
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.policies import make_policy
from tests.network.parts.mac.air_bench import AirBench

MEASURED = Path(__file__).with_suffix(".csv")
SECONDS = 8.0
BEGIN_S, BEACON_MS = 3.072, 20.48
"""Begin of the measurement, after 150 beacons, and beacon interval."""
PIFS_S, BEACON_S = 19e-6, 1424e-6
"""Time before a beacon that is not late, and its duration: 154 B at 1 Mbit/s after the long preamble."""
WAITING = 200
"""Packets in each queue: more than three A-MPDUs, so that none runs empty."""
NO_RTS = 4_692_480
"""Largest RTS threshold of ns-3."""


class Cell(NamedTuple):
    """Number of stations, whether they and the access point send, sizes in bytes, block ack requests."""

    stations: int
    up: int
    down: int
    bytes: int
    ampdu: int = 65_535
    rts: int = NO_RTS
    requests: int = 1

    def __str__(self) -> str:
        return ", ".join(map(str, self))


CELLS = (
    Cell(5, 1, 0, 1500),
    Cell(10, 1, 0, 1500),
    Cell(20, 1, 0, 1500),
    Cell(5, 1, 0, 1500, ampdu=0),
    Cell(20, 1, 0, 1500, ampdu=0),
    Cell(10, 1, 0, 700),
    Cell(10, 1, 0, 1500, ampdu=8000),
    Cell(10, 0, 1, 1500),
    Cell(5, 1, 1, 1500),
    Cell(10, 1, 1, 700, ampdu=0),
    Cell(10, 1, 0, 1500, rts=1000),
    Cell(20, 1, 0, 1500, requests=0),
    Cell(20, 1, 1, 700),
    Cell(5, 0, 1, 700, ampdu=0),
    Cell(10, 1, 0, 1500, ampdu=0, rts=1000),
)


class Crowd(NamedTuple):
    """Delay of a beacon and time from its due time to its end, in ms, and goodput in Mbit/s."""

    late_ms: float
    awake_ms: float
    mbps: float


TOLERANCES = Crowd(0.03, 0.05, 0.03)


def simulate(cell: Cell, seed: int) -> Crowd:
    """Return the result of one run here."""
    settings: dict[str, Any] = {
        "mac.standard": "802.11n", "mac.beacon_bytes": 154, "beacon.interval_ms": BEACON_MS,
        "mac.ampdu_bytes": cell.ampdu, "mac.block_ack_request": bool(cell.requests), "seed": seed,
    }  # fmt: skip
    if cell.rts < NO_RTS:
        settings["mac.rts_bytes"] = cell.rts
    bench: Any = AirBench(make_policy("psm"), *[make_policy("always-on")] * cell.stations, **settings)  # type: ignore[no-untyped-call]
    passed = 0

    def saturate(
        send: Callable[[Any], None], link: Any, receive: Callable[[Any], None], begin_s: float
    ) -> None:
        def deliver(segment: Any) -> None:
            nonlocal passed
            receive(segment)
            passed += bench.env.now >= BEGIN_S
            send(bench.frame(cell.bytes))

        link.deliver = deliver
        for number in range(WAITING):
            bench.at(begin_s + number * 1e-6, lambda: send(bench.frame(cell.bytes)))

    for number in range(1, cell.stations + 1):
        hop = bench.hops[number]
        if cell.up:
            saturate(bench.stations[number].send, hop.up, lambda _: None, 1.5 + 0.02 * number)
        if cell.down:
            saturate(bench.ports[number].forward, hop.down, hop.down.deliver, 1.51 + 0.02 * number)
    before = []
    bench.at(BEGIN_S - 1e-6, lambda: before.append(_usage(bench, bench.env.now)))
    bench.run(BEGIN_S + SECONDS)
    (begin,), end = before, _usage(bench, BEGIN_S + SECONDS)
    late_s = (end.awake_s - begin.awake_s) / (end.beacons - begin.beacons)
    return Crowd(1000 * late_s, 1000 * (late_s + PIFS_S + BEACON_S), 8e-6 * cell.bytes * passed / SECONDS)


def _usage(bench: Any, time_s: float) -> Any:
    """Return the usage of the dozing station until *time_s*."""
    bench.stations[0]._radio.advance(time_s)
    return bench.ledgers[0].usage(time_s)


def measure(folder: Path, seeds: int) -> None:
    """Add the runs of ns-3 that the file lacks."""
    known = {(cell, run) for cell, runs in read().items() for run in runs}
    jobs = [(cell, seed) for seed in range(1, seeds + 1) for cell in CELLS if (cell, seed) not in known]
    with tempfile.TemporaryDirectory() as temporary, MEASURED.open("a", newline="") as target:
        program = Path(temporary) / "peer_crowd_ns3"
        build(folder, program, "peer_crowd_ns3.cc")

        def run(job: tuple[Cell, int]) -> list[object]:
            cell, seed = job
            options = cell._asdict() | {"seconds": SECONDS, "run": seed}
            command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            return [*cell, seed, *done.stdout.split()]

        with ThreadPoolExecutor(2) as pool:
            for row in pool.map(run, jobs):
                csv.writer(target, lineterminator="\n").writerow(row)
                target.flush()


def read() -> dict[Cell, dict[int, Crowd]]:
    """Return the runs of ns-3 by cell and seed."""
    cells: dict[Cell, dict[int, Crowd]] = {}
    with MEASURED.open() as source:
        for row in csv.DictReader(source):
            cell = Cell(*(int(row[name]) for name in Cell._fields))
            beacons, late_s, listened_s, packets, seconds = (
                float(row[name]) for name in ("beacons", "late_s", "listened_s", "packets", "seconds")
            )
            cells.setdefault(cell, {})[int(row["run"])] = Crowd(
                1000 * late_s / beacons, 1000 * listened_s / beacons, 8e-6 * cell.bytes * packets / seconds
            )
    return cells


def compare(ours: Sequence[Crowd], theirs: Sequence[Crowd]) -> list[str]:
    """Return each value here, in ns-3 and the difference in per cent, with 95 % intervals."""
    texts = []
    for here, there, tolerance in zip(
        zip(*ours, strict=True), zip(*theirs, strict=True), TOLERANCES, strict=True
    ):
        mine, peer = confidence_interval(here), confidence_interval(there)
        apart = mine.mean / peer.mean - 1
        spread = hypot(mine.half_width, peer.half_width) / peer.mean
        missed = " missed" if abs(apart) > tolerance else ""
        texts.append(f"{mine:.3f}, {peer:.3f}, {100 * apart:+.1f} ± {100 * spread:.1f}{missed}")
    return texts


def main() -> None:
    """Print one row per cell."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 16)
    print(f"| {', '.join(Cell._fields)} | seeds | delay, ms | awake, ms | goodput, Mbit/s |")
    with ProcessPoolExecutor() as pool:
        for cell, theirs in read().items():
            ours = list(pool.map(simulate, repeat(cell), theirs))
            print(
                f"| {cell} | {len(theirs)} | {' | '.join(compare(ours, list(theirs.values())))} |", flush=True
            )


if __name__ == "__main__":
    main()
