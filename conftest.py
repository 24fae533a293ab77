"""What several test modules need."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run on all cores already, and threads of BLAS in each would only wait for each other. NumPy reads
# this when it is imported, which nothing above does.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Programs that tests start keep what they compile, whatever the environment says: most of a start's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets the programs in its background ignore Ctrl-C, and these all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("psm_sim", deadline=None, derandomize=True)
settings.load_profile("psm_sim")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the project, or skip."""
    folder = Path(__file__).resolve().parents[1] / "shared"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared) are not beside the project")
    return folder


@pytest.fixture(autouse=True)
def _no_word_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on how fast the machine is: commands do not say that they take long."""
    monkeypatch.setattr("psm_sim.reporting.terminal.progress.LINE_INTERVAL_S", 1e6)


@pytest.fixture(autouse=True)
def _one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in this process unless a test sets the number of workers: tests use all cores already."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
