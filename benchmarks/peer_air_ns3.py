"""Measure pages and downloads over 802.11 in ns-3, and write ``peer_air.csv`` or cells of stations.

    python benchmarks/peer_air_ns3.py FOLDER [MEASURED]
    python benchmarks/peer_air_ns3.py FOLDER cells RESULTS [RUNS [SEED]]

FOLDER is the package ``ns3`` of the wheel ns3 3.44.post0, as pip puts it into ``site-packages``; g++ builds
``peer_air_ns3.cc`` with its headers and libraries. Neither is needed by psm_sim. With MEASURED, a file of
downloads measured in ns-3.48, nothing is written: the largest differences from these are printed.

Each value is the median of five runs of ns-3, with backoffs of their own. Cells: 160 pages of ``ucb`` with
several objects, of its pages with seed 23 in order, ten for each of 16 settings; 48 downloads; 24 pages of
eight objects each, 10 to 200 kB. Neighbouring rows, an even and an odd one, have the same settings.

The second command writes ``cells.csv`` and ``pages.csv`` into the folder RESULTS, for ``peer_air.py``: one to
three stations with frame errors, 802.11g or uploads, each cell run RUNS times (8). SEED is that of the pages
and of the first run (1). Think times are uniform and sizes log-uniform.
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
from statistics import fmean, median

from psm_sim.workload import load_workload

HERE = Path(__file__).resolve().parent
RUNS = 5
WINDOWS = (1, 2, 4, 10)
LIBRARIES = (
    "core network internet mobility point-to-point traffic-control wifi propagation spectrum stats antenna"
    " bridge config-store"
)

Row = dict[str, str]


def build(folder: Path, program: Path, source: str = "peer_air_ns3.cc") -> None:
    """Compile a C++ *source* into *program* with the wheel in *folder*, whose access rules are in its way."""
    libraries = folder / "lib64"
    version = next(libraries.glob("libns3*-core.so")).name.removeprefix("lib").removesuffix("-core.so")
    names = [f"-l{version}-{name}" for name in LIBRARIES.split()]
    flags = ["-std=c++20", "-O1", "-w", "-fno-access-control", "-rdynamic", f"-I{folder / 'include'}"]
    links = [f"-L{libraries}", *names, f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined", "-ldl"]
    command = ["g++", *flags, str(HERE / source), "-o", str(program), *links]
    subprocess.run(command, check=True)


def run(program: Path, row: Row, saving: bool, number: int) -> tuple[float, float, int]:
    """Return seconds of a row's page, seconds with the radio awake, and PS-Polls, in one run of ns-3."""
    think_s = float(row["phase_ms"]) / 1000
    options = {
        "pages": f"{think_s:.7f},{row['object_bytes']}", "window": row["initial_window"],
        "delayed": row["delayed_ack"], "persistent": row["persistent"], "saving": int(saving), "run": number,
    }  # fmt: skip
    ((_, took_us, radio_us, _, _, polls, _),) = start(program, options)
    return took_us / 1e6, radio_us / 1e6, polls


def start(program: Path, options: dict[str, object]) -> list[list[int]]:
    """Return the rows that a run prints, one for each page."""
    command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [[int(value) for value in line.split()] for line in done.stdout.splitlines()]


def measured(program: Path, numbered: tuple[int, Row]) -> Row:
    """Return a row with what ns-3 measures: each value the median of its own runs."""
    index, row = numbered
    numbers = range(RUNS * index + 1, RUNS * (index + 1) + 1)
    awake = [run(program, row, False, number)[0] for number in numbers]
    saving = [run(program, row, True, number) for number in numbers]
    page_s, radio_s, polls = (median(each) for each in zip(*saving, strict=True))
    times = {"awake_s": f"{median(awake):.6f}", "saving_s": f"{page_s:.6f}", "radio_s": f"{radio_s:.6f}"}
    return row | times | {"polls": f"{polls:.0f}"}


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
    is_persistent = kind != "download" and setting & 1
    return {
        "kind": kind,
        "persistent": str(int(is_persistent)),
        "delayed_ack": str(setting >> 1 & 1),
        "initial_window": str(WINDOWS[setting >> 2 & 3]),
        "phase_ms": f"{random.uniform(1, 102):.1f}",
        "object_bytes": objects,
    }


