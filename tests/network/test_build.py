"""The parts of a world that a topology and a policy enable; the others are not imported."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from psm_sim.network import load_topology
from psm_sim.network.build import bss_of

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
