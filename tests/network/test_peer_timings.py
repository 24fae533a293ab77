"""Our TCP against download times measured in ns-3."""

from __future__ import annotations

import csv

import pytest

from psm_sim.network import World, load_topology
from psm_sim.policies import make_policy
from psm_sim.workload.page import Page

HEADER = "42"  # ns-3's point-to-point framing adds two bytes to TCP/IP's 40


def measure(row: dict[str, str], gated: bool) -> float:
    """Load one object on the path of the row, and return the seconds from the SYN to the last byte."""
    settings = {
        "tcp.header_bytes": HEADER,
        "tcp.initial_window": row["iw_segments"],
        "tcp.max_window": "1000",
        "tcp.delayed_ack_ms": row["delack_timer_ms"] if row["delayed_ack"] == "1" else "0",
        "access_point.buffer_frames": "100000",
        "access_point.release_on_uplink": "false",
    }
    world = World(load_topology("three-node", settings), make_policy("psm" if gated else "always-on"))
    think_s = float(row["phase_ms"]) / 1000 if gated else 1.0
    world.run([Page(think_s, int(row["size_bytes"]), (), (int(row["request_bytes"]),), (0.0,))])
    visit = world.visits[0][0]
    return visit.ended_s - visit.started_s


@pytest.mark.parametrize(("file", "gated"), [("tcp-downloads.csv", False), ("tcp-downloads-gated.csv", True)])
def test_download_times_agree_with_ns3(shared, file, gated):
    """Within 0.05 % where ACK policies are the same; within 2 % elsewhere.

    Two causes remain. Ns-3 answers a request with an ACK of its own before the data, 34 us on the wired
    hop. With no request and delayed ACKs it counts the handshake's ACK, so that its first delayed ACK goes
    out a segment earlier.
    """
    with (shared / "data" / "peer-timings" / file).open() as source:
        rows = list(csv.DictReader(source))
    assert len(rows) >= 20
    for row in rows:
        peer_s = float(row["t_last_byte_s"])
        bound = 0.02 if row["delayed_ack"] == "1" and row["request_bytes"] == "0" else 0.0005
        assert measure(row, gated) == pytest.approx(peer_s, rel=bound), row
