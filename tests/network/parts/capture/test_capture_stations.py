"""Captures of several stations on one channel, in one file."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import Observer, load_topology
from psm_sim.network.build import bss_of, build_world
from psm_sim.network.parts.capture import capture_observers, check_capturable
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import StationSpec
from psm_sim.network.world import World, WorldGroup
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload
from tests.network.parts.capture.sniffed import (
    Beacon,
    Frame,
    beacons_of,
    frames_of,
    records,
)

POLICIES = ("psm", "lpsm", "always-on", "bsd:p=0.5", "psm:listen_interval=3", "dynamic", "psm", "lpsm", "psm")
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "legacy": {"access_point.release_on_uplink": False},
    "null frames fetch": {"mac.fetch": "null"},
    "802.11g": {"mac.standard": "802.11g"},
}
"""Settings of runs with nine stations, whose bits take two octets of the TIM."""


class Ends(Observer):
    """Record the bytes received and sent until the end of a station's last page, and that time."""

    world: World
    at_s = received = sent = 0

    def finish(self, time_s):
        self.at_s, self.received = time_s, self.world.client.received_bytes
        self.sent = self.world.client.sent_bytes - self.world.wireless_up.in_flight_bytes


class Sniffed:
    """Run of several stations, with a capture."""

    def __init__(self, topology, policies=POLICIES, pages=2):
        self.topology, self.held = topology, []
        capture, bss = io.BytesIO(), bss_of(topology)
        self.ends = [Ends() for _ in policies]
        fittings = zip(policies, capture_observers(capture, len(policies)), self.ends, strict=True)
        self.worlds = [
            build_world(
                replace(topology, station_name=f"station-{number}"), make_policy(policy), [observer, end], bss
            )
            for number, (policy, observer, end) in enumerate(fittings, 1)
        ]
        for end, world in zip(self.ends, self.worlds, strict=True):
            end.world = world
        self.worlds[0].env.process(self._look())
        loads = [load_workload("ucb:max_think_s=5", pages, seed) for seed, _ in enumerate(policies, 1)]
        WorldGroup(self.worlds).run(
            [load.pages for load in loads], [load.messages for load in loads], lambda _: None
        )
        self.capture = capture.getvalue()

    def _look(self):
        """Sample the queues just before each beacon is due."""
        env, interval_s = self.worlds[0].env, self.worlds[0].beacons.interval_s
        while True:
            yield env.timeout(interval_s * (len(self.held) + 1) - 1e-8 - env.now)
            named = [aid for aid, world in enumerate(self.worlds, 1) if world.port.tim_bit]
            self.held.append(frozenset(named))


@cache
def sniffed(variant="plain"):
    settings = {"mac.model": "dcf", "beacon.interval_ms": 102.4, "tcp.max_window": 44, **VARIANTS[variant]}
    return Sniffed(load_topology("three-node", settings))


def mac_of(aid):
    """Return the last two bytes of a station's MAC address."""
    return 2 if aid == 1 else 256 + aid


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_captured_bytes_of_each_station_equal_its_counters(variant):
    """Bytes are counted in both directions until the end of the last page of the station."""
    run = sniffed(variant)
    for aid, end in enumerate(run.ends, 1):
        mine = [frame for frame in frames_of(run.capture, "data") if frame.station == mac_of(aid)]
        sizes = {False: 0, True: 0}
        for frame in mine:
            address = frame.ip[12:16] if frame.up else frame.ip[16:20]
            assert address == bytes([10, 0, 0, 1 + aid])
            if frame.time_ns <= round(1e9 * end.at_s):
                sizes[frame.up] += int.from_bytes(frame.ip[2:4], "big")
        assert sizes[False] == end.received
        assert sizes[True] >= end.sent > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_stations_tim_bit_is_set_exactly_while_its_frames_are_buffered(variant):
    """A process reads all queues just before each beacon is due, for comparison."""
    run = sniffed(variant)
    beacons = beacons_of(run.capture)[1:]
    expected = [run.held[int((beacon.begun_us - 1) / 102_400) - 1] for beacon in beacons]
    assert [beacon.tim_bit for beacon in beacons] == expected
    assert {1, 8, 9} <= {aid for named in expected for aid in named}
    assert max(map(len, expected)) > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_two_frames_overlap_and_each_lasts_its_air_time(variant):
    """Beacons are frames, too. ACKs and replies to PS-Polls follow after a SIFS."""
    run = sniffed(variant)
    timing, seen = FrameTiming(run.topology.mac), records(run.capture)
    bare = {"null": timing.null_s, "ps-poll": timing.poll_s, "ack": timing.ack_s}
    for frame in seen:
        if isinstance(frame, Beacon):
            air_s = timing.beacon_s
        else:
            air_s = bare.get(frame.kind) or timing.data_s(int.from_bytes(frame.ip[2:4], "big"))
        assert frame.time_ns / 1000 - frame.begun_us == pytest.approx(1e6 * air_s, abs=0.51)
    for one, other in pairwise(seen):
        gap_us = other.begun_us - one.time_ns / 1000
        answers = isinstance(other, Frame) and (other.kind == "ack" or (_polls(one) and not _polls(other)))
        assert gap_us == pytest.approx(10, abs=0.51) if answers else gap_us > 10.5


def _polls(record):
    return isinstance(record, Frame) and record.kind == "ps-poll"


def test_a_capture_of_more_stations_than_there_are_association_ids_is_an_error():
    """The error precedes the run."""
    topology = load_topology("three-node", {"mac.model": "dcf"})
    crowd = tuple(StationSpec(f"m{number}", count=250) for number in range(9))
    topology = replace(topology, stations=crowd)
    with pytest.raises(InputError, match="at most 2,007 stations, got 2,250"):
        check_capturable(topology, topology.station_count)


def test_a_comparison_writes_a_capture_and_a_timeline_per_policy(tmp_path):
    """Each file has all five stations of a café."""
    import psm_sim

    path = tmp_path / "cafe.pcap"
    comparison = psm_sim.compare(
        ["psm", "always-on"], topology="cafe", pages=1, capture=path, timeline=tmp_path / "c.json"
    )
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == [
        "c-always-on.json", "c-psm.json", "cafe-always-on.pcap", "cafe-psm.pcap",
    ]  # fmt: skip
    data = (tmp_path / "cafe-psm.pcap").read_bytes()
    assert {frame.station for frame in frames_of(data, "data")} == {2, 258, 259, 260, 261}
    assert [run.slowdown.mean for run in comparison.runs[2:]] == [1.0, 1.0]
