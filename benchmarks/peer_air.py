"""Pages and downloads over 802.11b beside those measured in ns-3: times, and time awake under power save.

    python benchmarks/peer_air.py [FOLDER [RUNS]]

``peer_air.csv`` has seconds from the first SYN to the last byte, each loaded alone over the air, by a station
that is awake (``awake_s``) or under static PSM (``saving_s``); for how long of the latter its radio was awake
(``radio_s``), and its PS-Polls. The first SYN leaves ``phase_ms`` after a beacon; objects come as in
``peer_pages.csv``. Each value is the median of five runs of ns-3.44, to which ``peer_air_ns3.py`` adds the
power save of ns-3.48. Here each row has backoffs of its own, and is run once.

FOLDER has ``cells.csv`` and ``pages.csv`` instead: pages of one to three stations, some with frame errors or
uploads. ``peer_air_ns3.py`` makes such files, and others have made some in the same way. Each cell is run
RUNS times here (8), with seeds of its own.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.network.build import bss_of
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.world import WorldGroup
from psm_sim.policies import make_policy
from psm_sim.workload import Page
from psm_sim.workload.messages import NO_MESSAGES

MEASURED = Path(__file__).with_suffix(".csv")
COMMON = {
    "mac.model": "dcf",
    "mac.beacon_bytes": 80,
    "beacon.interval_ms": 102.4,
    "access_point.release_on_uplink": False,
    "access_point.buffer_frames": 100_000,
    # A TCP header without scaling offers 65,535 B, which hold 44 full segments.
    "tcp.max_window": 44,
    "tcp.growth": "ns3",
    "tcp.stack": "ns3",
}

Row = dict[str, str]


def load(row: Row, policy: str, seed: int) -> tuple[float, float]:
    """Return the time of a row's page and how long the radio was awake until then, in seconds.

    Parameters
    ----------
    row
        A row of the file.
    policy
        What the station does.
    seed
        Of the backoffs.
    """
    keys = COMMON | {"browser.persistent": row["persistent"] == "1"}
    keys |= {"tcp.initial_window": row["initial_window"]}
    keys["tcp.delayed_ack_ms"] = 200.0 if row["delayed_ack"] == "1" else 0.0
    main, *images = map(int, row["object_bytes"].split("+"))
    count = 1 + len(images)
    world = build_world(replace(load_topology("three-node", keys), seed=seed), make_policy(policy))
    think_s = float(row["phase_ms"]) / 1000
    run_alone(world, [Page(think_s, main, tuple(images), (300,) * count, (0.0,) * count)])
    visit, usage = world.visits[0]
    return visit.ended_s - visit.started_s, usage.awake_s


def pairs(numbered: tuple[int, Row]) -> list[float]:
    """Return page time awake, page time saving and time awake, in seconds, each with ns-3's after it."""
    number, row = numbered
    awake_s, _ = load(row, "always-on", number)
    saving_s, radio_s = load(row, "psm", number)
    theirs = [float(row[name]) for name in ("awake_s", "saving_s", "radio_s")]
    return [value for pair in zip((awake_s, saving_s, radio_s), theirs, strict=True) for value in pair]


def summary(values: npt.NDArray[np.float64]) -> str:
    """Return by how much the sums of each differ, and rows in the mean and at most, in per cent."""
    cells = []
    for ours, theirs in (values[:, each : each + 2].T for each in (0, 2, 4)):
        apart = 100 * np.abs(ours / theirs - 1)
        sums = 100 * (ours.sum() / theirs.sum() - 1)
        cells.append(f"{sums:+8.2f}{apart.mean():7.2f}{apart.max():7.2f}")
    return "".join(cells)


FIRST_S = 2.048
"""When the first think time of a cell begins, in seconds: after 20 beacons."""
EARLY_BEACONS = 10
"""Beacons before ``FIRST_S`` that cells.csv counts under power save, which begins at 1 s."""


class Cell(NamedTuple):
    """A cell of ns-3: its rows awake and under power save, and the pages of each station."""

    awake: Sequence[Row]
    saving: Sequence[Row]
    pages: Sequence[Sequence[Page]]

    @property
    def topology(self) -> dict[str, Any]:
        """Its settings. Its beacons have no TIM and a network name of nine letters."""
        row = self.awake[0]
        keys = COMMON | {"tcp.initial_window": 2, "tcp.delayed_ack_ms": 200.0}
        if row["standard"] == "g":
            keys |= {"mac.standard": "802.11g", "mac.beacon_bytes": 93}
        if float(row["frame_error_rate"]):
            keys |= {"mac.frame_error_rate": row["frame_error_rate"], "station.missed_beacon": "stay-awake"}
        return keys


def read_cells(folder: Path) -> dict[str, Cell]:
    """Return the cells in *folder*, by name."""
    tables = []
    for name in ("cells.csv", "pages.csv"):
        with (folder / name).open() as source:
            tables.append(list(csv.DictReader(source)))
    runs, pages = tables
    cells = {}
    for name in dict.fromkeys(row["cell"] for row in runs):
        own = [row for row in runs if row["cell"] == name]
        awake, saving = ([row for row in own if row["power_save"] == each] for each in "01")
        cells[name] = Cell(awake, saving, pages_of([row for row in pages if row["cell"] == name]))
    return cells


