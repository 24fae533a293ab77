"""Measure late beacons and goodput of saturated stations in ns-3, and write ``peer_crowd.csv``.

    python benchmarks/peer_crowd_ns3.py FOLDER [SEEDS]

FOLDER is the package ``ns3`` of the wheel ns3 3.44.post0, as for ``peer_air_ns3.py``; g++ builds
``peer_crowd_ns3.cc``. Each cell is measured for 8 s with each of SEEDS seeds (4). Beacons every 20 TU and not
100 TU make lateness known five times as fast. Rows that the file has are not measured again.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peer_air_ns3 import build  # type: ignore[import-not-found]

MEASURED = Path(__file__).with_name("peer_crowd.csv")
SECONDS = 8
KEYS = ("stations", "up", "down", "bytes", "ampdu", "rts", "requests")
NEVER = 4692480
CELLS = (
    (5, 1, 0, 1500, 65535, NEVER, 1),
    (10, 1, 0, 1500, 65535, NEVER, 1),
    (20, 1, 0, 1500, 65535, NEVER, 1),
    (5, 1, 0, 1500, 0, NEVER, 1),
    (20, 1, 0, 1500, 0, NEVER, 1),
    (10, 1, 0, 700, 65535, NEVER, 1),
    (10, 1, 0, 1500, 8000, NEVER, 1),
    (10, 0, 1, 1500, 65535, NEVER, 1),
    (5, 1, 1, 1500, 65535, NEVER, 1),
    (10, 1, 1, 700, 0, NEVER, 1),
    (10, 1, 0, 1500, 65535, 1000, 1),
    (20, 1, 0, 1500, 65535, NEVER, 0),
)  # fmt: skip
"""Stations, direction of their data, bytes of a packet, and limits of each cell, in the order of ``KEYS``."""
FOUND = ("beacons", "late_s", "listened_s", "packets", "seconds")


def measure(program: Path, cell: tuple[int, ...], seed: int) -> dict[str, str]:
    """Return the row of one run of ns-3."""
    options = dict(zip(KEYS, cell, strict=True)) | {"seconds": SECONDS, "run": seed}
    command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = dict(zip(FOUND, done.stdout.split(), strict=True))
    return {name: str(value) for name, value in zip(KEYS, cell, strict=True)} | {"run": str(seed)} | found


def main(folder: str, seeds: str = "4") -> None:
    """Measure what the file lacks, and add it."""
    known = set()
    if MEASURED.exists():
        with MEASURED.open() as source:
            known = {tuple(int(row[name]) for name in (*KEYS, "run")) for row in csv.DictReader(source)}
    jobs = [(cell, seed) for seed in range(1, int(seeds) + 1) for cell in CELLS if (*cell, seed) not in known]
    with tempfile.TemporaryDirectory() as place, MEASURED.open("a", newline="") as target:
        program = Path(place) / "peer_crowd_ns3"
        build(Path(folder), program, "peer_crowd_ns3.cc")
        writer = csv.DictWriter(target, (*KEYS, "run", *FOUND), lineterminator="\n")
        if not known:
            writer.writeheader()
        with ThreadPoolExecutor(2) as pool:
            for row in pool.map(lambda job: measure(program, *job), jobs):
                writer.writerow(row)
                target.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
