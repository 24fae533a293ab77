"""Rows of different kinds of stations: means within a kind, and intervals over seeds."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.network import Topology, load_topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.reporting.files import result_csv, result_json
from psm_sim.simulation import BASELINES, Comparison, References, Scenario, run_comparison
from psm_sim.simulation.table import MEASURES

MEMBERS = (
    StationSpec("reader", count=2),
    StationSpec("laptop", policy="always-on", trace="phone", pages=1),
)
ROWS = [
    ("always-on", "reader"),
    ("always-on", "laptop"),
    ("psm", "reader"),
    ("psm", "laptop"),
    ("bsd", "reader"),
    ("bsd", "laptop"),
]
T_3 = 4.302653
"""Student's 97.5 % quantile for three values, at two degrees of freedom."""


def shared(*members: StationSpec) -> Topology:
    """Return a topology whose stations share a channel."""
    return replace(load_topology("three-node", {"mac.model": "dcf"}), stations=members)


def compared(seed: int = 1, replications: int = 1) -> Comparison:
    """Return BSD and the baselines with two readers and a laptop."""
    scenario = Scenario(topology=shared(*MEMBERS), pages=2, seed=seed)
    references = References(BASELINES, BASELINES[1:])
    return run_comparison(["bsd"], scenario, replications, workers=1, references=references)


@pytest.fixture(scope="module")
def single() -> Comparison:
    """Return a comparison with one seed."""
    return compared()


@pytest.fixture(scope="module")
def three() -> Comparison:
    """Return a comparison with three seeds."""
    return compared(replications=3)


def json_of(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON output of a comparison."""
    stream = io.StringIO()
    result_json.write(comparison, stream)
    return dict(json.loads(stream.getvalue()))


def rows_of(writer: Any, comparison: Comparison) -> list[dict[str, str]]:
    """Return the rows of a CSV output."""
    stream = io.StringIO()
    writer(comparison, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


def test_each_row_has_the_means_over_the_stations_of_one_kind(single: Comparison) -> None:
    """The reference is the sum over the pages of both readers, and of the laptop."""
    assert [(run.policy, run.station) for run in single.shown] == ROWS
    pages = rows_of(result_csv.write_pages, single)
    by_station: dict[str, list[dict[str, str]]] = {}
    for row in pages:
        by_station.setdefault(row["station"], []).append(row)
    assert {name: len(rows) for name, rows in by_station.items()} == {
        "reader-1": 2,
        "reader-2": 2,
        "laptop": 1,
    }
    readers, laptop = json_of(single)["runs"]
    for column, find in (
        ("energy_j", lambda run: run["energy_per_page_j"]),
        ("page_time_s", lambda run: run["page_time_s"]["mean"]),
        ("slowdown", lambda run: run["slowdown"]["mean"]),
    ):
        means = {name: np.mean([float(row[column]) for row in rows]) for name, rows in by_station.items()}
        assert find(readers) == pytest.approx((means["reader-1"] + means["reader-2"]) / 2, rel=1e-12)
        assert find(laptop) == pytest.approx(means["laptop"], rel=1e-12)
    assert 10 * readers["energy_per_page_j"] < laptop["energy_per_page_j"]


def test_student_intervals_are_computed_over_one_result_per_seed(three: Comparison) -> None:
    """A row of three seeds has the values of three runs with one seed each."""
    alone = [json_of(compared(seed))["runs"] for seed in (1, 2, 3)]
    for number, run in enumerate(json_of(three)["runs"]):
        assert [row["seed"] for row in run["seeds"]] == ["1", "2", "3"]
        for name in MEASURES:
            values = [row[name] for row in run["seeds"]]
            outer, _, inner = name.partition(".")
            expected = [runs[number][outer] for runs in alone]
            assert values == [value[inner] if inner else value for value in expected]
            half = T_3 * np.std(values, ddof=1) / 3**0.5
            assert run["half_width_95"][name] == pytest.approx(half, rel=1e-6, abs=1e-12)
    assert json_of(three)["pages"] == 5
    assert str(three).splitlines()[1].count("±") == 4
    assert "the mean over 3 seeds" in str(three)
    assert "seeds 1 to 3" in str(three)


def test_replications_of_stations_have_no_pages_in_common(three: Comparison) -> None:
    """The seeds would otherwise not be independent."""
    pages = [block.pages["think_s"][0] for block in three.runs[0].blocks]
    assert len(set(pages)) == len(pages) == 6


def test_the_command_writes_all_outputs_for_several_seeds(tmp_path: Path) -> None:
    """The timelines are those of the first station with the first seed."""
    words = ["--topology", "cafe", "--pages", "1", "--policy", "psm", "--replications", "2"]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "figures" / "page-timeline.svg").exists()
    record = json.loads((tmp_path / "out" / "metadata.json").read_text())
    assert [run["station"] for run in record["runs"]] == ["reader", "laptop"]


def test_simulate_rejects_different_kinds_of_stations() -> None:
    """A single result cannot describe both kinds."""
    with pytest.raises(InputError, match=r"different stations \(reader, laptop\).*use compare"):
        psm_sim.simulate("psm", topology="cafe", pages=1)
    alike = psm_sim.simulate("psm", topology=shared(MEMBERS[0]), pages=1)
    assert (alike.station, alike.label) == ("reader", "psm (reader)")


def test_a_comparison_of_different_kinds_of_stations_has_no_single_reference(single: Comparison) -> None:
    with pytest.raises(InputError, match="Use always_on_runs, because each of the stations reader, laptop"):
        _ = single.always_on
    for run in single.shown:
        reference = single.reference_of(run)
        assert reference is not None
        assert (reference.policy, reference.station) == ("psm", run.station)


def test_replications_need_pages_that_depend_on_the_seed() -> None:
    fixed = shared(StationSpec("one", seed=3), StationSpec("two", seed=4))
    with pytest.raises(InputError, match="pages are the same for every seed"):
        run_comparison(["psm"], Scenario(topology=fixed, pages=1), 2, workers=1)


def test_the_timeline_of_the_always_on_run_ignores_the_policies_of_the_stations() -> None:
    """The run may have been in another process."""
    sleeper = shared(StationSpec("sleeper", policy="psm"))
    comparison = run_comparison(["bsd"], Scenario(topology=sleeper, pages=1), 2, workers=1)
    seen = {
        name: set(psm_sim.timeline(run.parts[1].parts[0])["event"])
        for name, run in (("own", comparison.runs[0]), ("reference", comparison.always_on))
    }
    assert "beacon" in seen["own"]
    assert "beacon" not in seen["reference"]
