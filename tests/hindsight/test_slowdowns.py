"""Offline optimum by mean slowdown."""

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

TOPOLOGY = load_topology()
WORKLOAD = load_workload("ucb", 12, 3)


def test_the_chain_for_slowdowns_differs_from_the_plain_chain_only_in_its_weights() -> None:
    """The weight of a step is one over its page time, and 0 between pages."""
    plain, weighted = record_chain(WORKLOAD.pages, TOPOLOGY), record_slowdowns(WORKLOAD.pages, TOPOLOGY)
    assert [step._replace(weight=1.0) for step in weighted.steps] == list(plain.steps)
    records = page_rows(run_comparison(["always-on"], Scenario(pages=12, seed=3)).runs[0])
    expected = [0.0, *(1 / record.page_time_s for record in records)]
    assert all(min(abs(step.weight - weight) for weight in expected) < 1e-6 for step in weighted.steps)
    assert {round(step.weight, 5) for step in weighted.steps} == {round(weight, 5) for weight in expected}


@pytest.mark.parametrize("policy", ["psm", "bsd:p=0.5", "psm:listen_interval=3"])
def test_the_slowdown_computed_on_a_chain_is_at_least_that_of_the_simulator(policy: str) -> None:
    """A late frame delays all later ones on the chain; in the simulator other connections continue."""
    cost = evaluate_policy(record_slowdowns(WORKLOAD.pages, TOPOLOGY), make_policy(policy))
    simulated = run_comparison([policy], Scenario(pages=12, seed=3)).runs[0].slowdown.mean
    assert simulated - 1 - 0.002 <= cost.delay_s / 12 <= 1.5 * (simulated - 1) + 0.002


def test_energy_falls_as_slowdown_rises_along_a_frontier_that_begins_without_slowdown() -> None:
    """Each corner has less energy and more slowdown than the one before; the first one has no slowdown."""
    corners = pareto_frontier([WORKLOAD], TOPOLOGY, workers=1)
    assert corners[0].slowdown == pytest.approx(1.0, abs=1e-12)
    for left, right in pairwise(corners):
        assert right.energy_j <= left.energy_j
        assert right.slowdown >= left.slowdown
    assert corners[-1].energy_j < corners[0].energy_j


def test_the_mean_over_several_workloads_does_not_depend_on_the_number_of_workers() -> None:
    other = load_workload("ucb", 12, 4)
    one, two = (pareto_frontier([workload], TOPOLOGY, workers=1) for workload in (WORKLOAD, other))
    both = pareto_frontier([WORKLOAD, other], TOPOLOGY, workers=2)
    assert both[0].energy_j == pytest.approx((one[0].energy_j + two[0].energy_j) / 2)
    assert both[-1].slowdown == pytest.approx((one[-1].slowdown + two[-1].slowdown) / 2)


def test_no_frontier_is_computed_for_too_many_pages() -> None:
    """The computation would take too long."""
    many = dataclasses.replace(WORKLOAD, pages=WORKLOAD.pages * 13)
    assert pareto_frontier([many], TOPOLOGY) == []
