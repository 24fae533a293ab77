"""Energy per page, with the parts that are not radio states."""

from __future__ import annotations

import pytest

from psm_sim.simulation import simulate
from psm_sim.simulation.table import usage_of

SENDING = {"power.transmit_w": 1.5}
WAKING = {"power.wake_j": 0.001}
PROCESSING = {"power.frame_j": 0.0005}


@pytest.mark.parametrize("model", ["link", "dcf"])
def test_every_frame_of_a_round_trip_costs_the_same_energy(model) -> None:
    """An echo request and its reply are two frames. ACKs of the MAC and beacons are not counted."""
    trace = "ping:stretch_s=10,period_s=1"
    settings = {"mac.model": model, **PROCESSING}
    run = simulate("psm", trace=trace, pages=1, settings=settings)
    large = simulate("psm", trace=f"{trace},bytes=1400", pages=1, settings=settings)
    assert usage_of(run.row).frames == usage_of(large.row).frames == 20
    assert run["energy_by_state_per_page_j.frames"] == 20 * 0.0005


def test_an_energy_per_frame_does_not_change_the_decisions_of_a_policy() -> None:
    """Page times are equal with and without it."""
    plain, counted = (
        simulate("anticipate", pages=6, seed=3, settings=settings) for settings in ({}, PROCESSING)
    )
    assert counted.pages["page_time_s"].tolist() == plain.pages["page_time_s"].tolist()
    assert usage_of(counted.row)[:10] == usage_of(plain.row)[:10]
    assert usage_of(counted.row).frames_j == pytest.approx(
        usage_of(counted.row).total_j - usage_of(plain.row).total_j
    )
