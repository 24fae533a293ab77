"""Several stations on one access point: one is as ever, and those that share the air cost each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

import psm_sim
from psm_sim.common.errors import InputError
from psm_sim.network import Topology, load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.simulation.run import station_setups
from psm_sim.workload import load_workload
from tests.page_rows import page_rows

AIR = {"mac.model": "dcf", "beacon.interval_ms": 102.4, "tcp.max_window": 44}


def crowd(*members, **settings):
    """Return a topology with some stations on one air."""
    return replace(load_topology("three-node", AIR | settings), stations=members)


def of(compared, name, policy=0):
    """Return the result of one station under the first or another policy."""
    size = len(compared.resolved_topology.stations)
    found = compared.runs[size * policy : size * (policy + 1)]
    return next(part for run in found for part in run.parts if part.keys["station"] == name)


@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5", "always-on"])
@pytest.mark.parametrize("settings", [{}, AIR, {**AIR, "access_point.release_on_uplink": False}])
def test_one_station_has_the_results_of_one_alone_to_the_last_bit(policy, settings):
    """Over a link of its own and over the air: pages, energy, slowdown, traffic, reports, events."""
    place = load_topology("three-node", settings)
    alone = run_comparison([policy], Scenario(topology=place, pages=6)).runs[0]
    (one,) = (
        run_comparison([policy], Scenario(topology=replace(place, stations=(StationSpec("me"),)), pages=6))
        .runs[0]
        .parts
    )
    assert list(page_rows(one)) == list(page_rows(alone))
    assert {**one.row, "wall_s": 0} == {**alone.row, "wall_s": 0}


def test_each_station_has_its_own_policy_trace_chip_pages_and_seed():
    """What it leaves out is what the run is asked for; its pages depend on its name, not on its place."""
    place = crowd(
        StationSpec("reader", count=2),
        StationSpec(
            "sensor", policy="psm:listen_interval=3", trace="mqtt:stretch_s=20", pages=1, profile="esp32-c6"
        ),
        StationSpec("twin", seed=4),
    )
    seats = station_setups(Scenario(pages=5, seed=3), place)
    assert [seat.name for seat in seats] == ["reader-1", "reader-2", "sensor", "twin"]
    assert [len(seat.workload.pages) for seat in seats] == [5, 5, 1, 5]
    assert seats[3].workload.pages == load_workload("ucb", 5, 4).pages
    assert seats[1].workload.pages != seats[0].workload.pages
    swapped = station_setups(Scenario(pages=5, seed=3), replace(place, stations=place.stations[::-1]))
    assert {seat.name: seat.workload.pages for seat in swapped} == {
        seat.name: seat.workload.pages for seat in seats
    }
    found = run_comparison(["lpsm"], Scenario(topology=place, pages=5, seed=3))
    assert of(found, "sensor").station_policy == "psm:listen_interval=3"
    assert of(found, "reader-1").policy == "lpsm"
    assert "supply_v" in of(found, "sensor").row.keys() - of(found, "twin").row.keys()
    assert [run["pages"] for run in found.runs] == [10, 1, 5]
    assert [(run.policy, run.station, run.station_policy) for run in found.runs] == [
        ("lpsm", "reader", ""),
        ("lpsm", "sensor", "psm:listen_interval=3"),
        ("lpsm", "twin", ""),
    ]
    assert [run.parameters.get("listen_interval") for run in found.runs] == [None, 3, None]


def test_losses_of_a_station_depend_on_its_name_and_not_on_its_place():
    """Stations without traffic only receive beacons, so they do not disturb each other."""
    losses = {"beacon.loss": 0.2, "mac.frame_error_rate": 0.1}
    place = crowd(StationSpec("near"), StationSpec("far"), **losses)
    swapped = replace(place, stations=place.stations[::-1])
    here, there = (
        run_comparison(["psm"], Scenario("idle:stretch_s=310", topology=each, pages=1))
        for each in (place, swapped)
    )
    used_j = {name: of(here, name).energy_per_page_j for name in ("near", "far")}
    assert used_j == {name: of(there, name).energy_per_page_j for name in ("near", "far")}
    assert used_j["near"] != used_j["far"]


def test_an_error_in_a_station_names_topology_and_station():
    with pytest.raises(InputError, match="topology three-node: station lost: Unknown trace 'nope'"):
        run_comparison(["psm"], Scenario(topology=crowd(StationSpec("lost", trace="nope")), pages=1))


def test_a_station_can_be_watched_among_the_others():
    """The run is made once more: its pages are complete at the same times, to the last bit."""
    found = psm_sim.simulate("lpsm", topology=crowd(StationSpec("one", count=3)), pages=3)
    for result in found.parts:
        events = psm_sim.timeline(result)
        complete = events[events["event"] == "page complete"]["time_s"].tolist()
        assert complete == pytest.approx(
            [record.start_s + record.page_time_s for record in page_rows(result)], rel=1e-12
        )
        first = psm_sim.timeline(result, pages=1)
        assert first["time_s"].max() <= complete[0]


@pytest.mark.parametrize(("fetch", "times"), [("ps-poll", 1.3), ("null", 3.0)])
def test_a_neighbour_that_downloads_costs_a_dozing_station_several_times_its_waking_energy(fetch, times):
    """After the beacon its frames wait for the air, or, fetched by a null frame, behind the neighbour's."""
    reader = StationSpec("reader", trace="ucb:max_think_s=15", pages=4)
    load = "bulk:stretch_s=40,download.period_s=2.5"
    loader = StationSpec("loader", policy="always-on", trace=load, pages=1, seed=1)
    settings = {"mac.fetch": fetch, "access_point.release_on_uplink": False}
    awake_j = [
        of(run_comparison(["psm"], Scenario(topology=crowd(*members, **settings))), "reader")["usage.awake_j"]
        for members in ((reader,), (reader, loader))
    ]
    assert awake_j[1] > times * awake_j[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stations = 3\n", "stations must be declared as \\[\\[stations\\]\\] tables, got 3"),
        ("[[stations]]\ncount = 2\n", "name must be a non-empty string, got None"),
        (
            '[[stations]]\nname = "a"\ncount = 0\n',
            "stations: station a: count must be an integer >= 1 .* got 0",
        ),
        ('[[stations]]\nname = "a"\npolicy = 3\n', "stations: policy must be a string, got 3"),
        ('[[stations]]\nname = "a"\n[[stations]]\nname = "a"\n', "duplicate name 'a'"),
        ('[[stations]]\nname = "a"\ncount = 2\n', "2 stations require a shared channel; set mac.model=dcf"),
    ],
)
def test_stations_that_cannot_be_are_refused_in_one_sentence(tmp_path, text, message):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_topology(str(tmp_path / "mine.toml"))
    assert "\n" not in str(error.value)


def test_a_page_of_a_station_that_cannot_be_loaded_ends_the_run_with_a_sentence():
    """It names the page and the policy that was asked for."""
    place = crowd(StationSpec("one", count=2), **{"access_point.release_on_uplink": False})
    with pytest.raises(InputError, match=r"Page 1 under psm:listen_interval=3000 cannot be loaded"):
        run_comparison(["psm:listen_interval=3000"], Scenario(topology=place, pages=2))


def test_stations_are_part_of_a_scenarios_key_and_a_file_extends_them():
    """Else a store would mix results; a topology without stations has the key that it had."""
    one, two = (Scenario(topology=crowd(StationSpec("a", count=count))).key() for count in (1, 2))
    assert one != two != Scenario(topology=crowd()).key()
    assert load_topology("cafe").stations[1].name == "laptop"
    assert Topology().stations == ()
