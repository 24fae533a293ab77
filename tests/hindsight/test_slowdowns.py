"""Hindsight's schedules by their mean slowdown."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from psm_sim.campaign.offline_pareto_frontier import pareto_frontier
from psm_sim.hindsight.traffic_chain import evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain, record_slowdowns
from psm_sim.network import load_topology
from psm_sim.policies import make_policy
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.workload import load_workload
from tests.page_rows import page_rows

PLACE = load_topology()
WORKLOAD = load_workload("ucb", 12, 3)


def test_only_the_weights_differ_from_the_plain_chain() -> None:
    """A step within a page counts one over the page's time; steps between pages count nothing."""
    plain, weighted = record_chain(WORKLOAD.pages, PLACE), record_slowdowns(WORKLOAD.pages, PLACE)
    assert [step._replace(weight=1.0) for step in weighted.steps] == list(plain.steps)
    records = page_rows(run_comparison(["always-on"], Scenario(pages=12, seed=3)).runs[0])
    expected = [0.0, *(1 / record.page_time_s for record in records)]
    assert all(min(abs(step.weight - each) for each in expected) < 1e-6 for step in weighted.steps)
    assert {round(step.weight, 5) for step in weighted.steps} == {round(each, 5) for each in expected}


@pytest.mark.parametrize("policy", ["psm", "bsd:p=0.5", "psm:listen_interval=3"])
def test_the_slowdown_on_the_chain_is_at_least_the_simulators(policy: str) -> None:
    """On the chain a late frame delays all that follows; in the simulator other connections go on."""
    played = evaluate_policy(record_slowdowns(WORKLOAD.pages, PLACE), make_policy(policy))
    simulated = run_comparison([policy], Scenario(pages=12, seed=3)).runs[0].slowdown.mean
    assert simulated - 1 - 0.002 <= played.delay_s / 12 <= 1.5 * (simulated - 1) + 0.002


def test_the_frontier_falls_from_no_delay_to_the_least_energy() -> None:
    """Each corner has less energy and more slowdown than the one before; the first has none."""
    corners = pareto_frontier([WORKLOAD], PLACE, workers=1)
    assert corners[0].slowdown == pytest.approx(1.0, abs=1e-12)
    for left, right in pairwise(corners):
        assert right.energy_j <= left.energy_j
        assert right.slowdown >= left.slowdown
    assert corners[-1].energy_j < corners[0].energy_j


def test_several_workloads_are_averaged_on_any_number_of_workers() -> None:
    """Price by price."""
    other = load_workload("ucb", 12, 4)
    one, two = (pareto_frontier([each], PLACE, workers=1) for each in (WORKLOAD, other))
    both = pareto_frontier([WORKLOAD, other], PLACE, workers=2)
    assert both[0].energy_j == pytest.approx((one[0].energy_j + two[0].energy_j) / 2)
    assert both[-1].slowdown == pytest.approx((one[-1].slowdown + two[-1].slowdown) / 2)


def test_more_pages_than_can_be_searched_have_no_frontier() -> None:
    """Nothing is drawn that was not computed."""
    many = dataclasses.replace(WORKLOAD, pages=WORKLOAD.pages * 13)
    assert pareto_frontier([many], PLACE) == []
