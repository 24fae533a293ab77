"""What several test modules need."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run on all cores already, and threads of BLAS in each would only wait for each other. NumPy reads
# this when it is imported, which nothing above does.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Programs that tests start keep what they compile, whatever the environment says: most of a start's time. The
# process that starts the others makes the folder, and removes it at its end.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="psm_sim-compiled-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

settings.register_profile("psm_sim", deadline=None, derandomize=True)
settings.load_profile("psm_sim")


REPEATED = (
    "tests/fuzz/",
    "tests/golden/",
    "laboratory/tests/test_energy_lower_bound.py",
    "tests/learning/test_long_runs.py",
    "tests/network/parts/mac/test_peer",
    "tests/network/test_random_worlds.py",
    "tests/network/test_throughput.py",
    "test_anticipate.py::test_energy_falls",
    "test_anticipate.py::test_it_beats",
    "test_bsd.py::test_no_reply",
    "test_lpsm_doze_plan.py::test_both_ways",
    "test_beacon_listening.py::test_the_mistake_bound",
)
"""Tests that run many times what others run once; measuring their coverage would take twice as long."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is not to be measured; pytest-cov knows the mark."""
    for item in items:
        if any(part in item.nodeid for part in REPEATED):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the project, or skip."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared) are not beside the project")
    return folder


@pytest.fixture(autouse=True)
def _no_word_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on how fast the machine is: commands do not say that they take long."""
    monkeypatch.setattr("psm_sim.reporting.terminal.progress.LINE_INTERVAL_S", 1e6)
