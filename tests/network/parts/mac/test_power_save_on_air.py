"""Power save with a channel model: PS-Polls, More Data and null frames, at hand-computed times.

With 802.11b: a beacon begins 30 us after it is due and takes 864 us; AIFS 70 us, SIFS 10 us; a PS-Poll takes
207 us, a packet of 1500 B 1311 us, an ACK 248 us, a null frame 213 us.
"""

from __future__ import annotations

import itertools
from unittest.mock import patch

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import build_world, load_topology
from psm_sim.network.parts.mac import bss
from psm_sim.policies import Policy, Rest, make_policy
from tests.network.parts.mac.air_bench import LEGACY, AirBench

POLLED = 200 + 0.030 + 0.864 + 0.070 + 0.207 + 0.010  # ms: when the answer to the first PS-Poll begins
CYCLE = (
    0.010 + 0.248 + 0.070 + 0.207 + 0.010
)  # from the end of one reply to the start of the next, without backoff
SLOT = 0.020


class Waits(Policy):
    """Stay awake for 30 ms, then doze."""

    name = "waits"

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(awake_s=0.03)


def slots(gap):
    """Return the number of backoff slots in a gap in ms."""
    assert gap / SLOT == pytest.approx(round(gap / SLOT), abs=1e-2)
    return round(gap / SLOT)


def asleep_after(seen, time_ms):
    """Return the time in ms at which the radio next begins to doze."""
    return min(time for time, awake in seen.changes if not awake and time > time_ms)


def test_a_buffered_frame_is_polled_after_the_beacon_with_the_tim_bit():
    """The radio dozes at the end of its own ACK, because no backoff is left."""
    bench = AirBench(make_policy("psm"), **LEGACY)
    bench.arrive_at(0.15)
    seen = bench.run()
    assert seen.down == [(pytest.approx(POLLED), pytest.approx(POLLED + 1.311))]
    assert seen.changes == [(0, False), (200, True), (pytest.approx(POLLED + 1.311 + 0.258), False)]
    assert seen.heard == [100.0 * number for number in range(1, 10)]


def test_every_further_frame_needs_another_poll_after_a_backoff():
    """A frame that arrives during retrieval is polled if the last one has More Data = 1."""
    bench = AirBench(make_policy("psm"), **LEGACY)
    for time_s in (0.15, 0.16, 0.2, 0.2031):
        bench.arrive_at(time_s)
    down = bench.run().down
    gaps = [start - end - CYCLE for (_, end), (start, _) in itertools.pairwise(down)]
    assert len(down) == 4
    assert all(0 <= slots(gap) <= 31 for gap in gaps)


def test_a_frame_that_arrives_during_the_last_buffered_frame_waits_for_the_next_beacon():
    """The last frame has More Data = 0; the next PS-Poll is 100 ms later."""
    bench = AirBench(make_policy("psm"), **LEGACY)
    bench.arrive_at(0.15)
    bench.arrive_at((POLLED + 0.5) / 1000)
    down = bench.run().down
    assert [start for start, _ in down] == [pytest.approx(POLLED), pytest.approx(POLLED + 100)]


def test_a_legacy_station_sends_without_retrieving_frames():
    """The station dozes after the ACK, and the buffered frame waits for the beacon."""
    bench = AirBench(make_policy("psm"), **LEGACY)
    bench.arrive_at(0.15)
    bench.send_at(0.17)
    seen = bench.run()
    (start, end), *_ = seen.up
    assert 170 <= start <= 170 + SLOT + 0.07
    assert seen.changes[1:3] == [(170, True), (pytest.approx(end + 0.258), False)]
    assert seen.down[0][0] == pytest.approx(POLLED)


def test_a_station_that_wakes_to_send_receives_buffered_frames_and_then_sends_pm_1():
    """The data frame has PM = 0; a null frame with PM = 1 and its ACK precede the doze."""
    bench = AirBench(make_policy("psm"))
    bench.arrive_at(0.15)
    bench.send_at(0.17)
    seen = bench.run()
    sent, received = seen.up[0][1], seen.down[0]
    assert received == (pytest.approx(sent + 0.258 + 0.070), pytest.approx(sent + 0.328 + 1.311))
    asleep = seen.changes[2][0]
    announced = received[1] + 0.258 + 0.070
    assert 0 <= slots(asleep - announced - 0.213 - 0.258) <= 31
    assert not bench.ports[0].awake


