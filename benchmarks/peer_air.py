"""Pages and downloads over 802.11b beside those measured in ns-3: times, and time awake under power save.

    python benchmarks/peer_air.py

``peer_air.csv`` has seconds from the first SYN to the last byte, each loaded alone over the air, by a station
that is awake (``awake_s``) or under static PSM (``saving_s``); for how long of the latter its radio was awake
(``radio_s``), and its PS-Polls. The first SYN leaves ``phase_ms`` after a beacon; objects come as in
``peer_pages.csv``. Each value is the median of five runs of ns-3.44, to which ``peer_air_ns3.py`` adds the
power save of ns-3.48. Here each row has backoffs of its own, and is run once.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

from psm_sim.network import build_world, load_topology
from psm_sim.policies import make_policy
from psm_sim.workload import Page

MEASURED = Path(__file__).with_suffix(".csv")
COMMON = {
    "mac.model": "dcf",
    "mac.beacon_bytes": 80,
    "beacon.interval_tu": 100,
    "access_point.release_on_uplink": False,
    "access_point.buffer_frames": 100_000,
    # A TCP header without scaling offers 65,535 B.
    "tcp.max_window": 44,
    "tcp.spare_window_bytes": 1295,
    "tcp.growth": "ns3",
    "tcp.ack_first": True,
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
    keys = COMMON | {"mac.seed": seed, "browser.persistent": row["persistent"] == "1"}
    keys |= {"tcp.initial_window": row["initial_window"]}
    keys["tcp.delayed_ack_ms"] = 200.0 if row["delayed_ack"] == "1" else 0.0
    main, *images = map(int, row["object_bytes"].split("+"))
    count = 1 + len(images)
    world = build_world(load_topology("three-node", keys), make_policy(policy))
    think_s = float(row["phase_ms"]) / 1000
    world.run([Page(think_s, main, tuple(images), (300,) * count, (0.0,) * count)])
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


def main() -> None:
    """Print one row for each group of cells."""
    with MEASURED.open() as source:
        rows = list(enumerate(csv.DictReader(source)))
    values = np.array([pairs(each) for each in rows])
    print(f"{'':31}{'awake, %':>22}{'power save, %':>22}{'radio awake, %':>22}")
    print(f"{'':25}{'rows':>6}" + f"{'sum':>8}{'mean':>7}{'worst':>7}" * 3)
    kinds = np.array([row["kind"] for _, row in rows])
    odd = np.arange(len(rows)) % 2
    for kind in ("page", "download", "heavy"):
        for place, name in enumerate(("even", "odd")):
            show(f"{kind}, {name}", values[(kinds == kind) & (odd == place)])
    for column in ("persistent", "delayed_ack", "initial_window"):
        texts = np.array([row[column] for _, row in rows])
        for text in sorted(set(texts), key=int):
            show(f"page, {column} {text}", values[(kinds == "page") & (texts == text)])


def show(name: str, values: npt.NDArray[np.float64]) -> None:
    """Print one row."""
    print(f"{name:25}{len(values):6}{summary(values)}")


if __name__ == "__main__":
    main()
