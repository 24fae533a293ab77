"""The dynamic programme of dozes, compared with hand-computed cases and exhaustive search."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.policies.helpers.doze_schedule import DecisionGrid, RestCosts, longest_doze_is_best, solve_rest

BEACON_S = 0.1
COSTS = RestCosts(price_w=1.0, awake_w=0.7, beacon_j=0.0015, max_beacons=4)


def exponential(rate):
    """Return the law of a constant hazard, in 1/s."""
    return lambda times_s: (1 - np.exp(-rate * times_s), times_s - (1 - np.exp(-rate * times_s)) / rate)


def ramp(begin_s, end_s, mass=1.0):
    """Return the law of a uniform time in an interval, of that mass; else it never comes."""

    def law(times_s):
        inside = np.clip(times_s - begin_s, 0, end_s - begin_s)
        late = np.maximum(times_s - end_s, 0)
        return mass * inside / (end_s - begin_s), mass * (inside**2 / 2 / (end_s - begin_s) + late)

    return law


def beacon_times(count, costs, now_s=0.03) -> DecisionGrid:
    """Return the decision times: now and *count* beacons."""
    beacons_s = BEACON_S * np.arange(1, count + costs.max_beacons + 1)
    times_s = np.concatenate(([now_s], beacons_s[:count]))
    return DecisionGrid(times_s, beacons_s, np.arange(count + 1))


def fine_times(count, costs, step_s=0.01) -> DecisionGrid:
    """Return decision times every *step_s*, including the beacons."""
    beacons_s = BEACON_S * np.arange(1, count + costs.max_beacons + 1)
    times_s = np.unique(np.concatenate((np.arange(0.005, beacons_s[count - 1], step_s), beacons_s[:count])))
    return DecisionGrid(times_s, beacons_s, np.searchsorted(beacons_s, times_s + 1e-9, side="right"))


def expected_cost(law, times, costs, plan) -> float:
    """Return the expected cost of a plan from the first time on, by the definition."""

    @cache
    def onward(row):
        now_s, first = times.times_s[row], times.next_beacon[row]
        risen, area = (value.tolist() for value in law(np.array([now_s])))
        still = 1 - risen[0]
        if plan[row] == 0:
            later = 1 - law(times.times_s[row + 1 : row + 2])[0].item()
            wait_s = times.times_s[row + 1] - now_s
            return costs.awake_w * wait_s * (still + later) / 2 + onward(row + 1)
        beacon = first + plan[row] - 1
        at = times.beacons_s[beacon]
        come, sum_s = (value.item() for value in law(np.array([at])))
        cost = costs.beacon_j * still + costs.price_w * (sum_s - area[0] - risen[0] * (at - now_s))
        if beacon >= len(times.beacons_s) - costs.max_beacons:
            ends = (len(times.beacons_s) - beacon) / costs.max_beacons
            return cost + costs.beacon_j * (1 - come) * ends
        return cost + onward(int(np.flatnonzero(times.times_s == at)[0]))

    return onward(0)


@pytest.mark.parametrize("most", [1, 4, 12])
def test_at_price_0_the_plan_never_stays_awake_and_dozes_for_the_maximum_time(most):
    """The law is random."""
    costs = RestCosts(0.0, 0.7, 0.0015, most)
    for law in (exponential(3.0), ramp(0.3, 0.31), ramp(0.2, 1.0, 0.5)):
        assert (solve_rest(law, beacon_times(30, costs), costs) == most).all()
        assert (solve_rest(law, fine_times(30, costs), costs) == most).all()


@pytest.mark.parametrize(("come_s", "last_beacon"), [(0.65, 0.6), (1.09, 1.0), (0.405, 0.4)])
def test_for_a_known_arrival_time_the_plan_wakes_at_the_last_beacon_before_the_arrival(come_s, last_beacon):
    """The radio stays awake from that beacon if the price is well above the power awake."""
    costs = RestCosts(50.0, 0.7, 0.0015, 12)
    times = fine_times(20, costs, 0.005)
    plan = solve_rest(ramp(come_s - 1e-3, come_s), times, costs)
    dozes_to = times.beacons_s[times.next_beacon[0] + plan[0] - 1]
    assert dozes_to == pytest.approx(last_beacon)
    awake = (times.times_s >= last_beacon - 1e-9) & (times.times_s < come_s - 0.01)
    assert (plan[awake] == 0).all()


def test_with_a_constant_hazard_the_doze_follows_the_square_root_rule():
    """T^2 = 2 e / (price h) gives 0.3 s, from each beacon."""
    rate = 2 * COSTS.beacon_j / 0.3**2
    costs = RestCosts(1.0, np.inf, COSTS.beacon_j, 8)
    assert (solve_rest(exponential(rate), beacon_times(40, costs), costs)[:30] == 3).all()


def test_after_a_known_arrival_time_the_plan_always_dozes():
    """No frame is expected any more, and staying awake would cost energy without a limit."""
    costs = RestCosts(50.0, np.inf, 0.0015, 12)
    assert (solve_rest(ramp(0.3, 0.31), fine_times(20, costs), costs) > 0).all()


@given(
    masses=st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4),
    price=st.floats(0.0, 5.0),
    awake_w=st.floats(0.05, 1.0),
    plan=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_no_other_doze_plan_costs_less(masses, price, awake_w, plan):
    """All plans with five decision times are compared, by the definition of the cost."""
    costs = RestCosts(price, awake_w, 0.0015, 3)
    times = beacon_times(4, costs)
    edges = np.concatenate(([0.0], BEACON_S * np.arange(1, 5)))
    steps = np.array(masses) / (sum(masses) + 0.5)

    def law(times_s):
        risen = np.interp(times_s, edges, np.concatenate(([0.0], np.cumsum(steps))))
        fine = np.linspace(0, 1, 20_001)
        area = np.concatenate(
            ([0.0], np.cumsum(np.interp(fine[:-1], edges, np.cumsum([0.0, *steps])) * 5e-5))
        )
        return risen, np.interp(times_s, fine, area)

    best = solve_rest(law, times, costs)
    other = [*plan[:-1], max(1, plan[-1])]
    assert expected_cost(law, times, costs, best.tolist()) <= expected_cost(law, times, costs, other) + 1e-5


def test_the_plan_has_only_allowed_dozes():
    """No doze before 0.1 s, and at most two beacons later."""
    times = fine_times(10, COSTS)
    allowed = (times.times_s >= 0.1)[:, None] & (np.arange(COSTS.max_beacons) < 2)
    plan = solve_rest(exponential(0.01), times, COSTS, allowed)
    assert (plan[times.times_s < 0.1] == 0).all()
    assert set(plan[times.times_s >= 0.1].tolist()) <= {0, 1, 2}


@given(rate=st.floats(1e-4, 1.0), price=st.floats(0.001, 5.0), begin_s=st.floats(0.0, 20.0))
def test_the_shortcut_to_the_longest_doze_agrees_with_the_dynamic_programme(rate, price, begin_s):
    """The programme returns the longest doze for each beacon if the largest hazard allows it."""
    costs = RestCosts(price, np.inf, 0.0015, 6)
    for law in (exponential(rate), ramp(begin_s, begin_s + 2.0, min(1.0, rate))):
        if longest_doze_is_best(law, 0.03, 4.03, costs, BEACON_S):
            assert (solve_rest(law, beacon_times(30, costs), costs)[:25] == 6).all()
