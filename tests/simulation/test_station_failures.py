"""Faults with several stations: each has its own, and bytes are conserved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psm_sim.network import load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation import Scenario, run_comparison

MEMBERS = (StationSpec("reader", count=2), StationSpec("heavy", trace="modern", pages=1))
FAULTS = {
    "browser.max_page_s": 2, "faults.wireless.loss": 0.02, "faults.wired.loss": 0.02, "beacon.loss": 0.1,
    "faults.restart_every_s": 100,
}  # fmt: skip


def scenario(settings, members=MEMBERS, pages=8):
    topology = load_topology("three-node", {"mac.model": "dcf", **settings})
    return Scenario(topology=replace(topology, stations=members), pages=pages)


@pytest.fixture(scope="module")
def compared():
    return run_comparison(["psm", "lpsm"], scenario(FAULTS))


def test_each_station_has_its_own_faults_and_bytes_are_conserved(compared):
    """Restarts are common; each station has those within its time."""
    for run, heavy in (compared.runs[:2], compared.runs[2:]):
        assert heavy.station == "heavy"
        for result in (*run.parts, *heavy.parts):
            names = ("client_received", "undelivered", "dropped", "lost")
            accounted = sum(result[f"traffic.{name}_bytes"] for name in names)
            assert result["traffic.server_sent_bytes"] == accounted
        one, other = run.parts[:2]
        assert one["policy_report.beacons missed"] != other["policy_report.beacons missed"]
        assert one["traffic.lost_bytes"] != other["traffic.lost_bytes"]
        ended = sorted(
            (result["simulated_s"], result["policy_report.restarts"]) for result in (*run.parts, *heavy.parts)
        )
        assert [count for _, count in ended] == sorted(count for _, count in ended)
