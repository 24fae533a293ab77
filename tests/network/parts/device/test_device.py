"""Device effects of station and access point: hand-computed cases and laws."""

from __future__ import annotations

import pytest

from psm_sim.common.random_streams import random_stream
from psm_sim.network import build_world, load_topology
from psm_sim.network.parts.beacon_loss import BeaconReception
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.simulation import simulate
from psm_sim.simulation.table import usage_of
from tests.every_beacon import run_both
from tests.network.radio_bench import Recorder
from tests.page_rows import check_bytes_are_conserved, page_rows

NOTHING_IS_LOST = {"access_point.ageing_s": 1e6}
"""Settings with which a device behaves like the station of the papers."""


class Bench:
    """World without pages, for tests that inject frames."""

    def __init__(self, settings=None, policy="psm"):
        self.recorder = Recorder()
        instance = make_policy(policy) if isinstance(policy, str) else policy
        self.world = build_world(load_topology("three-node", settings), instance, [self.recorder])
        self.env = self.world.env
        self.delivered: list[float] = []
        port, radio = self.world.port, self.world.radio
        self.forward = port.forward
        association = getattr(self.world.hop, "association", None)
        radio.deliver = lambda _: self.delivered.append(round(self.env.now, 3))
        radio.deliver = association.answer_polls(radio.deliver) if association else radio.deliver

    def at(self, time_s, action):
        self.env.timeout(time_s).callbacks.append(lambda _: action())

    def arrive_at(self, time_s, size=1500):
        self.at(time_s, lambda: self.forward(Segment(ConnectionId(), 0, size - 40, 0, False, False, size)))

    def send_at(self, time_s):
        self.at(time_s, lambda: self.world.station.send(Segment(ConnectionId(), 0, 0, 0, False, False, 40)))

    def run(self, until):
        self.env.run(until=until)
        return self.world.usage()

    def lose(self, *numbers):
        self.world.radio._reception.lossless = False
        self.world.radio._reception.lost = lambda number: number in numbers


@pytest.mark.parametrize("policy", ["psm", "psm:listen_interval=3", "bsd", "lpsm"])
def test_a_device_without_losses_equals_the_thesis_station_bit_for_bit(policy):
    """Energy, page times and traffic are equal."""
    plain, device = (simulate(policy, pages=4, settings=settings) for settings in ({}, NOTHING_IS_LOST))
    assert page_rows(device) == page_rows(plain)
    assert usage_of(device.row) == usage_of(plain.row)


EVERYTHING = {
    "beacon.dtim_period": 3,
    "beacon.loss": 0.3,
    "beacon.loss_run": 2,
    "access_point.group_per_s": 3,
    "access_point.ageing_s": 0.5,
    "access_point.idle_limit_s": 30,
    "station.keep_alive_s": 7,
    "station.drift_ppm": 100,
    "station.guard_ms": 0.2,
    "station.wake_ms": 2,
    "power.transmit_w": 1.2,
    "power.wake_j": 0.001,
    "power.frame_j": 0.0005,
}


@pytest.mark.parametrize("policy", ["psm", "psm:listen_interval=3", "bsd", "lpsm"])
def test_bytes_are_conserved_under_all_effects_and_an_event_per_beacon_changes_no_energy(policy):
    """Bytes sent are received, in transit or dropped; energy and page times do not depend on the events."""
    result, fired = run_both(policy, pages=3, settings=EVERYTHING)
    assert page_rows(fired) == page_rows(result)
    assert usage_of(fired.row) == usage_of(result.row)
    check_bytes_are_conserved(result)
    usage = usage_of(result.row)
    assert usage.awake_s + usage.asleep_s == pytest.approx(result["simulated_s"])
    assert min(usage) > 0


def test_a_frame_announced_in_a_missed_beacon_is_retrieved_at_the_next_beacon():
    """The frame of 0.15 s is announced at 0.2 s, in a missed beacon, and retrieved at 0.3 s."""
    bench = Bench({"beacon.loss": 0.5})
    bench.lose(2)
    bench.arrive_at(0.15)
    bench.run(0.45)
    assert bench.delivered == [pytest.approx(0.3025, abs=1e-3)]
    assert bench.recorder.heard == [0.1, 0.2, 0.3, 0.4]
    assert bench.world.radio.beacons_missed == 1


