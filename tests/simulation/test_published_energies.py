"""Main results without server delay, compared with published ones."""

from __future__ import annotations

import pytest

from psm_sim.simulation import Scenario, run_comparison

PUBLISHED_WORKLOAD = "ucb:server_delay_ms=none,mean_think_s=54.5"


@pytest.fixture(scope="module")
def runs():
    policies = [
        "always-on", "psm", "bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1",
        "lpsm:loss=inverse-log", "lpsm:loss=inverse",
    ]  # fmt: skip
    return {run.policy: run for run in run_comparison(policies, Scenario(PUBLISHED_WORKLOAD)).runs}


def test_the_always_on_policy_takes_41_joules_per_page(runs):
    """55 s at 0.75 W are 41 J."""
    assert runs["always-on"].energy_per_page_j == pytest.approx(41, abs=0.6)
    assert runs["always-on"].slowdown == (1, 1, 1, 1)


def test_static_psm_is_near_its_published_energy_and_slowdown(runs):
    """The publication has 3.62 J, of which 0.83 J are for beacons, and page times up to 2.2 times as long."""
    psm = runs["psm"]
    assert psm.energy_per_page_j == pytest.approx(3.62, rel=0.02)
    assert 0.80 <= psm["energy_by_state_per_page_j.beacons"] <= 0.86
    assert 2.1 <= psm.slowdown.mean <= 2.4


def test_bsd_adds_no_delay_and_needs_more_energy_if_its_bound_is_tighter(runs):
    """Round trips of 40 ms are below T / p, so there is no delay; energy rises as p falls."""
    bsd = [runs[f"bsd:p={p}"] for p in ("1", "0.5", "0.2", "0.1")]
    assert all(run.slowdown.max == pytest.approx(1.0, abs=1e-9) for run in bsd)
    energies = [run.energy_per_page_j for run in bsd]
    assert energies == sorted(energies)


def test_lpsm_with_the_inverse_log_loss_uses_the_least_energy(runs):
    """Every BSD setting uses more. The published beacon energy is 0.18 to 0.20 of that of static PSM."""
    log, psm = runs["lpsm:loss=inverse-log"], runs["psm"]
    assert all(
        log.energy_per_page_j < runs[name].energy_per_page_j for name in runs if name.startswith("bsd")
    )
    assert 0.15 <= log["beacons_per_page"] / psm["beacons_per_page"] <= 0.22


def test_the_energy_of_lpsm_with_the_inverse_loss_is_between_those_of_inverse_log_and_psm(runs):
    energies = [
        runs[name].energy_per_page_j for name in ("lpsm:loss=inverse-log", "lpsm:loss=inverse", "psm")
    ]
    assert energies == sorted(energies)


def test_policies_that_doze_at_once_have_equal_energy_apart_from_their_beacons(runs):
    """The derived column of the published table agrees within 2 %."""
    dozing = [
        runs[name].energy_per_page_j - runs[name]["energy_by_state_per_page_j.beacons"]
        for name in ("psm", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
    ]
    assert max(dozing) / min(dozing) < 1.02
