"""CSV output with a row per policy or per page."""

from __future__ import annotations

import csv
import dataclasses
import io

from psm_sim.reporting.files import result_csv as csv_report
from psm_sim.simulation import Comparison
from psm_sim.simulation.table import PAGE_COLUMNS
from tests.page_rows import page_rows


def rows_of(comparison: Comparison) -> list[dict[str, str]]:
    """Return the rows of the CSV output."""
    stream = io.StringIO(newline="")
    csv_report.write(comparison, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))


def test_the_csv_file_has_a_row_per_policy_and_flat_column_names(comparison: Comparison) -> None:
    """Numbers are bit-for-bit those of the result; equal seeds give equal bytes."""
    rows = rows_of(comparison)
    assert not [name for name in rows[0] if "wall" in name]
    assert [row["policy"] for row in rows] == [run.policy for run in comparison.runs]
    for row, run in zip(rows, comparison.runs, strict=True):
        assert float(row["energy_per_page_j"]) == run.energy_per_page_j
        assert float(row["energy_by_state_per_page_j.beacons"]) == run["energy_by_state_per_page_j.beacons"]
        assert float(row["slowdown.mean"]) == run.slowdown.mean
        assert int(row["events"]) == run["events"]


def test_each_row_has_trace_and_topology_and_seed(comparison: Comparison) -> None:
    settings = {"power.awake_w": "1", "beacon.interval_ms": "50"}
    scenario = dataclasses.replace(comparison.scenario, settings=settings)
    row = rows_of(dataclasses.replace(comparison, scenario=scenario))[1]
    assert (row["trace"], row["synthetic"], row["topology"], row["seed"]) == (
        "ucb",
        "true",
        "three-node",
        "3",
    )
    assert row["settings"] == "power.awake_w=1,beacon.interval_ms=50"
    assert row["parameters"] == "p=0.5,max_sleep_ms=None"


def test_the_csv_file_of_pages_has_a_row_per_policy_and_page(comparison: Comparison) -> None:
    stream = io.StringIO()
    csv_report.write_pages(comparison, stream)
    header, *rows = csv.reader(io.StringIO(stream.getvalue()))
    assert header == ["policy", *PAGE_COLUMNS]
    assert [(row[0], row[1]) for row in rows[:6]] == [
        *(("psm", str(n)) for n in range(1, 6)),
        (rows[5][0], "1"),
    ]
    assert len(rows) == 15
    assert rows[7] == [comparison.runs[1].policy, *map(str, vars(page_rows(comparison.runs[1])[2]).values())]
