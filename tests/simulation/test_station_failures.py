"""Faults among several stations: failed pages of each, with their reasons, in every output."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from psm_sim.network import load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.reporting.files import result_csv, result_json
from psm_sim.reporting.terminal import comparison as table
from psm_sim.simulation import Scenario, run_comparison

MEMBERS = (StationSpec("reader", count=2), StationSpec("heavy", trace="modern", pages=1))
REASON = "it has taken longer than 2 s"
FAULTS = {
    "browser.max_page_s": 2, "faults.wireless.loss": 0.02, "faults.wired.loss": 0.02, "beacon.loss": 0.1,
    "faults.restart_every_s": 100,
}  # fmt: skip


def scenario(settings, members=MEMBERS, pages=8):
    place = load_topology("three-node", {"mac.model": "dcf", **settings})
    return Scenario(topology=replace(place, stations=members), pages=pages)


@pytest.fixture(scope="module")
def compared():
    return run_comparison(["psm", "lpsm"], scenario(FAULTS))


def text_of(writer, compared):
    """Return what a writer of reports gives."""
    stream = io.StringIO()
    writer(compared, stream)
    return stream.getvalue()


def test_failed_pages_are_told_of_each_station(compared):
    """In JSON, in rows of stations; nothing is left out where a station has no complete page."""
    runs = json.loads(text_of(result_json.write, compared))["runs"][:2]
    for found in runs:
        by_station = {each["station"]: each["failed_pages"] for each in found["stations"]}
        assert found["failed_pages"] == sum(by_station.values()) == len(found["failures"])
        for name, count in by_station.items():
            mine = [each for each in found["failures"] if each["station"] == name]
            assert len(mine) == count
            assert all(each["reason"] == REASON for each in mine)
    readers, heavy = runs
    assert heavy["failed_pages"] == 1
    assert heavy["stations"][0]["page_time_s.mean"] == heavy["page_time_s"]["mean"] == "nan"
    each_s = [each["page_time_s.mean"] for each in readers["stations"]]
    assert readers["page_time_s"]["mean"] == pytest.approx(sum(each_s) / 2)
    assert readers["distribution"]["slowdown.mean"]["p100"] >= 1


def test_the_table_and_the_csv_say_whose_pages_have_failed(compared):
    text = " ".join(text_of(table.write, compared).split())
    rows = csv.DictReader(io.StringIO(text_of(result_csv.write, compared)))
    for run, row in zip(compared.runs, rows, strict=True):
        counts = {each.keys["station"]: each["failed_pages"] for each in run.parts}
        whose = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        words = f"{run['failed_pages']} x {REASON} ({whose})"
        if run.failures:
            assert f"Failed pages under {run.policy} ({run.station}): {words}." in text
            assert row["failures"] == words
        pages = run.pages
        assert (pages["failure"] == REASON).groupby(pages["station"]).sum().to_dict() == counts


def test_each_station_has_its_own_faults_and_bytes_add_up(compared):
    """Restarts are for all: as many as fit into each station's time."""
    for run, heavy in (compared.runs[:2], compared.runs[2:]):
        assert heavy.station == "heavy"
        for each in (*run.parts, *heavy.parts):
            names = ("client_received", "undelivered", "dropped", "lost")
            accounted = sum(each[f"traffic.{name}_bytes"] for name in names)
            assert each["traffic.server_sent_bytes"] == accounted
        one, other = run.parts[:2]
        assert one["policy_report.beacons missed"] != other["policy_report.beacons missed"]
        assert one["traffic.lost_bytes"] != other["traffic.lost_bytes"]
        ended = sorted(
            (each["simulated_s"], each["policy_report.restarts"]) for each in (*run.parts, *heavy.parts)
        )
        assert [count for _, count in ended] == sorted(count for _, count in ended)
