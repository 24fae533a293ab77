"""Energy, integrated at changes of state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.network import EnergyLedger
from psm_sim.network.topology_sections import PowerParameters


def test_a_hand_computed_case():
    """Awake for 1 s; asleep for 3 s with five beacons, in two calls, and 0.1 J; awake for 0.5 s so far."""
    ledger = EnergyLedger(PowerParameters())
    ledger.radio(1.0, False)
    ledger.beacons(1.1, 2, 0.1)
    ledger.spend(0.06)
    before = ledger.usage(2.0)
    ledger.beacons(1.3, 3, 0.1)
    ledger.spend(0.04)
    ledger.radio(4.0, True)
    usage = ledger.usage(4.5)
    assert usage == pytest.approx((1.5, 3.0, 5, 0.75 * 1.5, 0.05 * 3.0, 0.0015 * 5, 0.1))
    assert usage.total_j == pytest.approx(0.75 * 1.5 + 0.05 * 3.0 + 0.0015 * 5 + 0.1)
    assert before == pytest.approx((1.0, 1.0, 2, 0.75, 0.05, 0.003, 0.06))
    assert usage - before == pytest.approx((0.5, 2.0, 3, 0.75 * 0.5, 0.05 * 2.0, 0.0015 * 3, 0.04))


def test_reading_changes_nothing():
    """The open interval is added on reading and not kept."""
    ledger = EnergyLedger(PowerParameters())
    assert ledger.usage(2.0) == ledger.usage(2.0)
    ledger.radio(3.0, False)
    assert ledger.usage(3.0).awake_s == 3.0


@given(st.lists(st.floats(0, 1e3), max_size=200))
def test_times_in_the_states_add_up_to_the_time_elapsed(gaps):
    """Whatever the radio does."""
    ledger, now, awake = EnergyLedger(PowerParameters()), 0.0, True
    for gap in gaps:
        now += gap
        awake = not awake
        ledger.radio(now, awake)
    usage = ledger.usage(now + 1.0)
    assert usage.awake_s + usage.asleep_s == pytest.approx(now + 1.0, rel=1e-12)
