"""A small comparison to report."""

from __future__ import annotations

import pytest

from psm_sim.simulation import Comparison, Scenario, compare_runs


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    """Return three policies over five pages."""
    return compare_runs(["psm", "bsd:p=0.5,max_sleep_ms=none", "always-on"], Scenario(pages=5, seed=3))
