"""Uploads over the air against those measured in ns-3's 802.11b, awake and under power save."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from psm_sim.network import build_world, load_topology
from psm_sim.policies import make_policy
from psm_sim.workload.page_view import Page
from tests.network.parts.mac.test_peer_downloads import SETTINGS

FIRST_S = 2.048
"""Time at which the first think time of the pages begins, in seconds: 20 beacons."""
UNNAMED_S = 0.00086
"""Time for which ns-3's radio is awake for a beacon that names no station, in seconds; here it is 0."""


def pages_of(folder, cell):
    """Return the pages of a cell."""
    with (folder / "pages.csv").open() as source:
        rows = [row for row in csv.DictReader(source) if row["cell"] == cell]
    think_s = [float(row["think_s"]) for row in rows]
    think_s[0] += FIRST_S
    return [
        Page(think, int(row["main_bytes"]), (), (int(row["request_bytes"]),), (0.0,))
        for think, row in zip(think_s, rows, strict=True)
    ]


def mean_of_runs(folder, cell, power_save):
    """Return ns-3's mean page time and, under power save, its time awake in pages, in seconds."""
    with (folder / "cells.csv").open() as source:
        runs = [
            row for row in csv.DictReader(source) if row["cell"] == cell and row["power_save"] == power_save
        ]
    assert len(runs) == 8
    page_s = np.mean([float(row["page_time_mean_s"]) for row in runs])
    if power_save == "0":
        return page_s, None
    awake_s = [float(row["awake_s"]) - UNNAMED_S * int(row["beacons_naming_nobody"]) for row in runs]
    return page_s, np.mean(awake_s)


@pytest.mark.parametrize("cell", ["upload-20k-0", "upload-200k-0"])
@pytest.mark.parametrize(("policy", "power_save"), [("always-on", "0"), ("psm", "1")])
def test_an_upload_takes_as_long_as_in_ns3(shared, cell, policy, power_save):
    """Page times within 0.5 % awake and 0.1 % under power save; time awake within 3 %."""
    folder = shared / "data" / "ns3-air"
    peer_page_s, peer_awake_s = mean_of_runs(folder, cell, power_save)
    settings = SETTINGS | {"tcp.initial_window": 2, "tcp.delayed_ack_ms": 200.0, "mac.beacon_bytes": 86}
    world = build_world(load_topology("three-node", settings), make_policy(policy))
    world.run(pages_of(folder, cell))
    page_s = np.mean([visit.ended_s - visit.started_s for visit, _ in world.visits])
    assert page_s == pytest.approx(peer_page_s, rel=0.001 if peer_awake_s else 0.005)
    if peer_awake_s is not None:
        assert world.usage().awake_s == pytest.approx(peer_awake_s, rel=0.03)