def test_a_station_receives_the_beacon_after_a_missed_beacon():
    """The listen interval is 3: after the miss at 0.3 s the station wakes at 0.4 s, and then at 0.6 s."""
    bench = Bench({"beacon.loss": 0.5}, "psm:listen_interval=3")
    bench.lose(3)
    bench.run(0.75)
    assert bench.recorder.heard == [0.3, 0.4, 0.6]


@pytest.mark.parametrize(("loss", "run"), [(0.3, None), (0.3, 5.0), (0.6, 3.0)])
def test_missed_beacons_have_the_configured_share_and_run_length(loss, run):
    """The share is within 3 % and the mean run within 5 %, over 200,000 beacons."""
    reception = BeaconReception(loss, run, random_stream(1, "beacons"))
    lost = [reception.lost(number) for number in range(200_000)]
    assert sum(lost) / len(lost) == pytest.approx(loss, rel=0.03)
    runs = sum(1 for before, now in zip([False, *lost], lost, strict=False) if now and not before)
    assert sum(lost) / runs == pytest.approx(run or 1 / (1 - loss), rel=0.05)


def test_a_busy_channel_costs_its_mean_delay_per_beacon():
    """The mean delay is half of 5 ms for 40 % of the time, for each of 99 beacons.

    The station also sends 40 B.
    """
    bench = Bench({"beacon.busy_air": 0.4, "beacon.ppdu_ms": 5})
    bench.send_at(9.95)
    usage = bench.run(9.98)
    assert usage.awake_s == pytest.approx(99 * 1e-3 + 64e-6)
    assert usage.awake_s + usage.asleep_s == pytest.approx(9.98)


def test_a_drifting_clock_costs_guard_time():
    """The guard time is 9.9 ms for 9.9 s asleep at 1000 ppm, plus 0.2 ms for each of 99 beacons."""
    bench = Bench({"station.drift_ppm": 1000, "station.guard_ms": 0.2})
    bench.send_at(9.95)
    usage = bench.run(9.98)
    assert usage.awake_s == pytest.approx(9.9 * 1e-3 + 99 * 0.2e-3 + 64e-6)
    assert usage.asleep_s == pytest.approx(9.98 - usage.awake_s)


def test_the_guard_times_of_an_unfinished_doze_are_charged():
    """A station without traffic is awake for 0.2 ms for each of 99 beacons."""
    usage = Bench({"station.guard_ms": 0.2}).run(9.98)
    assert usage.awake_s == pytest.approx(99 * 0.2e-3)


def test_waking_to_send_takes_time_and_energy():
    """A frame of 40 B at 5 Mbit/s is sent 20 ms after it was queued: the radio is awake for 20.064 ms."""
    bench = Bench({"station.wake_ms": 20, "power.wake_j": 0.5})
    bench.send_at(0.12)
    usage = bench.run(0.19)
    assert usage.awake_s == pytest.approx(0.020064)
    assert (usage.wake_ups, usage.wake_ups_j) == (1, 0.5)


def test_buffered_frames_expire_and_are_dropped():
    """Frames expire after 0.5 s and the station wakes after 1 s; a younger frame is delivered."""
    bench = Bench({"access_point.ageing_s": 0.3}, "psm:listen_interval=10")
    bench.arrive_at(0.5)
    bench.arrive_at(0.9)
    bench.run(1.5)
    assert len(bench.delivered) == 1
    assert bench.world.port.dropped_bytes == 1500


def group_of(settings, policy="psm", until=1000.05):
    """Return the group frames of a run, and the bench."""
    bench = Bench({"access_point.group_per_s": 2.0} | settings, policy)
    bench.run(until)
    return bench.world.hop.group, bench


