"""Downloads with 802.11b, awake and under power save, compared with ns-3."""

from __future__ import annotations

import csv

import pytest

from psm_sim.workload.page_view import Page
from tests.network.worlds import page_times_s, run_world

SETTINGS = {
    "tcp.stack": "ns3",
    "mac.model": "dcf",
    "beacon.interval_ms": 102.4,
    "access_point.release_on_uplink": False,
    "access_point.buffer_frames": 100_000,
    # The window of a TCP header without scaling, 65,535 B, holds 44 whole segments of 1460 B.
    "tcp.max_window": 44,
    "mac.beacon_bytes": 80,
    "tcp.growth": "ns3",
}


def measure(row, **more):
    """Return the seconds from the SYN to the last byte of the download of a row, and the world."""
    settings = SETTINGS | {"tcp.initial_window": row["iw_segments"]} | more
    settings["tcp.delayed_ack_ms"] = 200.0 if row["delayed_ack"] == "1" else 0.0
    policy = "psm" if row["psm"] == "1" else "always-on"
    page = Page(
        float(row["phase_ms"]) / 1000, int(row["size_bytes"]), (), (int(row["request_bytes"]),), (0.0,)
    )
    world = run_world([page], policy, **settings)
    return page_times_s(world)[0], world


@pytest.fixture(scope="module")
def rows(shared):
    """Return the rows of the file."""
    with (shared / "data" / "peer-timings" / "tcp-downloads-80211b.csv").open() as source:
        return list(csv.DictReader(source))


def test_each_download_time_of_an_awake_station_agrees_with_ns3(rows):
    """The tolerance is 3 % or 3 ms: backoffs are random, and a few collisions are most of the difference."""
    awake = [row for row in rows if row["psm"] == "0"]
    assert len(awake) == 28
    for row in awake:
        peer_s = float(row["t_last_byte_s"])
        assert measure(row)[0] == pytest.approx(peer_s, rel=0.03, abs=0.003), row


def test_each_download_time_under_power_save_agrees_with_ns3(rows):
    """The tolerance is 2 ms, since waiting for beacons evens out the backoffs."""
    dozing = [row for row in rows if row["psm"] == "1"]
    assert len(dozing) == 56
    for row in dozing:
        assert measure(row)[0] == pytest.approx(float(row["t_last_byte_s"]), rel=0, abs=0.002), row
