"""Pages under power save at listen intervals of 1 to 10 beacons beside ns-3: page times and time awake.

    python -m benchmarks.peer_listen [FOLDER]

``peer_listen.csv`` has 100 pages, drawn as those of cell ``b-0`` in ``peer_air_ns3.py`` with a seed of their
own, and for each case the seconds of each page and the seconds for which the radio was awake until its end,
without beacons that name nobody. A case is a listen interval, the rule by which it is counted, and the end
that closes connections first. One run of ``peer_air_ns3.cc`` measured each case in ns-3.44. With FOLDER, as
for ``peer_air_ns3.py``, the file is measured anew.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.peer_air import COMMON, pages_of
from benchmarks.peer_air_ns3 import build, draw_pages, objects_of, start
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.policies import make_policy

MEASURED = Path(__file__).with_suffix(".csv")
SEED = 44
BEACON_S = 0.1024
SETTINGS = COMMON | {"tcp.initial_window": 2, "tcp.delayed_ack_ms": 200.0}

Row = dict[str, str]


class Case(NamedTuple):
    """Listen interval, rule by which it is counted, and end that closes connections first."""

    interval: int
    counted_from: str
    closes_first: str

    def __str__(self) -> str:
        return f"{self.interval} {self.counted_from} {self.closes_first}"


CASES = (
    Case(1, "doze", "server"),
    Case(1, "doze", "client"),
    *(Case(each, rule, "server") for each in (2, 3, 4, 5, 7, 10) for rule in ("doze", "access-point")),
)


def simulate(rows: list[Row], case: Case, seed: int = 1) -> npt.NDArray[np.float64]:
    """Return page times and the time awake until the end of each page, in seconds, shape (pages, 2)."""
    settings = SETTINGS | {"browser.closes_first": case.closes_first}
    policy = make_policy(f"psm:listen_interval={case.interval},counted_from={case.counted_from}")
    world = build_world(replace(load_topology("three-node", settings), seed=seed), policy)
    run_alone(world, pages_of(rows)[0])
    return np.array([(visit.ended_s - visit.started_s, usage.awake_s) for visit, usage in world.visits])


def measure(program: Path, rows: list[Row], case: Case) -> npt.NDArray[np.float64]:
    """Return the values of :func:`simulate` in one run of ns-3."""
    plan = ",".join(f"{row['think_s']},{objects_of(row)}" for row in rows)
    options: dict[str, object] = {
        "pages": plan, "delayed": 1, "saving": 1, "interval": case.interval,
        "doze": int(case.counted_from == "doze"), "client_closes": int(case.closes_first == "client"),
    }  # fmt: skip
    timing = FrameTiming(load_topology("three-node", SETTINGS).mac)
    unnamed_s = timing.pifs_s + timing.beacon_s
    measured_pages = start(program, options)
    return np.array([(page[1] / 1e6, page[3] / 1e6 - unnamed_s * page[4]) for page in measured_pages])


def write(folder: Path) -> None:
    """Measure all cases, and write the file."""
    random = Random(SEED)  # noqa: S311
    rows = list(chain(draw_pages("b-0", random), draw_pages("b-0", random)))[:100]
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary) / "peer_air_ns3"
        build(folder, program)
        for case in CASES:
            for row, (page_s, awake_s) in zip(rows, measure(program, rows, case), strict=True):
                row |= {f"{case}: page_s": f"{page_s:.6f}", f"{case}: awake_s": f"{awake_s:.6f}"}
    with MEASURED.open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read() -> list[Row]:
    """Return the rows of the file, one per page."""
    with MEASURED.open() as source:
        return list(csv.DictReader(source))


def compare(rows: list[Row], case: Case) -> tuple[float, float, float, float, int]:
    """Return mean page time and time awake, each here and in ns-3, and the pages a beacon or more apart."""
    ours = simulate(rows, case)
    theirs = np.array([[float(row[f"{case}: {name}"]) for name in ("page_s", "awake_s")] for row in rows])
    apart = int((np.abs(ours - theirs)[:, 0] > BEACON_S).sum())
    (page_s, _), (peer_s, _) = ours.mean(axis=0), theirs.mean(axis=0)
    return page_s, peer_s, ours[-1, 1], theirs[-1, 1], apart


def main() -> None:
    """Print one row for each case."""
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]))
    rows = read()
    print("| listen interval | counted from | closes first | page time, s | time awake, s | pages apart |")
    for case in CASES:
        page_s, peer_s, awake_s, peer_awake_s, apart = compare(rows, case)
        times = f"{page_s:.3f}, {peer_s:.3f}, {100 * (page_s / peer_s - 1):+.2f}"
        awake = f"{awake_s:.3f}, {peer_awake_s:.3f}, {100 * (awake_s / peer_awake_s - 1):+.2f}"
        print(f"| {' | '.join(map(str, case))} | {times} | {awake} | {apart} |")


if __name__ == "__main__":
    main()