def test_a_null_frame_with_pm_0_retrieves_buffered_frames_without_any_poll():
    """The frames are sent as to an awake station, each after an AIFS and a backoff."""
    bench = AirBench(make_policy("psm"), **{"mac.fetch": "null"})
    bench.arrive_at(0.15)
    bench.arrive_at(0.16)
    seen = bench.run()
    first, second = seen.down
    assert first[0] == pytest.approx(200.894 + 0.070 + 0.213 + 0.258 + 0.070)
    assert 0 <= slots(second[0] - first[1] - 0.258 - 0.070) <= 31
    assert not seen.changes[-1][1]
    assert not bench.ports[0].awake


def test_a_station_that_stays_awake_sends_pm_0_and_later_pm_1():
    """A frame during the time awake is not buffered, and a later frame is."""
    bench = AirBench(Waits(), **LEGACY)
    bench.send_at(0.15)
    bench.arrive_at(0.16)
    bench.arrive_at(0.26)
    seen = bench.run(0.4)
    assert 160 <= seen.down[0][0] < 161
    assert seen.down[1][0] > 300
    assert asleep_after(seen, 150) > seen.down[0][1] + 30


def test_an_uplink_packet_withdraws_the_null_frame_with_pm_1():
    """The packet is sent when the radio would announce its doze, and keeps it awake."""
    quiet = AirBench(Waits())
    quiet.send_at(0.15)
    asleep_ms = asleep_after(quiet.run(0.4), 150)
    bench = AirBench(Waits())
    bench.send_at(0.15)
    bench.send_at((asleep_ms - 0.5) / 1000)  # its null frame takes 213 us, the ACK 258 us
    assert asleep_ms + 30 < asleep_after(bench.run(0.4), 150) < 220


def test_wake_ups_take_time_and_energy_and_transmissions_take_power():
    """The packet is 2 ms later; 1311 us of data and 213 us of a null frame are at 1.25 W."""
    settings = {"station.wake_ms": 2.0, "power.wake_j": 0.001, "power.transmit_w": 1.25}
    bench = AirBench(make_policy("psm"), **settings)
    bench.send_at(0.15)
    seen = bench.run(0.19)
    assert 152 <= seen.up[0][0] < 152.1
    usage = bench.ledgers[0].usage(0.19)
    assert usage.wake_ups_j == 0.001
    assert usage.transmit_j == pytest.approx(1.25 * (1.311 + 0.213) / 1000)


def test_a_poll_without_buffered_frames_gets_an_ack():
    """The access point may have dropped the frames."""
    bench = AirBench(make_policy("psm"), **LEGACY)
    bench.arrive_at(0.15)
    bench.at(0.2009, bench.ports[0].release)
    seen = bench.run()
    assert seen.changes[-1][1] is False
    assert bench.stations[0]._radio._awaited <= 0


def test_stations_announced_in_one_beacon_draw_a_backoff_before_polling():
    """All PS-Polls would otherwise be sent at the same time."""
    bench = AirBench(*(make_policy("psm") for _ in range(5)), **LEGACY)
    for station in range(5):
        bench.arrive_at(0.15, station=station)
    bench.run()
    assert all(len(recorder.down) == 1 for recorder in bench.recorders)
    starts = sorted(recorder.down[0][0] for recorder in bench.recorders)
    assert all(later - earlier > 1.5 for earlier, later in itertools.pairwise(starts))
    assert starts[-1] < 230


def test_a_lost_null_frame_is_repeated():
    """Many frames are lost, at a window of 1 and without retries, but all stations doze in the end."""
    with patch.object(bss, "RETRY_LIMIT", 0):
        bench = AirBench(**LEGACY)
    bench.bss.timing.cw_min = 1
    for _ in range(4):
        bench.join(Waits())
    for station in range(4):
        bench.send_at(0.105, station=station)
    bench.run(0.19)
    assert bench.bss.channel.collisions > 4
    assert [recorder.changes[-1][1] for recorder in bench.recorders] == [False] * 4
    assert not any(port.awake for port in bench.ports)


@pytest.mark.parametrize(
    ("settings", "policy", "message"),
    [
        ({"station.drift_ppm": 10.0}, "psm", "station.drift_ppm=10 is not supported by model=dcf"),
        ({"access_point.ageing_s": 2.0}, "psm", "access_point.ageing_s=2 is not supported by model=dcf"),
        ({}, "uapsd", "conflicts with a policy that has service periods"),
        ({"beacon.interval_ms": 1.0}, "psm", "at most half of the beacon interval, got 0.864 ms of 1 ms"),
    ],
)
def test_settings_that_the_channel_model_does_not_support_are_an_error_before_the_run(
    settings, policy, message
):
    """The message is one sentence with a remedy."""
    with pytest.raises(InputError, match=message):
        build_world(load_topology("three-node", {"mac.model": "dcf"} | settings), make_policy(policy))
