"""Averages over the clients of a trace."""

from __future__ import annotations

import pytest

from psm_sim.simulation import Comparison, Scenario, run_comparison
from psm_sim.simulation.table import usage_of
from tests.page_rows import check_bytes_are_conserved, page_rows
from tests.workload.recordings.ucb_files import write_sampled

POLICIES = ("psm", "lpsm")
PAGES = 6


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write six thousand synthetic records of a few clients."""
    path = tmp_path_factory.mktemp("trace") / "s.tr.gz"
    write_sampled(path, 6000, clients=5)
    return str(path)


@pytest.fixture(scope="module")
def three(trace: str) -> Comparison:
    """Return a comparison of the three busiest clients."""
    return run_comparison(POLICIES, Scenario(f"{trace}:clients=3", pages=PAGES), workers=1)


def test_each_client_has_the_results_of_a_separate_run(trace: str, three: Comparison) -> None:
    """Other selected clients do not matter."""
    for index, row in enumerate(three.runs[1].to_dict()["clients"]):
        alone = run_comparison(["lpsm"], Scenario(f"{trace}:clients={row['client']}", pages=PAGES)).runs[0]
        assert page_rows(three.runs[1].parts[index]) == page_rows(alone)
        assert row["slowdown.mean"] == alone.slowdown.mean


def test_sums_and_maxima_are_taken_over_all_clients(three: Comparison) -> None:
    """Pages, seconds, events and bytes add up; the maximum slowdown is that of the worst page."""
    run = three.runs[1]
    assert three.pages == len(page_rows(run)) == sum(row["pages"] for row in run.to_dict()["clients"])
    assert run["events"] == sum(result["events"] for result in run.parts)
    joules = [usage_of(result.row).total_j for result in run.parts]
    assert usage_of(run.row).total_j == pytest.approx(sum(joules))
    assert run.slowdown.max == max(record.slowdown for record in page_rows(run))
    check_bytes_are_conserved(run)
    expected = {row["client"]: row["pages"] for row in run.to_dict()["clients"]}
    assert run.pages["client"].value_counts().to_dict() == expected
