"""Page times against those measured in ns-3: the difference for each growth rule and order of sending.

    python benchmarks/peer_pages.py

``peer_pages.csv`` has the seconds from the first SYN to the last byte of 52 pages, each loaded alone in
ns-3.44 (its TcpNewReno, segments of 1460 B, initial window 2, no SACK, timestamps or window scaling), on the
path client - (5 Mbit/s, 0.1 ms) - access point - (10 Mbit/s, 20 ms) - server, both hops full duplex, without
loss. The main object comes first, then the others over at most 4 connections, each object asked for with
300 B and answered at once. ``persistent`` 1: a connection is kept for further objects; ``delayed_ack`` 1: an
ACK for every second segment or after 200 ms, 0: for each segment; ``object_bytes``: the main object first.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import make_policy
from psm_sim.workload import Page

MEASURED = Path(__file__).with_suffix(".csv")
COMMON = {
    "tcp.header_bytes": 42,  # ns-3's point-to-point framing adds two bytes to TCP/IP's 40
    "tcp.max_window": 1000,
    "access_point.buffer_frames": 100_000,
}


def page_s(row: dict[str, str], **settings: Any) -> float:
    """Return the time of a row's page, in seconds, without power saving; *settings* are topology keys."""
    keys = COMMON | {"browser.persistent": row["persistent"] == "1"} | settings
    keys["tcp.delayed_ack_ms"] = 200.0 if row["delayed_ack"] == "1" else 0.0
    main, *images = map(int, row["object_bytes"].split("+"))
    count = 1 + len(images)
    world = build_world(load_topology("three-node", keys), make_policy("always-on"))
    run_alone(world, [Page(1.0, main, tuple(images), (300,) * count, (0.0,) * count)])
    visit = world.visits[0][0]
    return visit.ended_s - visit.started_s


def differences(persistent: str, delayed_ack: str, **settings: Any) -> npt.NDArray[np.float64]:
    """Return how much longer each page takes here, as a share of ns-3's time, shape (pages,).

    Parameters
    ----------
    persistent, delayed_ack
        Which pages: ``"0"`` or ``"1"``, as in the columns of these names.
    settings
        Topology keys.
    """
    with MEASURED.open() as source:
        rows = [row for row in csv.DictReader(source) if row["persistent"] == persistent]
    alike = [row for row in rows if row["delayed_ack"] == delayed_ack]
    times_s = [(page_s(row, **settings), float(row["page_s"])) for row in alike]
    return np.array([ours_s / peer_s - 1 for ours_s, peer_s in times_s])


def main() -> None:
    """Print one row per rule, for persistent connections."""
    print(f"{'growth':10}{'first':10}{'delayed':>8}{'mean %':>9}{'worst %':>9}{'within 0.2 %':>14}")
    for growth in ("ns2", "rfc5681", "ns3"):
        for asks_first in (True, False):
            for delayed_ack in ("0", "1"):
                settings = {"tcp.growth": growth, "browser.asks_first": asks_first}
                per_cent = 100 * np.abs(differences("1", delayed_ack, **settings))
                first, share = "request" if asks_first else "SYN", (per_cent < 0.2).mean()
                print(
                    f"{growth:10}{first:10}{delayed_ack:>8}{per_cent.mean():9.3f}{per_cent.max():9.2f}{share:14.2f}"
                )


if __name__ == "__main__":
    main()
