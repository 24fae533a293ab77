"""Faults with several stations: each has its own, and bytes are conserved."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.network import load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation import Scenario, run_comparison
from tests.page_rows import check_bytes_are_conserved

MEMBERS = (StationSpec("reader", count=2), StationSpec("heavy", trace="modern", pages=1))
FAULTS = {
    "browser.max_page_s": 2, "faults.wireless.loss": 0.02, "faults.wired.loss": 0.02, "beacon.loss": 0.1,
    "faults.restart_every_s": 100,
}  # fmt: skip


def test_each_station_has_its_own_faults_and_bytes_are_conserved():
    """Restarts are common; each station has those within its time."""
    topology = replace(load_topology("three-node", {"mac.model": "dcf", **FAULTS}), stations=MEMBERS)
    compared = run_comparison(["psm", "lpsm"], Scenario(topology=topology, pages=8))
    for run, heavy in (compared.runs[:2], compared.runs[2:]):
        assert heavy.station == "heavy"
        for result in (*run.parts, *heavy.parts):
            check_bytes_are_conserved(result)
        one, other = run.parts[:2]
        assert one["policy_report.beacons missed"] != other["policy_report.beacons missed"]
        assert one["traffic.lost_bytes"] != other["traffic.lost_bytes"]
        ended = sorted(
            (result["simulated_s"], result["policy_report.restarts"]) for result in (*run.parts, *heavy.parts)
        )
        assert [count for _, count in ended] == sorted(count for _, count in ended)
