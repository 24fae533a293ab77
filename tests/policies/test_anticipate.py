"""Anticipate: its laws, the bound by p, and its energy and delay on bundled traces."""

from __future__ import annotations

from functools import cache
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.policies import Poll, RadioPower
from psm_sim.policies.anticipate import Anticipate
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.workload import load_workload
from tests.network.worlds import run_world
from tests.policies.frames import datagram, fin, request
from tests.policies.test_bsd import EPSILON_S, schedule


def trained(times_s, **parameters) -> Anticipate:
    """Return a policy after replies at *times_s*, just after another request."""
    policy = Anticipate(**parameters)
    policy.start(0.1)
    for time_s in times_s:
        policy.models["request"].observe(max(0.0, time_s - 0.004), time_s)
    policy.sent(100.03, request())
    return policy


def rests(policy, count, since_s=100.03):
    """Return the next rests without traffic, as (awake until, wakes at) in seconds since the request."""
    times_s, now_s = [], since_s
    for _ in range(count):
        rest = policy.rest(now_s, now_s - since_s, None)
        doze_s = now_s + rest.awake_s
        now_s = policy.beacon_grid.time(policy.beacon_grid.after(doze_s) + rest.beacons - 1)
        times_s.append((round(doze_s - since_s, 3), round(now_s - since_s, 3)))
    return times_s


@cache
def measured(trace, pages, policy, seed):
    """Return energy and mean slowdown of a policy."""
    (run,) = run_comparison([policy], Scenario(trace, pages=pages, seed=seed)).runs
    return run.energy_per_page_j, run.slowdown.mean


def mean(trace, pages, policy, seeds=(901, 902, 903)):
    """Return mean energy and slowdown over seeds that were not used for any choice."""
    return np.mean([measured(trace, pages, policy, seed) for seed in seeds], axis=0)


def test_at_price_0_the_radio_never_stays_awake_and_dozes_for_the_maximum_time():
    """The training is random, with and without an outstanding request."""
    policy = trained([0.05] * 50, price=0.0)
    assert rests(policy, 4) == [(0.0, 1.17), (1.17, 2.37), (2.37, 3.57), (3.57, 4.77)]
    policy.received(200.03, fin())
    assert rests(policy, 2, 200.03) == [(0.0, 1.17), (1.17, 2.37)]


def test_for_a_reply_after_590_ms_the_radio_wakes_at_the_last_beacon_before_the_reply():
    """The radio dozes to 570 ms after the request, and stays awake until no reply is expected."""
    (first, met), (waits, _) = rests(trained([0.59] * 1000, price_w=2.0), 2)
    assert (first, met) == (0.0, 0.57)
    assert 0.59 <= waits < 0.8


def test_at_a_high_price_of_delay_the_radio_stays_awake_for_a_fast_reply():
    """The radio does not doze before the reply at 30 ms."""
    (waits, _), *_ = rests(trained([0.03] * 200, price_w=20.0), 1)
    assert waits >= 0.03


def test_beacons_become_more_frequent_before_a_reply_at_30_seconds():
    """The longest dozes end at about 28 s; then dozes become shorter, down to every beacon."""
    policy = Anticipate(price=1.4)
    policy.start(0.1)
    for _ in range(300):
        policy.models["idle"].observe(29.9, 30.1)
    wakes = np.cumsum([0.0] + [1.2] * 18)
    times_s = rests(policy, 60, 0.0)
    gaps = np.diff([0.0] + [wake for _, wake in times_s])
    before = np.array([wake for _, wake in times_s]) < 24
    assert gaps[before][1:] == pytest.approx(1.2)
    assert times_s[: len(wakes) - 1][0] == (0.0, 1.2)
    near = (np.array([wake for _, wake in times_s]) > 29) & (np.array([wake for _, wake in times_s]) < 30)
    assert gaps[near].max() < 0.4


def test_the_radio_stays_awake_or_dozes_depending_on_the_power_of_each_state():
    """The radio never dozes while a reply is likely if waiting awake costs no more than dozing."""
    policy = trained([0.4] * 100, price_w=1.0)
    assert rests(policy, 1)[0][0] == 0.0
    policy.power = RadioPower(0.05, 0.05, 0.0015)
    assert rests(policy, 1)[0][0] > 0.4


@settings(max_examples=60)
@given(
    reply_s=st.floats(1e-6, 20.0),
    p=st.floats(0.05, 5.0),
    phase_s=st.floats(0.0, 0.1),
    price=st.sampled_from([0.0, 1.0, 20.0]),
    learnt_s=st.sampled_from([None, 0.05, 2.0]),
)
def test_if_p_is_set_every_reply_takes_at_most_one_plus_p_times_as_long(reply_s, p, phase_s, price, learnt_s):
    """The bound of Bounded Slowdown, for any reply time, p, phase and training."""
    policy = Learnt(learnt_s, price=price, p=p)
    for doze_s, wake_s in schedule(policy, phase_s, reply_s + 1e-9):
        if doze_s < reply_s <= wake_s:
            assert wake_s <= (1 + p) * reply_s + EPSILON_S


