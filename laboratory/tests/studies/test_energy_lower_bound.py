"""Lower bound of the energy of any policy in the simulator, at any delay."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.studies.distance_to_optimum import energy_lower_bound_j, run_with_lower_bound

from psm_sim.network import load_topology
from psm_sim.simulation import Scenario
from psm_sim.workload import Page

POLICIES = (
    "always-on", "psm", "psm:listen_interval=12", "psm:listen_interval=40", "bsd:p=1", "bsd:p=0.1",
    "lpsm:loss=inverse-log", "lpsm:loss=inverse", "lpsm:loss=inverse-log,uplink=keep",
)  # fmt: skip


def random_scenario(seed: int) -> Scenario:
    """Return a few pages of a random trace: think times, server delays, files, connections at random."""
    random = np.random.default_rng(seed)
    think, delay = random.choice(["mah", "constant", "exponential"]), random.choice(["none", "40", "700"])
    trace = f"ucb:think={think},server_delay_ms={delay},mean_think_s={random.choice([0.3, 3, 30])}"
    settings = {
        "browser.connections": int(random.integers(1, 6)),
        "links.wired.latency_ms": int(random.integers(1, 200)),
    }
    return Scenario(trace, pages=3, seed=seed, settings=settings)


@pytest.mark.parametrize("seed", range(20))
def test_no_policy_uses_less_energy_than_the_lower_bound(seed: int) -> None:
    """On twenty random workloads, the bound of a policy with delays is higher."""
    rows = run_with_lower_bound(POLICIES, random_scenario(seed))
    assert all(row["energy_j"] >= row["energy_lower_bound_j"] for row in rows)
    by_delay = sorted(rows, key=lambda row: row["delay_s"])
    assert all(row["energy_lower_bound_j"] > 0 for row in rows)
    assert by_delay[0]["energy_lower_bound_j"] <= by_delay[-1]["energy_lower_bound_j"] + 1e-12


def test_the_lower_bound_agrees_with_the_hand_computed_bound() -> None:
    """One megabit on the hop of 10 Mbit/s is a tenth of a second awake; the station sleeps otherwise."""
    page = Page(1.0, 125_000, (), (300,), (0.0,))
    assert energy_lower_bound_j([page], load_topology(), 10.0) == pytest.approx(
        0.05 * 10 + 0.7 * 125_000 * 8 / RATE
    )


RATE = 1e6 * load_topology().wireless.rate_mbps
