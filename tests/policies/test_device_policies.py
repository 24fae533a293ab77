"""Policies of device drivers: hand-computed cases, and laws of service periods."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.network import build_world, load_topology
from psm_sim.network.observers import Observer
from psm_sim.policies import make_policy
from psm_sim.policies.base import Dtim, Frame
from psm_sim.policies.dynamic import DRIVER_DEFAULTS
from psm_sim.simulation import simulate
from psm_sim.simulation.table import usage_of
from tests.network.parts.device.test_device import Bench
from tests.network.radio_bench import RadioBench

REQUEST = Frame(0, 340, 300, False, False)
REPLY = Frame(0, 940, 900, False, False)


def heard(policy, *sends_at, until=1.05):
    """Return the beacons that a station receives if it sends at *sends_at*."""
    bench = RadioBench(make_policy(policy))
    for time_s in sends_at:
        bench.send_at(time_s)
    return bench.run(until)


@pytest.mark.parametrize(
    ("stack", "timeout_ms"),
    [("linux", 100), ("iwlwifi", 100), ("brcmfmac", 2000), ("cyw43", 200), ("qualcomm", 200),
     ("esp-idf", 50), ("nrf70", 100), ("talaria", 12)],
)  # fmt: skip
def test_a_policy_stays_awake_after_traffic_for_as_long_as_its_driver_does(stack, timeout_ms):
    """The ledger has timeout_ms awake after a packet at 5.03 s; the start counts as a frame."""
    bench = RadioBench(make_policy(f"dynamic:stack={stack}"))
    bench.send_at(5.03)
    bench.run(9)
    assert bench.ledger.usage(9).awake_s == pytest.approx(2 * timeout_ms / 1000, abs=1e-6)
    assert DRIVER_DEFAULTS[stack].timeout_ms == timeout_ms


def test_the_dynamic_policy_wakes_at_dtim_beacons_or_at_its_listen_interval():
    """The DTIM period is 3, with beacons at 0.3, 0.6 and 0.9 s, or the listen interval is 4."""
    by_dtim, by_interval = make_policy("dynamic"), make_policy("dynamic:listen_interval=4")
    for policy in (by_dtim, by_interval):
        policy.dtim = Dtim(3)
    assert RadioBench(by_dtim).run(1.05) == [0.3, 0.6, 0.9]
    assert RadioBench(by_interval).run(1.05) == [0.4, 0.8]
    low_power = make_policy("dynamic:stack=iwlwifi-low-power")
    low_power.dtim = Dtim(2)
    assert RadioBench(low_power).run(1.25) == [0.6, 1.2]


def test_a_frame_within_the_timeout_does_not_wait():
    """The reply at 0.60 s to a packet at 0.52 s is delivered immediately; with psm it waits for a beacon."""
    for policy, delivered in (("dynamic", 0.585), ("psm", 0.6)):
        bench = RadioBench(make_policy(policy))
        bench.send_at(0.52)
        bench.arrive_at(0.585)
        bench.run(1.0)
        assert bench.delivered == [pytest.approx(delivered)]


def test_each_dtim_beacon_with_group_frames_keeps_the_station_awake_for_the_timeout():
    """Each group frame keeps the station awake for the timeout, as in ESP8266_NONOS_SDK, issue 192."""
    quiet, chatty = (
        simulate("dynamic:stack=esp-idf", pages=3, profile="esp32-c3", settings=settings)
        for settings in ({"access_point.group_per_s": 0.0}, {"access_point.group_per_s": 1.0})
    )
    more_s = usage_of(chatty.row).awake_s - usage_of(quiet.row).awake_s
    woken = (
        10 * quiet["simulated_s"] * (1 - 2.718281828 ** (-0.1))
    )  # DTIM beacons with at least one group frame
    assert more_s == pytest.approx(woken * 0.05, rel=0.25)


def test_the_predict_policy_dozes_until_replies_begin_and_then_stays_awake():
    """The training has four replies at 420 ms.

    The radio dozes from 5.03 to 5.4 s, and stays awake to 5.45 s.
    """
    policy = make_policy("predict")
    policy.start(0.1)
    for number in range(4):
        policy.sent(number, REQUEST)
        policy.received(number + 0.42, REPLY)
    policy.sent(5.03, REQUEST)
    assert policy.rest(5.031, 0.001, None).beacons == 4
    rest = policy.rest(5.4, 0.37, None)
    assert (rest.awake_s, rest.beacons) == (pytest.approx(0.05), 1)
    policy.received(5.45, REPLY)
    assert policy.rest(5.45, 0.42, None).repeat in (True, False)
    assert policy.rest(5.5, 0.47, None).repeat


def test_the_predict_policy_learns_when_a_reply_arrives_rather_than_when_its_beacon_is_received():
    """Replies arrive 250 ms after the request by the stamps of the access point, and are retrieved later."""
    policy = make_policy("predict:timeout_ms=0,learn=1")
    bench = RadioBench(policy)
    bench.radio.deliver = bench.station.receiver(lambda _: None)
    for number in range(3):
        bench.send_at(1.02 + 2 * number)
        bench.at(1.02 + 2 * number, lambda: policy.sent(bench.env.now, REQUEST))
        bench.arrive_at(1.27 + 2 * number)
    bench.run(8)
    assert list(policy._delays_s) == [pytest.approx(0.25, abs=1e-3)] * 3


def test_stpm_stays_awake_during_a_run_of_transfers_only_if_delay_is_expensive():
    """The runs have four transfers 50 ms apart. The radio stays awake at 100 J/s, and dozes at 0.01 J/s."""
    waits = []
    for price in (100, 0.01):
        policy = make_policy(f"stpm:delay_w={price}")
        policy.start(0.1)
        for number in range(12):
            policy.sent(10 * (number // 4) + 0.05 * (number % 4), REQUEST)
        policy.sent(40.0, REQUEST)
        waits.append(policy.rest(40.01, 0.01, None).awake_s)
    assert waits == [pytest.approx(0.5), 0.0]


def test_stpm_decides_by_the_hand_computed_costs():
    """Untrained costs are 0.75 x 0.5 = 0.375 J awake, and 0.05 x 0.5 J plus 0.1 s at 3.5 J/s dozing."""
    for price, awake in ((3.51, True), (3.49, False)):
        policy = make_policy(f"stpm:delay_w={price}")
        policy.start(0.1)
        assert (policy.rest(0.0, 0.0, None).awake_s > 0) is awake


def service_bench(policy, rate_mbps=12.0, **more):
    """Return a bench at 12 Mbit/s, where a frame of 1500 B takes 1 ms."""
    return Bench({"links.wireless.rate_mbps": rate_mbps, "links.wireless.latency_ms": 0.0, **more}, policy)


# U-APSD by hand: a null frame of 28 B at 12 Mbit/s takes 0.018667 ms, one of 40 B 0.026667 ms.
NULL_S, ACK_S = 28 * 8 / 12e6, 40 * 8 / 12e6


def test_uapsd_retrieves_a_buffered_frame_with_an_uplink_packet():
    """The frame of 0.11 s is triggered by the packet at 0.12 s and delivered 0.026667 + 1 ms later."""
    bench = service_bench("uapsd")
    bench.arrive_at(0.11)
    bench.send_at(0.12)
    usage = bench.run(0.19)
    assert bench.world.wireless_down.free_at == pytest.approx(0.12 + ACK_S + 0.001)
    assert usage.awake_s == pytest.approx(ACK_S + 0.001)
    assert usage.beacons == 1
    assert usage.total_j == pytest.approx(0.75 * usage.awake_s + 0.05 * (0.19 - usage.awake_s) + 0.0015)


def test_uapsd_sends_a_trigger_after_a_beacon_with_the_tim_bit():
    """The frame of 0.11 s is triggered by a null data frame at 0.2 s and takes 1 ms."""
    bench = service_bench("uapsd")
    bench.arrive_at(0.11)
    usage = bench.run(0.29)
    assert bench.delivered == [pytest.approx(0.2 + NULL_S + 0.001, abs=1e-3)]
    assert usage.awake_s == pytest.approx(NULL_S + 0.001)
    assert usage.beacons == 2


def test_uapsd_delivers_five_frames_in_three_periods_of_at_most_two_frames():
    """The station is awake for three triggers of 0.018667 ms and five frames of 1 ms."""
    bench = service_bench("uapsd:max_sp=2")
    for number in range(5):
        bench.arrive_at(0.11 + number / 1000)
    usage = bench.run(0.29)
    assert len(bench.delivered) == 5
    assert usage.awake_s == pytest.approx(3 * NULL_S + 0.005)


def test_uapsd_buffers_frames_after_the_end_of_a_period():
    """While the station sends for 10 ms, the frame of 0.125 s is not delivered; it waits until 0.2 s."""
    bench = service_bench("uapsd", rate_mbps=0.032)  # 40 B take 10 ms
    bench.send_at(0.12)
    bench.arrive_at(0.125, size=41)
    bench.run(0.25)
    assert bench.delivered == [pytest.approx(0.2 + 28 * 8 / 0.032e6 + 41 * 8 / 0.032e6, abs=1e-3)]


# TWT, three hand calculations: every 512 x 2^10 us = 0.524288 s for 32 x 256 us = 8.192 ms.
AGREED = "twt:exponent=10"
INTERVAL_S, DURATION_S, OVERHEAD_S = 0.524288, 0.008192, 0.00685


def test_an_idle_twt_station_is_awake_in_every_service_period():
    """Nine periods in 5 s take 8.192 ms each, and 6.85 ms of start-up and tail."""
    usage = service_bench(AGREED).run(5.0)
    assert usage.beacons == 0
    awake_s = 9 * (DURATION_S + OVERHEAD_S)
    assert usage.awake_s == pytest.approx(awake_s)
    joules = 0.75 * awake_s + 0.05 * (5.0 - awake_s)
    assert usage.total_j == pytest.approx(joules)


def test_a_frame_waits_for_the_next_twt_period_at_no_cost_of_energy():
    """The frame of 0.1 s is delivered 1 ms after 0.524288 s; with announced=true 0.018667 ms later."""
    for policy, delay_s in ((AGREED, 0.0), (f"{AGREED},announced=true", NULL_S)):
        bench = service_bench(policy)
        bench.arrive_at(0.1)
        usage = bench.run(1.0)
        assert bench.world.wireless_down.free_at == pytest.approx(INTERVAL_S + delay_s + 0.001)
        assert usage.awake_s == pytest.approx(DURATION_S + OVERHEAD_S)


def test_eight_frames_fit_into_a_twt_period_and_the_ninth_frame_waits_for_the_next_period():
    """Eight frames of 1 ms fit into 8.192 ms; the ninth is sent in the next period, 0.524288 s later."""
    bench = service_bench(AGREED)
    for number in range(9):
        bench.arrive_at(0.1 + number / 1000)
    usage = bench.run(1.2)
    assert bench.delivered[-2:] == [
        pytest.approx(INTERVAL_S + 0.008, abs=1e-3),
        pytest.approx(2 * INTERVAL_S + 0.001, abs=1e-3),
    ]
    assert usage.awake_s == pytest.approx(2 * (DURATION_S + OVERHEAD_S))


def test_a_twt_station_sends_an_uplink_packet_in_the_next_period_or_immediately_as_configured():
    """A packet of 0.6 s is sent at 1.048576 s, or at 0.6 s with the radio awake for it."""
    for uplink, leaves_s in (("wait", 2 * INTERVAL_S), ("send", 0.6)):
        bench = service_bench(f"{AGREED},uplink={uplink}")
        bench.send_at(0.6)
        usage = bench.run(1.2)
        assert bench.world.wireless_up.free_at == pytest.approx(leaves_s + ACK_S)
        extra_s = ACK_S if uplink == "send" else 0.0
        assert usage.awake_s == pytest.approx(2 * (DURATION_S + OVERHEAD_S) + extra_s)


def test_a_twt_station_receives_no_group_frames():
    """All group frames are missed."""
    bench = service_bench(AGREED, **{"access_point.group_per_s": 5.0})
    bench.run(20)
    group = bench.world.hop.group
    assert group.missed == group.sent > 50


class Air(Observer):
    """Record the transmission times of the frames for the station."""

    def __init__(self):
        self.times = []

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name == "wireless down":
            self.times.append((link.free_at - link.air_time_s(segment), link.free_at))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.01, 3.0), st.integers(41, 1500)), min_size=1, max_size=40),
    st.lists(st.floats(0.01, 3.0), max_size=5),
    st.integers(9, 40),
    st.sampled_from(["", ",announced=true", ",uplink=wait", ",early_end=true"]),
)
def test_frames_never_exceed_the_negotiated_service_period(frames, sends, duration, more):
    """Arrivals and uplink packets are random. Each frame is within a period, and all are delivered."""
    policy = make_policy(f"twt:exponent=9,duration={duration}{more}")
    air = Air()
    topology = load_topology("three-node", {"links.wireless.rate_mbps": 12.0})
    world = build_world(topology, policy, [air])
    bench = Bench.__new__(Bench)
    bench.world, bench.env, bench.delivered = world, world.env, []
    bench.forward = world.port.forward
    world.radio.deliver = lambda _: bench.delivered.append(world.env.now)
    for time_s, size in frames:
        bench.arrive_at(time_s, size)
    for time_s in sends:
        bench.send_at(time_s)
    bench.run(20.0)
    assert len(bench.delivered) == len(frames)
    interval_s = policy.interval_s
    for begins_s, ends_s in air.times:
        period_s = (begins_s + 1e-9) // interval_s * interval_s
        assert begins_s >= interval_s - 1e-9
        assert ends_s <= period_s + policy.duration_s + 1e-9


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("twt:exponent=0,mantissa=100", "the duration must be at most the wake interval .*, got 0.008192 s"),
        ("twt:exponent=31,mantissa=2", "the wake interval must be at most 2147.48 s, got 4294.97 s"),
        ("twt:duration=1", "at least as long as a full frame \\(0.0024448 s\\), got 0.000256 s"),
    ],
)
def test_an_infeasible_agreement_is_an_error_of_one_sentence(policy, message):
    """The error precedes the run."""
    with pytest.raises(InputError, match=message):
        simulate(policy, pages=1)
