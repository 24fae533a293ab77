"""The policy outstanding, with its two rules."""

from __future__ import annotations

from psm_lab.policies.outstanding import OutstandingPolicy

from psm_sim.policies import Frame, Rest
from psm_sim.simulation import simulate

REQUEST = Frame(0, 340, 300, False, False)
FIN = Frame(0, 40, 0, False, True)


def started(**parameters) -> OutstandingPolicy:
    """Return the policy at the beginning of a run, beacons 0.1 s apart."""
    policy = OutstandingPolicy(**parameters)
    policy.start(0.1)
    return policy


def test_every_beacon_is_received_while_a_request_is_outstanding():
    policy = started()
    policy.sent(1.0, REQUEST)
    assert policy.rest(1.0, 0.0, None) == Rest(0.0, 1, repeat=True)


def test_if_wait_ms_is_set_the_radio_first_stays_awake():
    """The radio is awake until wait_ms after the request; a later bare ACK does not extend the wait."""
    policy = started(wait_ms=50)
    policy.sent(1.0, REQUEST)
    first, second = policy.rest(1.01, 0.01, None), policy.rest(1.2, 0.2, None)
    assert (round(first.awake_s, 9), first.beacons, first.repeat) == (0.04, 1, False)
    assert second == Rest(0.0, 1, repeat=True)


def test_dozes_grow_after_the_reply_is_complete():
    """The doze is f times the time since the last frame, in whole beacons, up to the maximum."""
    policy = started(f=2.0, max_ms=600)
    policy.sent(1.0, REQUEST)
    policy.received(1.4, FIN)
    dozes = [policy.rest(now_s, 0.0, None) for now_s in (1.4, 1.5, 1.6, 1.8)]
    assert [rest.beacons for rest in dozes] == [1, 2, 4, 6]
    assert [rest.repeat for rest in dozes] == [False, False, False, True]


def test_page_times_equal_those_of_static_psm_at_less_energy():
    """On the bundled trace each page is as fast as with static PSM, and a fifth of the energy is saved."""
    psm, rule = (simulate(policy, pages=20, seed=77) for policy in ("psm", "outstanding"))
    assert abs(rule.slowdown.mean - psm.slowdown.mean) < 0.03
    assert rule.energy_per_page_j < 0.85 * psm.energy_per_page_j
    assert rule["events"] <= 1.05 * psm["events"]