def pages_of(rows: Sequence[Row]) -> list[list[Page]]:
    """Return the pages of each station of a cell."""
    stations: dict[str, list[Page]] = {}
    for row in rows:
        own = stations.setdefault(row["station"], [])
        images = tuple(int(size) for size in row["images"].split(";") if size)
        count = 1 + len(images)
        think_s = float(row["think_s"]) + (0.0 if own else FIRST_S)
        requests = (int(row["request_bytes"]),) * count
        own.append(Page(think_s, int(row["main_bytes"]), images, requests, (0.0,) * count))
    return list(stations.values())


def load_cell(cell: Cell, policy: str, seed: int) -> tuple[float, float]:
    """Return the mean page time of a cell and the mean time awake of its stations, in seconds."""
    topology = replace(load_topology("three-node", cell.topology), seed=seed)
    shared = bss_of(topology)
    worlds = [build_world(topology, make_policy(policy), (), shared) for _ in cell.pages]
    awake_s: list[float] = []
    WorldGroup(worlds).run(
        cell.pages,
        [NO_MESSAGES] * len(worlds),
        lambda number: awake_s.append(worlds[number].usage().awake_s),
    )
    visits = [visit for world in worlds for visit, _ in world.visits]
    return float(np.mean([visit.ended_s - visit.started_s for visit in visits])), float(np.mean(awake_s))


def measured_cell(cell: Cell) -> npt.NDArray[np.float64]:
    """Return page time awake, page time saving and time awake in ns-3, in seconds, shape (runs, 3).

    A beacon that names nobody takes no time here, so its time in ns-3 is subtracted.
    """
    timing = FrameTiming(load_topology("three-node", cell.topology).mac)
    unnamed_s = timing.pifs_s + timing.beacon_s
    rows = []
    for awake, saving in zip(cell.awake, cell.saving, strict=True):
        unnamed = float(saving["beacons_naming_nobody"]) - EARLY_BEACONS
        pages_s = (float(row["page_time_mean_s"]) for row in (awake, saving))
        rows.append([*pages_s, float(saving["awake_s"]) - unnamed_s * unnamed])
    return np.array(rows)


def simulated_cell(cell: Cell, runs: int) -> npt.NDArray[np.float64]:
    """Return the values of :func:`measured_cell` in each run here, shape (runs, 3).

    Beacons that are missed depend on the seed alone. With seeds of their own, the cells miss different ones.
    """
    first = crc32(cell.awake[0]["cell"].encode())
    rows = []
    for seed in range(first, first + runs):
        awake_s, _ = load_cell(cell, "always-on", seed)
        rows.append([awake_s, *load_cell(cell, "psm", seed)])
    return np.array(rows)


def mean_and_variance(
    rows: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the means of independent runs, and the variances of these means."""
    return rows.mean(axis=0), rows.var(axis=0, ddof=1) / len(rows)


def show_cells(folder: Path, runs: int) -> None:
    """Print each cell: ours, ns-3's and the difference in per cent, with its standard error."""
    print(f"{'':20}{'awake: page, s':>30}{'power save: page, s':>30}{'power save: awake, s':>30}")
    print(f"{'':20}" + f"{'here':>8}{'ns-3':>8}{'%':>7}{'+-':>7}" * 3)
    for name, cell in read_cells(folder).items():
        ours, theirs = simulated_cell(cell, runs), measured_cell(cell)
        (means, own), (peer, other) = mean_and_variance(ours), mean_and_variance(theirs)
        errors = np.sqrt(own + other)
        columns = zip(means, peer, 100 * (means / peer - 1), 100 * errors / peer, strict=True)
        print(f"{name:20}" + "".join(f"{a:8.4g}{b:8.4g}{c:+7.2f}{d:7.2f}" for a, b, c, d in columns))


def main() -> None:
    """Print one row for each group of rows, or for each cell of a folder."""
    if len(sys.argv) > 1:
        show_cells(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8)
        return
    with MEASURED.open() as source:
        rows = list(enumerate(csv.DictReader(source)))
    values = np.array([pairs(each) for each in rows])
    print(f"{'':31}{'awake, %':>22}{'power save, %':>22}{'radio awake, %':>22}")
    print(f"{'':25}{'rows':>6}" + f"{'sum':>8}{'mean':>7}{'worst':>7}" * 3)
    kinds = np.array([row["kind"] for _, row in rows])
    odd = np.arange(len(rows)) % 2
    for kind in ("page", "download", "heavy"):
        for parity, name in enumerate(("even", "odd")):
            show(f"{kind}, {name}", values[(kinds == kind) & (odd == parity)])
    for column in ("persistent", "delayed_ack", "initial_window"):
        texts = np.array([row[column] for _, row in rows])
        for text in sorted(set(texts), key=int):
            show(f"page, {column} {text}", values[(kinds == "page") & (texts == text)])


def show(name: str, values: npt.NDArray[np.float64]) -> None:
    """Print one row."""
    print(f"{name:25}{len(values):6}{summary(values)}")


if __name__ == "__main__":
    main()