CELLS = (
    "b-0", "b-0.001", "b-0.01", "b-0.05", "g54-0", "g54-0.01", "upload-20k-0", "upload-200k-0",
    "upload-20k-0.01", "three-stations-0", "three-stations-0.01",
)  # fmt: skip
"""Cells of stations, each with its frame error rate at the end of its name."""
UPLOADS = {"20k": 30, "200k": 12}
"""Number of pages for each size of requests in bytes."""


def draw_pages(cell: str, random: Random) -> list[Row]:
    """Return the pages of the stations of a cell, drawn anew."""
    upload = cell.split("-")[1] if cell.startswith("upload") else None
    stations = 3 if cell.startswith("three") else 1
    count = UPLOADS[upload] if upload else 60 // stations

    def size() -> int:
        return 200 if upload else round(10 ** random.uniform(3, 4.6))

    return [
        {
            "cell": cell,
            "station": str(station),
            "page": str(page + 1),
            "think_s": f"{random.uniform(0.3, 3):.7f}",
            "main_bytes": str(size()),
            "images": ";".join(str(size()) for _ in range(0 if upload else random.randint(0, 6))),
            "request_bytes": upload.replace("k", "000") if upload else "300",
        }
        for station in range(stations)
        for page in range(count)
    ]


def objects_of(page: Row) -> str:
    """Return the bytes of the objects of a page, joined by +."""
    return "+".join([page["main_bytes"], *filter(None, page["images"].split(";"))])


def measured_run(program: Path, pages: list[Row], saving: bool, number: int) -> Row:
    """Return the row of one run of a cell with these pages."""
    cell, stations = pages[0]["cell"], dict.fromkeys(row["station"] for row in pages)
    plans = [
        ",".join(f"{row['think_s']},{objects_of(row)}" for row in pages if row["station"] == station)
        for station in stations
    ]
    fixed = {
        "standard": "g" if cell.startswith("g") else "b",
        "frame_error_rate": cell.rpartition("-")[2],
        "request_bytes": pages[0]["request_bytes"],
    }
    options = {
        "pages": "/".join(plans), "standard": fixed["standard"], "errors": fixed["frame_error_rate"],
        "request": fixed["request_bytes"], "delayed": 1, "saving": int(saving), "run": number,
    }  # fmt: skip
    rows = start(program, options)
    last = {row[0]: row for row in rows}.values()
    columns = {"power_save": str(int(saving)), "run": str(number)}
    columns["page_time_mean_s"] = f"{fmean(row[1] for row in rows) / 1e6:.6f}"
    columns["awake_s"] = f"{fmean(row[3] for row in last) / 1e6:.6f}"
    names = ("beacons_naming_nobody", "ps_polls", "ps_polls_unanswered")
    counts = {name: f"{fmean(row[4 + index] for row in last):g}" for index, name in enumerate(names)}
    return {"cell": cell, **fixed, "stations": str(len(stations)), **columns, **counts}


def measure_cells(program: Path, results: Path, runs: int, seed: int) -> None:
    """Measure all cells of stations, and write their files into *results*."""
    random = Random(seed)  # noqa: S311
    pages = [draw_pages(cell, random) for cell in CELLS]
    jobs = [(own, saving, seed + run) for own in pages for saving in (False, True) for run in range(runs)]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda job: measured_run(program, *job), jobs))
    results.mkdir(parents=True, exist_ok=True)
    _write(results / "cells.csv", rows)
    _write(results / "pages.csv", [row for own in pages for row in own])


def _write(file: Path, rows: list[Row]) -> None:
    with file.open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


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


def main(folder: str, file: str = "", results: str = "", runs: str = "8", seed: str = "1") -> None:
    """Measure all rows, or the cells of stations, or compare with *file*."""
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary) / "peer_air_ns3"
        build(Path(folder), program)
        if file == "cells":
            measure_cells(program, Path(results), int(runs), int(seed))
            return
        if file:
            compare(program, Path(file))
            return
        with ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(partial(measured, program), enumerate(cells())))
    _write(HERE / "peer_air.csv", rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
