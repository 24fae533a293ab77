"""Golden results: a change that moves one has to say so, by writing them anew in the same commit."""

from __future__ import annotations

import os

import pytest

from psm_sim.network import load_topology
from tests.golden.golden import ALMOST, found, kept, policies_on, scenarios

COMPARED = [
    (topology, trace)
    for topology, trace in scenarios()
    if trace == "ucb" or not load_topology(topology).stations or "PSM_SIM_GOLDEN" in os.environ
]
"""All, but of several stations one trace: ``PSM_SIM_GOLDEN=all`` takes a minute."""


@pytest.mark.parametrize(("topology", "trace"), COMPARED)
def test_no_result_has_moved(topology, trace):
    """Energy, page time, slowdown and latency; if one has to: ``python tests/golden/golden.py``."""
    golden = kept()
    for key, values in found(topology, trace):
        assert values == pytest.approx(golden[key], rel=ALMOST), key


def test_all_that_ships_is_among_them_and_nothing_else():
    """A new policy, trace or topology is added by writing them anew."""
    expected = {(*each, label) for each in scenarios() for label in labels_on(each[0])}
    assert set(kept()) == expected


def labels_on(topology: str) -> list[str]:
    """Return the policies of a topology, followed by the name of each kind of station if it has several."""
    stations = load_topology(topology).stations
    policies = policies_on(topology)
    return [f"{policy} ({each.name})" for policy in policies for each in stations] if stations else policies


def test_nothing_that_ships_is_quicker_with_power_saving() -> None:
    """No mean slowdown is below 1, but for rounding; on a shared air one gains where another waits."""
    alone = [values for (place, *_), values in kept().items() if not load_topology(place).stations]
    assert min(values["slowdown"] for values in alone) > 1 - 1e-9
