"""Small comparisons for tests of reports."""

from __future__ import annotations

import pytest

from psm_sim.simulation import BASELINES, Comparison, References, Scenario, run_comparison


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    """Return three policies over five pages."""
    return run_comparison(["psm", "bsd:p=0.5,max_sleep_ms=none", "always-on"], Scenario(pages=5, seed=3))


@pytest.fixture(scope="session")
def device() -> Comparison:
    """Return two policies of a device that exchanges messages and loads no pages."""
    return run_comparison(["psm", "psm:listen_interval=3"], Scenario("ping", pages=1, profile="esp32"))


@pytest.fixture(scope="session")
def replicated() -> Comparison:
    """Return LPSM, BSD and the baselines over three seeds."""
    references = References(BASELINES, BASELINES[1:])
    return run_comparison(["lpsm", "bsd:p=0.5"], Scenario(pages=6), 3, workers=1, references=references)
