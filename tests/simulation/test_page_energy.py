"""Energy of single pages, with the parts that belong to no radio state."""

from __future__ import annotations

import pytest

from psm_sim.simulation import simulate

SENDING = {"power.transmit_w": 1.5}
WAKING = {"power.wake_j": 0.001}


@pytest.mark.parametrize("settings", [{}, SENDING, WAKING, SENDING | WAKING])
@pytest.mark.parametrize("policy", ["psm", "bsd"])
def test_the_pages_share_the_whole_energy_of_the_run(policy, settings) -> None:
    """What a page uses is what the run has used at its end, less what it had used at its beginning."""
    run = simulate(policy, pages=6, seed=3, settings=settings)
    assert run.pages["energy_j"].sum() == pytest.approx(6 * run.energy_per_page_j, rel=1e-12)


def test_a_page_pays_for_what_it_sends_and_for_its_wake_ups() -> None:
    """The same pages without these two parts differ by nothing else."""
    plain, whole = (simulate("psm", pages=6, seed=3, settings=each).pages for each in ({}, SENDING | WAKING))
    assert (whole["energy_j"] - plain["energy_j"] > 0).all()
    assert whole["page_time_s"].tolist() == plain["page_time_s"].tolist()
