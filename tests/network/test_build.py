"""The parts of a world that a topology and a policy enable; the others are not imported."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from psm_sim.network import load_topology
from psm_sim.network.build import bss_of, build_world
from psm_sim.policies import make_policy

CHOSEN = [
    ({}, "psm", "WirelessHop", "EndSystems"),
    ({}, "twt", "DeviceHop", "EndSystems"),
    ({"station.wake_ms": 1.0}, "psm", "DeviceHop", "EndSystems"),
    ({"faults.wired.loss": 0.1}, "psm", "WirelessHop", "Faults"),
    ({"browser.max_page_s": 60}, "psm", "WirelessHop", "Faults"),
    ({"faults.restart_every_s": 60}, "psm", "DeviceHop", "Faults"),
    ({"mac.model": "dcf"}, "psm", "MacHop", "EndSystems"),
    ({"mac.model": "dcf", "beacon.loss": 0.1}, "psm", "MacHop", "EndSystems"),
    ({"mac.model": "dcf", "faults.restart_every_s": 60}, "psm", "MacHop", "Faults"),
]

OPTIONAL = (
    "campaign", "contracts", "hindsight", "network.parts", "reporting.figures",
    "reporting.html",
)  # fmt: skip
RUN = """
import sys
from psm_sim.cli import main
main(["--policy", "psm", "--pages", "1"])
print(*sys.modules)
"""


@pytest.mark.parametrize(("settings", "policy", "hop", "ends"), CHOSEN)
def test_a_world_has_only_the_enabled_parts(settings, policy, hop, ends):
    world = build_world(load_topology("three-node", settings), make_policy(policy))
    assert [type(part).__name__ for part in (world.hop, world.ends)] == [hop, ends]


def test_stations_without_a_channel_model_have_separate_cells():
    """The links of the thesis's model are not a shared medium."""
    assert bss_of(load_topology()) is None
    assert bss_of(load_topology("three-node", {"mac.model": "dcf"})) is not None


def test_a_plain_run_imports_no_optional_part():
    """The laboratory, sweeps, figures and the offline optimum are not imported, either."""
    optional = [f"psm_sim.{name}" for name in OPTIONAL]
    done = subprocess.run([sys.executable, "-c", RUN], check=True, capture_output=True, text=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "psm_sim.network.world" in imported
    assert [name for name in imported if name.startswith(tuple(optional))] == []
    assert all(find_spec(name) for name in optional)
