"""Golden results: a commit that changes one must renew them."""

from __future__ import annotations

import os

import pytest

from psm_sim.network import load_topology
from tests.golden.golden import ALMOST, policies_on, scenarios, simulate, stored

COMPARED = [
    (topology, trace)
    for topology, trace in scenarios()
    if trace == "ucb" or not load_topology(topology).stations or "PSM_SIM_GOLDEN" in os.environ
]
"""Topologies with several stations have one trace; ``PSM_SIM_GOLDEN=all`` has all, and takes a minute."""


@pytest.mark.parametrize(("topology", "trace"), COMPARED)
def test_golden_results_are_unchanged(topology, trace):
    """Each result has energy, page time, slowdown and latency.

    ``python tests/golden/golden.py`` renews them.
    """
    golden = stored()
    for key, values in simulate(topology, trace):
        assert values == pytest.approx(golden[key], rel=ALMOST), key


def test_golden_results_have_exactly_the_bundled_components():
    """``python tests/golden/golden.py`` adds a new policy, trace or topology."""
    expected = {(*scenario, label) for scenario in scenarios() for label in labels_on(scenario[0])}
    assert set(stored()) == expected


def labels_on(topology: str) -> list[str]:
    """Return the policies of a topology, followed by the name of each kind of station if it has several."""
    stations = load_topology(topology).stations
    policies = policies_on(topology)
    return (
        [f"{policy} ({station.name})" for policy in policies for station in stations]
        if stations
        else policies
    )


def test_no_bundled_trace_has_a_mean_slowdown_below_1() -> None:
    """Exceptions are rounding errors, and a shared channel, where a station gains when another one waits."""
    alone = [values for (topology, *_), values in stored().items() if not load_topology(topology).stations]
    assert min(values["slowdown"] for values in alone) > 1 - 1e-9