class Learnt(Anticipate):
    """Policy that starts trained, with or without an outstanding request."""

    def __init__(self, learnt_s, **parameters) -> None:
        self.learnt_s = learnt_s
        super().__init__(**parameters)

    def start(self, beacon_s: float) -> None:
        """Train, and send a request."""
        super().start(beacon_s)
        if self.learnt_s is not None:
            for _ in range(30):
                self.models["request"].observe(self.learnt_s * 0.9, self.learnt_s)
            self.sent(1000 * beacon_s, request())


def test_anticipate_has_less_energy_and_less_delay_than_lpsm_and_static_psm_and_bsd():
    """The price is 0.1 for LPSM, and for PSM at equal page times, and 3 for BSD."""
    cheap, quick = (mean("ucb", 30, f"anticipate:price={price}") for price in ("0.1", "3"))
    lpsm, psm, bsd = (mean("ucb", 30, policy) for policy in ("lpsm", "psm", "bsd:p=1"))
    assert (cheap < lpsm).all()
    assert cheap[1] < psm[1] + 0.03
    assert cheap[0] < 0.91 * psm[0]
    assert quick[0] < bsd[0]
    assert quick[1] < bsd[1] + 0.03


def idle_wakes(policy, until_s):
    """Return the ends of all dozes without traffic."""
    now_s, wakes = 0.0, []
    while now_s < until_s:
        rest = policy.rest(now_s, now_s, Poll(100.0))
        now_s = policy.beacon_grid.time(policy.beacon_grid.after(now_s) + rest.beacons - 1)
        wakes.append(now_s)
    return np.array(wakes)


@pytest.mark.parametrize("price_w", [0.5, 2.0, 10.0])
def test_the_rate_of_beacons_in_a_long_idle_period_follows_from_the_minimum_hazard(price_w):
    """The beacons are those after the first minute of an hour."""
    policy = Anticipate(price_w=price_w, max_ms=10_000)
    policy.start(0.1)
    wakes = idle_wakes(policy, 3600.0)
    beacon_j = policy.power.beacon_j
    premium_j = sqrt(2 * beacon_j * 0.5 * price_w) * (sqrt(300 + 3600) - sqrt(300 + 61))
    assert beacon_j * (wakes > 61).sum() == pytest.approx(premium_j, rel=0.05)


@pytest.mark.parametrize("price", [0.01, 0.25, 10.0])
def test_an_unsolicited_frame_waits_at_most_max_ms(price):
    """Idle periods and numbers of sent datagrams are random."""
    policy = Anticipate(price=price, max_ms=700)
    policy.start(0.1)
    assert np.diff(idle_wakes(policy, 500.0)).max() <= 0.7 + 1e-9
    policy.sent(600.0, datagram())
    assert np.diff([wake for _, wake in rests(policy, 40, 600.0)]).max() <= 0.7 + 1e-9


def test_a_station_that_gets_no_replies_soon_stops_waiting_for_replies():
    """The radio stays awake after at most three reports, sent every 10 s, that get no reply."""
    policy = Anticipate(price=2.0)
    policy.start(0.1)
    awake_s = []
    for report in range(1, 8):
        policy.sent(10.0 * report, datagram())
        now_s, waited_s = 10.0 * report, 0.0
        while now_s < 10.0 * (report + 1):
            rest = policy.rest(now_s, now_s - 10 * report, None)
            waited_s += rest.awake_s
            now_s += rest.awake_s
            now_s = policy.beacon_grid.time(policy.beacon_grid.after(now_s) + rest.beacons - 1)
        awake_s.append(waited_s)
    assert sum(awake_s[3:]) == 0
    assert awake_s[0] <= 2.1


def test_anticipate_works_without_release_on_uplink():
    """An uplink packet then interrupts no doze, and reveals no buffered frames."""
    pages = load_workload("ucb", 10, 904).pages
    assert len(run_world(pages, "anticipate", access_point__release_on_uplink=False).visits) == 10


def test_the_model_of_every_context_is_trained_on_finite_observations():
    """Each context that occurs in 60 pages has a law with finite observations."""
    policy = Anticipate()
    run_world(load_workload("ucb", 60, 905).pages, policy)
    assert {"request", "syn", "idle"} <= set(policy.models)
    for model in policy.models.values():
        assert model.rounds > 0
        assert model.at(np.array([1.0, inf]))[0][1] <= 1
