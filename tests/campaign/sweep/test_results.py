"""Pareto front of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from scipy.stats import ttest_rel

from psm_sim.campaign.sweep.results import LATENCY, pareto_front
from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.common.random_streams import random_stream
from psm_sim.reporting.figures.sweep import draw
from psm_sim.simulation.table import ENERGY, SLOWDOWN

Values = Mapping[int, tuple[float, float]]


def rows_of(policies: Mapping[str, Values], topology: str = "three-node") -> list[TaskRow]:
    """Return the rows of policies with energies and slowdowns per seed."""
    return [
        TaskRow("", policy, "ucb", topology, 5, seed, {}, {ENERGY: energy, SLOWDOWN: slowdown})
        for policy, values in policies.items()
        for seed, (energy, slowdown) in values.items()
    ]


def front(policies: Mapping[str, Values]) -> dict[str, str]:
    """Return the policies that are not dominated, and whether they are optimal."""
    return {point.row.policy: point.is_optimal for point in pareto_front(rows_of(policies))}


def test_two_policies_with_equal_results_are_both_optimal() -> None:
    """A rounding error is not a difference."""
    policies = {
        "one": {1: (0.3, 2.0), 2: (0.6, 2.0)},
        "two": {1: (0.1 + 0.2, 2.0), 2: (0.6, 2.0)},
    }
    assert front(policies) == {"one": "yes", "two": "yes"}


def test_policies_are_compared_on_the_seeds_that_they_share() -> None:
    """Two policies with one seed in common, or none, cannot be compared."""
    whole = {seed: (1.0 + seed, 2.0) for seed in range(1, 6)}
    for seeds, expected in (((1, 2), {"a": "yes"}), ((5, 6), None), ((7, 8), None)):
        other = {seed: (2.0 + seed, 2.0) for seed in seeds}
        assert front({"a": whole, "b": other}) == (expected or {"a": "undecided", "b": "undecided"})


def test_results_of_a_single_seed_are_compared_without_intervals() -> None:
    assert front({"a": {1: (1.0, 2.0)}, "b": {1: (1.1, 2.0)}, "c": {1: (1.2, 1.9)}}) == {"a": "", "c": ""}


def test_a_slowdown_without_completed_pages_is_ignored() -> None:
    policies = {"a": {1: (1.0, 2.0), 2: (1.0, 2.0)}, "b": {1: (0.5, np.nan), 2: (0.5, np.nan)}}
    assert front(policies) == {"b": "undecided", "a": "undecided"}


def test_the_delay_of_messages_without_pages_is_their_latency() -> None:
    """The slower direction counts; a pause has a slowdown of 1 with any policy."""
    pause = {SLOWDOWN: 1.0, "page_time_s.max": 0.0, "latency.up.latency_s.p99": 0.02}
    rows = [
        TaskRow(
            "", policy, "mqtt", "", 1, 1, {}, {**pause, ENERGY: energy, "latency.down.latency_s.p99": late}
        )
        for policy, energy, late in (("a", 1.0, 0.3), ("b", 2.0, 0.1), ("c", 3.0, 0.2))
    ]
    points = pareto_front(rows)
    assert [(point.row.policy, point.interval(LATENCY).mean) for point in points] == [("a", 300), ("b", 100)]
    (axes,) = draw(rows).axes
    assert axes.get_xlabel() == "latency, 99th percentile (ms)"


@pytest.mark.parametrize("seed", range(4))
def test_the_pareto_front_equals_that_of_a_comparison_of_all_pairs_of_intervals(seed: int) -> None:
    random = random_stream(seed, "front", 0)
    policies = {
        str(number): {
            item: (energy + random.normal(0, 0.02), slowdown + random.normal(0, 0.02)) for item in range(4)
        }
        for number, (energy, slowdown) in enumerate(random.uniform(1, 2, size=(15, 2)))
    }
    front_ = pareto_front([*rows_of(policies), *rows_of(policies, "modern")])
    assert [item.row.scenario["topology"] for item in front_] == sorted(
        (item.row.scenario["topology"] for item in front_), reverse=True
    )
    intervals = {
        (one, other): np.array(
            [
                ttest_rel(
                    *np.array([[*policies[name].values()] for name in (one, other)])[..., measure]
                ).confidence_interval()
                for measure in (0, 1)
            ]
        )
        for one, other in product(policies, policies)
        if one != other
    }
    expected = {}
    for one in policies:
        others = [intervals[one, other] for other in policies if other != one]
        if not any((item[:, 0] > 0).all() for item in others):
            expected[one] = "yes" if all((item[:, 1] < 0).any() for item in others) else "undecided"
    assert {item.row.policy: item.is_optimal for item in front_} == expected
    assert "yes" in expected.values()