def test_a_station_misses_the_group_frames_of_the_dtim_beacons_that_it_skips():
    """A station that wakes for every third DTIM beacon misses two in three group frames."""
    every, _ = group_of({"beacon.dtim_period": 2}, "psm:listen_interval=2")
    assert every.sent == pytest.approx(2000, abs=150)
    assert every.missed == 0
    third, _ = group_of({"beacon.dtim_period": 2}, "psm:listen_interval=6")
    assert third.sent == every.sent
    assert third.missed / third.sent == pytest.approx(2 / 3, abs=0.03)
    assert group_of({}, "always-on")[0].missed == 0


def test_group_frames_keep_a_station_awake_for_their_air_time():
    """100 B at 1 Mbit/s take 0.8 ms each, and the last frame after each DTIM beacon another 0.1 ms."""
    frames, bench = group_of({})
    awake_s = bench.world.usage().awake_s
    assert frames.sent * 0.8e-3 < awake_s < frames.sent * 0.95e-3


def test_a_disassociated_station_receives_nothing_until_it_associates_again():
    """The station is idle for 12 s with a limit of 10 s.

    The frame of 11 s is dropped, and the next packet takes 1 s longer.
    """
    bench = Bench({"access_point.idle_limit_s": 10, "access_point.poll_idle": False})
    bench.arrive_at(11)
    bench.send_at(12)
    usage = bench.run(14.05)
    assert bench.delivered == []
    assert bench.world.hop.association.renewals == 1
    assert usage.awake_s == pytest.approx(1.000064)


def test_a_poll_of_the_access_point_renews_the_association_of_a_dozing_station():
    """The poll of 10 s waits for the beacon, and its ACK renews the limit. No frame is dropped at 35 s."""
    bench = Bench({"access_point.idle_limit_s": 10})
    bench.arrive_at(35)
    usage = bench.run(36.05)
    assert len(bench.delivered) == 1
    assert bench.world.hop.association.renewals == 0
    assert bench.world.hop.association.sent_s == pytest.approx(30.2, abs=0.2)
    # Three polls of 28 B and the frame of 1500 B are received.
    assert usage.awake_s == pytest.approx((3 * 28 + 1500) * 8 / 5e6, abs=1e-3)


def test_an_unacknowledged_poll_ends_the_association_3_s_after_the_idle_limit():
    """A station that dozes for 100 beacons is disassociated at 13 s; a frame at 12 s still waits."""
    bench = Bench({"access_point.idle_limit_s": 10}, "psm:listen_interval=1000")
    bench.arrive_at(12)
    bench.arrive_at(14)
    bench.run(14.05)
    assert bench.world.port.dropped_frames == 2


def test_frames_that_aged_out_do_not_stop_a_poll():
    """The frame of 2 s fills the buffer until 4 s; the poll of 10 s is answered at 11 s, before 13 s."""
    settings = {"access_point.buffer_frames": 1, "access_point.ageing_s": 2, "access_point.idle_limit_s": 10}
    bench = Bench(settings, "psm:listen_interval=110")
    bench.arrive_at(2)
    bench.arrive_at(20.5)
    bench.run(22.5)
    assert bench.delivered == [pytest.approx(22.0, abs=0.01)]


def test_null_frames_keep_the_association_alive():
    """A null frame every 5 s prevents drops, and none reaches the server."""
    bench = Bench({"access_point.idle_limit_s": 10, "station.keep_alive_s": 5})
    bench.arrive_at(31)
    usage = bench.run(32.05)
    assert len(bench.delivered) == 1
    assert bench.world.hop.association.renewals == 0
    assert bench.world.wired_up.in_flight_bytes == bench.world.server.received_bytes == 0
    assert usage.awake_s == pytest.approx(6 * 28 * 8 / 5e6 + 0.0025, rel=0.05)


def test_a_user_defined_policy_can_read_the_dtim_period():
    """The period is set before the policy starts."""

    class Mine(Policy):
        name = "mine"

        def rest(self, now_s, since_uplink_s, poll):
            return Rest(0.0, self.dtim.period)

    bench = Bench({"beacon.dtim_period": 4}, Mine())
    bench.run(0.95)
    assert bench.recorder.heard == [0.4, 0.8]
