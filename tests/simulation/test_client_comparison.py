"""Many clients of one trace, averaged."""

from __future__ import annotations

import pytest

from psm_sim.simulation import (
    ClientComparison,
    Scenario,
    compare_clients,
    compare_runs,
)
from tests.workload.recordings.ucb_files import write_sampled

POLICIES = ("psm", "lpsm")
PAGES = 6


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Six thousand synthetic records of a few clients."""
    path = tmp_path_factory.mktemp("trace") / "s.tr.gz"
    write_sampled(path, 6000, clients=5)
    return str(path)


@pytest.fixture(scope="module")
def three(trace: str) -> ClientComparison:
    """The three busiest clients, one after the other."""
    comparison = compare_clients(POLICIES, Scenario(f"{trace}:clients=3", pages=PAGES), workers=1)
    assert isinstance(comparison, ClientComparison)
    return comparison


def test_each_client_is_the_simulation_it_would_be_alone(trace: str, three: ClientComparison) -> None:
    """Same numbers as a run of that client only, whoever else is chosen."""
    for index, row in enumerate(three.runs[1].rows()):
        alone = compare_runs(["lpsm"], Scenario(f"{trace}:clients={row['client']}", pages=PAGES)).runs[0]
        assert three.runs[1].results[index].page_records == alone.page_records
        assert row["slowdown.mean"] == alone.slowdown.mean


def test_sums_and_extremes_are_of_all_clients(three: ClientComparison) -> None:
    """Pages, seconds, events and bytes add up; the largest slowdown is that of the worst page."""
    run = three.runs[1]
    assert three.pages == len(run.page_records) == sum(row["pages"] for row in run.rows())
    assert run.events == sum(result.events for result in run.results)
    assert run.usage.total_j == pytest.approx(sum(result.usage.total_j for result in run.results))
    assert run.slowdown.max == max(record.slowdown for record in run.page_records)
    traffic = run.traffic
    received = traffic.client_received_bytes + traffic.undelivered_bytes + traffic.dropped_bytes
    assert traffic.server_sent_bytes == received
    assert run.pages["client"].value_counts().to_dict() == {row["client"]: row["pages"] for row in run.rows()}
