"""Classic baselines: laws, hand-computed cases, and published results."""

from __future__ import annotations

import pytest

from psm_sim.policies import Frame, make_policy
from psm_sim.simulation import simulate

REQUEST = Frame(0, 340, 300, False, False)
REPLY = Frame(0, 940, 900, False, False)


def started(policy):
    """Return the policy at the start of a run."""
    policy = make_policy(policy)
    policy.start(0.1)
    return policy


def test_the_adaptive_policy_stays_awake_for_the_idle_intervals_after_the_nth_frame():
    """N is 3, in 60 ms: the radio dozes after two frames, and stays awake until 250 ms after the third."""
    policy = started("adaptive:frames=3,interval_ms=125,quiet=2")
    for time_s, awake_s in ((5.0, 0.0), (5.03, 0.0), (5.06, 0.25)):
        policy.received(time_s, REPLY)
        assert policy.rest(time_s, time_s, None).awake_s == pytest.approx(awake_s)
    policy.received(5.40, REPLY)
    assert policy.rest(5.40, 5.40, None).awake_s == 0.0


def test_the_adaptive_policy_after_one_frame_equals_the_dynamic_policy():
    one, other = simulate("adaptive:frames=1", pages=3), simulate("dynamic:timeout_ms=100", pages=3)
    assert one.energy_per_page_j == other.energy_per_page_j
    assert one.page_time_s.mean == other.page_time_s.mean


def timeout_after(gaps_s, price=10.0):
    """Return the timeout in seconds after replies at these gaps."""
    policy = started(f"share-timeout:price={price}")
    now_s = 0.0
    for gap_s in gaps_s:
        policy.sent(now_s, REQUEST)
        policy.rest(now_s, 0.0, None)
        policy.received(now_s + gap_s, REPLY)
        now_s += gap_s
    policy.sent(now_s, REQUEST)
    return policy.rest(now_s, 0.0, None).awake_s


def test_the_share_timeout_policy_learns_to_stay_awake_for_short_gaps_only():
    """A doze costs as much as 0.5 s awake at price 10, so the radio waits for gaps of 0.2 s, not of 5 s."""
    assert timeout_after([0.2] * 40) > 0.25
    assert timeout_after([5.0] * 40) < 0.05
    assert timeout_after([0.2] * 40 + [5.0] * 40) < 0.05


def test_the_share_timeout_policy_costs_little_more_than_the_best_fixed_timeout():
    """Helmbold and others report down to 88 % of the energy of the best fixed timeout, on disks."""
    price_w = 10 * (0.75 - 0.05)

    def cost_j(policy):
        run = simulate(policy, pages=30)
        return run.energy_per_page_j + price_w * run.page_time_s.mean

    best_j = min(cost_j(f"dynamic:timeout_ms={timeout}") for timeout in (0, 50, 100, 200, 300, 400, 500))
    assert cost_j("share-timeout:price=10") <= 1.05 * best_j


def test_the_smart_policy_has_about_the_delay_and_energy_of_bsd():
    """Qiao and Shin report a similar delay and less energy. The energy is not less here."""
    smart, bsd = (simulate(policy, pages=60) for policy in ("smart", "bsd"))
    assert smart.slowdown.mean == pytest.approx(bsd.slowdown.mean, abs=0.03)
    assert smart.energy_per_page_j == pytest.approx(bsd.energy_per_page_j, rel=0.02)


def test_the_smart_policy_stays_awake_when_a_reply_is_likely_and_dozes_otherwise():
    """The radio stays awake for replies after 30 ms, and dozes first for replies at about 450 ms."""
    waits = []
    for reply_s in (0.03, 0.45):
        policy = started("smart")
        for number in range(30):
            policy.sent(number + 0.02, REQUEST)
            policy.rest(number + 0.02, 0.0, None)
            policy.received(number + 0.02 + reply_s, REPLY)
        policy.sent(40.02, REQUEST)
        waits.append(policy.rest(40.02, 0.0, None).awake_s)
    assert waits[0] >= 0.03
    assert waits[1] == 0.0


def test_the_smart_policy_without_a_penalty_dozes_for_the_maximum_time():
    """An earlier wake-up has no benefit."""
    rest = started("smart:penalty_ms=0").rest(5.02, 0.0, None)
    assert (rest.awake_s, rest.beacons) == (0.0, 9)


def test_active_mode_costs_many_times_as_much_as_power_save_on_an_idle_chip():
    """Pyles and others measured a factor of 20 on phones; the profile of the CYW43439 has a factor of 35."""
    awake, saving = (
        simulate(policy, "idle", pages=1, profile="cyw43439") for policy in ("always-on", "adaptive")
    )
    assert awake.energy_per_page_j / saving.energy_per_page_j == pytest.approx(35, rel=0.03)
