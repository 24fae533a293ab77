"""Energy integrated over the states of the radio."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.network import EnergyLedger
from psm_sim.network.topology_sections import PowerParameters


def test_the_ledger_agrees_with_a_hand_computed_run():
    """The radio is awake for 1 s, asleep for 3 s with five beacons, and awake for 0.5 s so far."""
    ledger = EnergyLedger(PowerParameters())
    ledger.radio(1.0, False)
    ledger.beacons(1.1, 2, 0.1)
    before = ledger.usage(2.0)
    ledger.beacons(1.3, 3, 0.1)
    ledger.radio(4.0, True)
    usage = ledger.usage(4.5)
    assert usage[:6] == pytest.approx((1.5, 3.0, 5, 0.75 * 1.5, 0.05 * 3.0, 0.0015 * 5))
    assert usage.total_j == pytest.approx(0.75 * 1.5 + 0.05 * 3.0 + 0.0015 * 5)
    assert before[:6] == pytest.approx((1.0, 1.0, 2, 0.75, 0.05, 0.003))


def test_listening_for_a_beacon_counts_as_time_awake():
    """The time is at most the whole doze; nothing is carried over to the next doze."""
    ledger = EnergyLedger(PowerParameters())
    ledger.radio(1.0, False)
    ledger.listen(0.25)
    assert ledger.usage(1.125)[:2] == (1.125, 0.0)
    ledger.listen(0.25)
    ledger.radio(2.0, True)
    ledger.radio(3.0, False)
    assert ledger.usage(4.0)[:2] == (2.5, 1.5)


def test_transmissions_and_wake_ups_have_their_own_energy():
    """2 W while transmitting, even if that is below the power of an awake radio; 0.5 J for each wake-up."""
    for awake_w in (1.0, 3.0):
        ledger = EnergyLedger(PowerParameters(awake_w, transmit_w=2.0, wake_j=0.5))
        ledger.transmit(0.25)
        ledger.wake_up()
        usage = ledger.usage(1.0)
        assert (usage.awake_s, usage.transmit_s, usage.wake_ups) == (1.0, 0.25, 1)
        assert (usage.awake_j, usage.transmit_j, usage.wake_ups_j) == (0.75 * awake_w, 0.5, 0.5)


def test_transmissions_and_wake_ups_that_cost_no_energy_are_not_counted():
    """Results of plain topologies have no state without energy, so no such events are counted."""
    ledger = EnergyLedger(PowerParameters())
    ledger.transmit(0.25)
    ledger.wake_up()
    assert ledger.usage(1.0)[6:] == (0.0, 0.0, 0, 0.0, 0, 0.0)


def test_reading_the_ledger_does_not_change_it():
    """The open interval is added to the reading and not stored."""
    ledger = EnergyLedger(PowerParameters())
    assert ledger.usage(2.0) == ledger.usage(2.0)
    ledger.radio(3.0, False)
    assert ledger.usage(3.0).awake_s == 3.0


@given(st.lists(st.floats(0, 1e3), max_size=200))
def test_the_times_in_all_states_add_up_to_the_elapsed_time(gaps):
    """The sequence of states is random."""
    ledger, now, awake = EnergyLedger(PowerParameters()), 0.0, True
    for gap in gaps:
        now += gap
        awake = not awake
        ledger.radio(now, awake)
    usage = ledger.usage(now + 1.0)
    assert usage.awake_s + usage.asleep_s == pytest.approx(now + 1.0, rel=1e-12)
