"""Measure pages and downloads over 802.11b in ns-3, and write ``peer_air.csv``.

    python benchmarks/peer_air_ns3.py FOLDER [MEASURED]

FOLDER is the package ``ns3`` of the wheel ns3 3.44.post0, as pip puts it into ``site-packages``; g++ builds
``peer_air_ns3.cc`` with its headers and libraries. Neither is needed by psm_sim. With MEASURED, a file of
downloads measured in ns-3.48, nothing is written: the largest differences from these are printed.

Each value is the median of five runs of ns-3, with backoffs of their own. Cells: 160 pages of ``ucb`` with
several objects, of its pages with seed 23 in order, ten for each of 16 settings; 48 downloads; 24 pages of
eight objects each, 10 to 200 kB. Neighbouring rows, an even and an odd one, have the same settings.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

from psm_sim.workload import load_workload

HERE = Path(__file__).resolve().parent
RUNS = 5
WINDOWS = (1, 2, 4, 10)
LIBRARIES = (
    "core network internet mobility point-to-point traffic-control wifi propagation spectrum stats antenna"
    " bridge config-store"
)

Row = dict[str, str]


def build(folder: Path, program: Path) -> None:
    """Compile the C++ program against the wheel in *folder*; its own access rules are in its way."""
    libraries = folder / "lib64"
    names = [f"-lns3.44-{name}" for name in LIBRARIES.split()]
    flags = ["-std=c++20", "-O1", "-w", "-fno-access-control", "-rdynamic", f"-I{folder / 'include'}"]
    links = [f"-L{libraries}", *names, f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined", "-ldl"]
    command = ["g++", *flags, str(HERE / "peer_air_ns3.cc"), "-o", str(program), *links]
    subprocess.run(command, check=True)


def run(program: Path, row: Row, saving: bool, number: int) -> tuple[float, float, int]:
    """Return seconds of a row's page, seconds with the radio awake, and PS-Polls, in one run of ns-3."""
    options = {
        "objects": row["object_bytes"], "phase": row["phase_ms"], "window": row["initial_window"],
        "delayed": row["delayed_ack"], "persistent": row["persistent"], "saving": int(saving), "run": number,
    }  # fmt: skip
    command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took_us, radio_us, polls = done.stdout.split()
    return int(took_us) / 1e6, int(radio_us) / 1e6, int(polls)


def measured(program: Path, numbered: tuple[int, Row]) -> Row:
    """Return a row with what ns-3 measures: each value the median of its own runs."""
    place, row = numbered
    numbers = range(RUNS * place + 1, RUNS * (place + 1) + 1)
    awake = [run(program, row, False, number)[0] for number in numbers]
    saving = [run(program, row, True, number) for number in numbers]
    page_s, radio_s, polls = (median(each) for each in zip(*saving, strict=True))
    found = {"awake_s": f"{median(awake):.6f}", "saving_s": f"{page_s:.6f}", "radio_s": f"{radio_s:.6f}"}
    return row | found | {"polls": f"{polls:.0f}"}


def cells() -> Iterable[Row]:
    """Yield the cells, without what is measured."""
    random = Random(15)  # noqa: S311
    pages = [page for page in load_workload("ucb", 900, 23).pages if page.image_bytes][:160]
    for number, page in enumerate(pages):
        objects = "+".join(map(str, (page.main_bytes, *page.image_bytes)))
        yield _cell("page", number // 2, random, objects)
    for number in range(48):
        yield _cell("download", number // 2, random, str(round(10 ** random.uniform(3, 6))))
    for number in range(24):
        sizes = [round(10 ** random.uniform(4, 5.3)) for _ in range(8)]
        yield _cell("heavy", number // 2, random, "+".join(map(str, sizes)))


def _cell(kind: str, setting: int, random: Random, objects: str) -> Row:
    kept = kind != "download" and setting & 1
    return {
        "kind": kind,
        "persistent": str(int(kept)),
        "delayed_ack": str(setting >> 1 & 1),
        "initial_window": str(WINDOWS[setting >> 2 & 3]),
        "phase_ms": f"{random.uniform(1, 102):.1f}",
        "object_bytes": objects,
    }


def compare(program: Path, file: Path) -> None:
    """Print the largest differences from downloads measured in ns-3.48."""
    with file.open() as source:
        rows = list(csv.DictReader(source))
    for saving in ("0", "1"):
        apart = []
        for row in (each for each in rows if each["psm"] == saving):
            cell = row | {"object_bytes": row["size_bytes"], "initial_window": row["iw_segments"]}
            took_s, _, polls = run(program, cell | {"persistent": "0"}, saving == "1", 1)
            apart.append((abs(took_s - float(row["t_last_byte_s"])), int(row["sta_pspoll"]) - polls))
        times, polls_apart = zip(*apart, strict=True)
        apart_ms, more = 1000 * max(times), set(polls_apart)
        print(f"psm {saving}: at most {apart_ms:.3f} ms apart; PS-Polls there beyond those here: {more}")


def main(folder: str, file: str = "") -> None:
    """Measure all cells, or compare with *file*."""
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "peer_air_ns3"
        build(Path(folder), program)
        if file:
            compare(program, Path(file))
            return
        with ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(partial(measured, program), enumerate(cells())))
    with (HERE / "peer_air.csv").open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
