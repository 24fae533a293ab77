"""Several stations on one access point, alone or on a shared channel."""

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
    """Return a topology with stations on a shared channel."""
    return replace(load_topology("three-node", AIR | settings), stations=members)


def of(compared, name, policy=0):
    """Return the result of one station under the first or another policy."""
    size = len(compared.resolved_topology.stations)
    runs = compared.runs[size * policy : size * (policy + 1)]
    return next(part for run in runs for part in run.parts if part.keys["station"] == name)


@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5", "always-on"])
@pytest.mark.parametrize("settings", [{}, AIR, {**AIR, "access_point.release_on_uplink": False}])
def test_a_stations_table_with_one_station_does_not_change_the_results(policy, settings):
    """All results and the number of events are bit-for-bit equal, on links and on a channel."""
    topology = load_topology("three-node", settings)
    alone = run_comparison([policy], Scenario(topology=topology, pages=6)).runs[0]
    (one,) = (
        run_comparison([policy], Scenario(topology=replace(topology, stations=(StationSpec("me"),)), pages=6))
        .runs[0]
        .parts
    )
    assert list(page_rows(one)) == list(page_rows(alone))
    assert {**one.row, "wall_s": 0} == {**alone.row, "wall_s": 0}


def test_each_station_has_its_own_policy_and_trace_and_chip_and_pages_and_seed():
    """Missing keys are those of the run; pages depend on the name of the station, not on its position."""
    topology = crowd(
        StationSpec("reader", count=2),
        StationSpec(
            "sensor", policy="psm:listen_interval=3", trace="mqtt:stretch_s=20", pages=1, profile="esp32-c6"
        ),
        StationSpec("twin", seed=4),
    )
    seats = station_setups(Scenario(pages=5, seed=3), topology)
    assert [seat.name for seat in seats] == ["reader-1", "reader-2", "sensor", "twin"]
    assert [len(seat.workload.pages) for seat in seats] == [5, 5, 1, 5]
    assert seats[3].workload.pages == load_workload("ucb", 5, 4).pages
    assert seats[1].workload.pages != seats[0].workload.pages
    swapped = station_setups(Scenario(pages=5, seed=3), replace(topology, stations=topology.stations[::-1]))
    assert {seat.name: seat.workload.pages for seat in swapped} == {
        seat.name: seat.workload.pages for seat in seats
    }
    comparison = run_comparison(["lpsm"], Scenario(topology=topology, pages=5, seed=3))
    assert of(comparison, "sensor").station_policy == "psm:listen_interval=3"
    assert of(comparison, "reader-1").policy == "lpsm"
    assert "supply_v" in of(comparison, "sensor").row.keys() - of(comparison, "twin").row.keys()
    assert [run["pages"] for run in comparison.runs] == [10, 1, 5]
    assert [(run.policy, run.station, run.station_policy) for run in comparison.runs] == [
        ("lpsm", "reader", ""),
        ("lpsm", "sensor", "psm:listen_interval=3"),
        ("lpsm", "twin", ""),
    ]
    assert [run.parameters.get("listen_interval") for run in comparison.runs] == [None, 3, None]


def test_the_frame_losses_of_a_station_depend_on_its_name_and_not_on_its_position():
    """Stations without traffic only receive beacons, so they do not disturb each other."""
    losses = {"beacon.loss": 0.2, "mac.frame_error_rate": 0.1}
    topology = crowd(StationSpec("near"), StationSpec("far"), **losses)
    swapped = replace(topology, stations=topology.stations[::-1])
    here, there = (
        run_comparison(["psm"], Scenario("idle:stretch_s=310", topology=order, pages=1))
        for order in (topology, swapped)
    )
    used_j = {name: of(here, name).energy_per_page_j for name in ("near", "far")}
    assert used_j == {name: of(there, name).energy_per_page_j for name in ("near", "far")}
    assert used_j["near"] != used_j["far"]


def test_the_error_for_a_station_has_the_names_of_topology_and_station():
    with pytest.raises(InputError, match="topology three-node: station lost: Unknown trace 'nope'"):
        run_comparison(["psm"], Scenario(topology=crowd(StationSpec("lost", trace="nope")), pages=1))


def test_the_timeline_of_one_of_several_stations_agrees_with_the_pages_of_that_station():
    """The run is repeated with an observer; pages end at the same times."""
    average = psm_sim.simulate("lpsm", topology=crowd(StationSpec("one", count=3)), pages=3)
    for result in average.parts:
        events = psm_sim.timeline(result)
        complete = events[events["event"] == "page complete"]["time_s"].tolist()
        assert complete == pytest.approx(
            [record.start_s + record.page_time_s for record in page_rows(result)], rel=1e-12
        )
        first = psm_sim.timeline(result, pages=1)
        assert first["time_s"].max() <= complete[0]


@pytest.mark.parametrize(("fetch", "times"), [("ps-poll", 1.3), ("null", 3.0)])
def test_a_downloading_neighbour_multiplies_the_awake_energy_of_a_dozing_station(fetch, times):
    """Frames wait for the channel after the beacon, or after a null frame for those of the neighbour."""
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
def test_invalid_stations_are_an_error_of_one_sentence(tmp_path, text, message):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_topology(str(tmp_path / "mine.toml"))
    assert "\n" not in str(error.value)


def test_a_page_that_cannot_be_loaded_ends_the_run_of_all_stations():
    """The message names the page and the requested policy."""
    topology = crowd(StationSpec("one", count=2), **{"access_point.release_on_uplink": False})
    with pytest.raises(InputError, match=r"Page 1 under psm:listen_interval=3000 cannot be loaded"):
        run_comparison(["psm:listen_interval=3000"], Scenario(topology=topology, pages=2))


def test_the_key_of_a_scenario_depends_on_the_stations_of_its_topology():
    """A store would otherwise mix results; without stations the key is unchanged."""
    one, two = (Scenario(topology=crowd(StationSpec("a", count=count))).key() for count in (1, 2))
    assert one != two != Scenario(topology=crowd()).key()
    assert load_topology("cafe").stations[1].name == "laptop"
    assert Topology().stations == ()
