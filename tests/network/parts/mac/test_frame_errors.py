"""Frame errors on the channel: retries, lost ACKs and missed beacons follow from one error rate."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import pytest

from psm_sim.network import Topology, load_topology
from psm_sim.network.parts.frame_timing import CW_MAX, FrameTiming
from psm_sim.network.parts.mac import bss
from psm_sim.network.parts.mac.frame_errors import AirBeaconReception, FrameErrors
from psm_sim.network.topology_sections import MacParameters
from psm_sim.policies import make_policy
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.capture.sniffed import captured, frames_of
from tests.network.parts.mac.air_bench import AirBench
from tests.network.worlds import run_world

LEGACY = {"access_point__release_on_uplink": False, "beacon__interval_ms": 102.4}


def world_with_errors(rate, policy="psm", think_s=60.0, size=100_000, **settings):
    """Return a world after one page."""
    keys = {"mac__model": "dcf", "mac__frame_error_rate": rate, **LEGACY, **settings}
    return run_world([Page(think_s, size, (), (300,), (0.0,))], policy, **keys)


def queue_with_errors(rate, retry_limit, frames):
    """Return the seconds in which a lone station sends *frames* packets of 1500 B, and the losses."""
    with patch.object(bss, "RETRY_LIMIT", retry_limit):
        bench = AirBench(make_policy("always-on"))
    radio, link = bench.stations[0]._radio, bench.hops[0].up
    link.errors = FrameErrors(Topology(mac=MacParameters(model="dcf", frame_error_rate=rate), seed=5))
    for _ in range(frames):
        radio.send(bench.frame(1500))
    while link.queue:
        bench.env.step()
    return bench.env.now, link.lost_bytes / 1500


def seconds_per_frame(rate, timing, limit):
    """Return the mean time that a lone sender needs for a frame, from the error rate alone.

    An attempt fails if the frame (probability *rate*) or its ACK has an error. The backoff before attempt k
    has a mean of half the contention window, which doubles.
    """
    ok, first_s = (1 - rate) ** 2, timing.data_s(1500)
    difs_s = timing.sifs_s + timing.first_slots * timing.slot_s
    lost_s = rate * (first_s + timing.timeout_s) + rate * (1 - rate) * (
        first_s + timing.answer_s + timing.eifs_s
    )
    sent_s = ok * (first_s + timing.answer_s)
    total_s, reached, window = 0.0, 1.0, timing.cw_min
    for _ in range(limit + 1):
        total_s += reached * (difs_s + window / 2 * timing.slot_s + lost_s + sent_s)
        reached *= 1 - ok
        window = min(2 * window + 1, CW_MAX)
    return total_s


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3])
def test_the_duration_of_a_frame_is_the_sum_of_its_attempts_and_backoffs_and_timeouts(rate):
    """The tolerance is 2 %; the beacons take less than 1 %."""
    found_s, _ = queue_with_errors(rate, 7, 3000)
    expected_s = 3000 * seconds_per_frame(rate, FrameTiming(MacParameters()), 7)
    assert 1 - 0.01 < found_s / expected_s < 1 + 0.02


def test_a_frame_is_lost_if_every_attempt_fails():
    """One retry is allowed, and both attempts have an error. A lost ACK loses no frame."""
    _, lost = queue_with_errors(0.3, 1, 3000)
    # Attempts end with the first ACK, so a frame is lost after two errors in a row.
    assert lost / 3000 == pytest.approx(0.3**2, rel=0.2)


@pytest.mark.parametrize("policy", ["psm", "always-on", "bsd:p=1"])
@pytest.mark.parametrize("release", [False, True])
def test_each_packet_reaches_its_host_once(policy, release):
    """Repeated frames are discarded: without TCP's retransmissions both hosts receive what was sent."""
    with patch.object(bss, "RETRY_LIMIT", 128):
        world = world_with_errors(0.1, policy, access_point__release_on_uplink=release)
    balance(world)
    assert world.client.retransmissions + world.server.retransmissions == 0
    assert world.visits[0][0].page.total_bytes == 100_000


def test_an_error_rate_of_0_changes_nothing():
    """The run is bit-for-bit equal to one without errors."""
    plain, zero = world_with_errors(0.0), world_with_errors(0.0, mac__loss_run=None)
    assert plain.usage() == zero.usage()
    assert type(plain.hop).__name__ == "MacHop"


def test_a_station_stays_awake_from_a_missed_beacon_to_the_next_beacon():
    """The parameter is ``stay-awake``; otherwise the station is awake for 5 ms per missed beacon."""
    staying = world_with_errors(0.05, think_s=600.0, size=100, station__missed_beacon="stay-awake")
    dozing = world_with_errors(0.05, think_s=600.0, size=100)
    missed = staying.hop.report()["beacons missed"]
    assert missed == dozing.hop.report()["beacons missed"] == pytest.approx(0.05 * 5860, rel=0.2)
    assert staying.usage().awake_s == pytest.approx(0.1024 * missed, rel=0.03)
    assert dozing.usage().awake_s == pytest.approx(0.005 * missed, rel=0.1)
    balance(staying)


def test_runs_of_frame_errors_have_the_configured_share_and_mean_length():
    """Beacons and other frames have separate runs."""
    keys = {"mac.model": "dcf", "mac.frame_error_rate": 0.25, "mac.loss_run": 4.0}
    topology = load_topology("three-node", keys)
    reception, errors = AirBeaconReception(topology), FrameErrors(topology)
    for lost in (
        [reception.lost(number) for number in range(100_000)],
        [errors.first(1) == 1 for _ in range(100_000)],
    ):
        assert sum(lost) / len(lost) == pytest.approx(0.25, rel=0.05)
        runs = sum(not one and other for one, other in pairwise(lost))
        assert sum(lost) / runs == pytest.approx(4.0, rel=0.05)


def test_stations_have_independent_errors():
    """The name of the station is part of the random stream."""
    mac = MacParameters(model="dcf", frame_error_rate=0.5)
    one, other, again = (FrameErrors(Topology(mac=mac, station_name=name)) for name in ("a", "b", "a"))
    draws = [[errors.first(3) for _ in range(200)] for errors in (one, other, again)]
    assert draws[0] == draws[2] != draws[1]


@pytest.mark.parametrize("policy", ["psm", "always-on"])
def test_a_capture_contains_retries_and_unacknowledged_frames(policy):
    """A frame whose ACK is lost appears without an ACK; its repetition has the Retry bit."""
    _, _, data = captured(policy, pages=3, mac__model="dcf", mac__frame_error_rate=0.1)
    frames = frames_of(data)
    assert any(frame.retry for frame in frames)
    data_frames = sum(frame.kind in ("data", "null") for frame in frames)
    assert sum(frame.kind == "ack" for frame in frames) < data_frames
