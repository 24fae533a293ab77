"""Captures of several stations on one air: one file, in which each is told from the others."""

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
"""Nine stations, whose bits take two octets of the TIM."""


class Ends(Observer):
    """Keeps what has been received and sent by the end of a station's last page, and when that was."""

    world: World
    at_s = received = sent = 0

    def finish(self, time_s):
        self.at_s, self.received = time_s, self.world.client.received_bytes
        self.sent = self.world.client.sent_bytes - self.world.wireless_up.in_flight_bytes


class Sniffed:
    """Run of stations: their worlds, their ends, and the capture."""

    def __init__(self, topology, policies=POLICIES, pages=2):
        self.topology, self.held = topology, []
        capture, bss = io.BytesIO(), bss_of(topology)
        self.ends = [Ends() for _ in policies]
        told = zip(policies, capture_observers(capture, len(policies)), self.ends, strict=True)
        self.worlds = [
            build_world(
                replace(topology, station_name=f"station-{number}"), make_policy(policy), [each, end], bss
            )
            for number, (policy, each, end) in enumerate(told, 1)
        ]
        for end, world in zip(self.ends, self.worlds, strict=True):
            end.world = world
        self.worlds[0].env.process(self._look())
        loads = [load_workload("ucb:max_think_s=5", pages, seed) for seed, _ in enumerate(policies, 1)]
        WorldGroup(self.worlds).run(
            [each.pages for each in loads], [each.messages for each in loads], lambda _: None
        )
        self.capture = capture.getvalue()

    def _look(self):
        """Look at the queues just before each beacon is due."""
        env, interval_s = self.worlds[0].env, self.worlds[0].beacons.interval_s
        while True:
            yield env.timeout(interval_s * (len(self.held) + 1) - 1e-8 - env.now)
            named = [aid for aid, world in enumerate(self.worlds, 1) if world.access_point.ports[0].tim_bit]
            self.held.append(frozenset(named))


@cache
def sniffed(variant="plain"):
    settings = {"mac.model": "dcf", "beacon.interval_ms": 102.4, "tcp.max_window": 44, **VARIANTS[variant]}
    return Sniffed(load_topology("three-node", settings))


def mac_of(aid):
    """Return the last two bytes of a station's MAC address."""
    return 2 if aid == 1 else 256 + aid


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_stations_bytes_are_those_of_its_accounts(variant):
    """Both ways, up to the end of its last page, to the byte; addresses and associations are its own."""
    found = sniffed(variant)
    for aid, end in enumerate(found.ends, 1):
        mine = [each for each in frames_of(found.capture, "data") if each.station == mac_of(aid)]
        sizes = {False: 0, True: 0}
        for each in mine:
            address = each.ip[12:16] if each.up else each.ip[16:20]
            assert address == bytes([10, 0, 0, 1 + aid])
            if each.time_ns <= round(1e9 * end.at_s):
                sizes[each.up] += int.from_bytes(each.ip[2:4], "big")
        assert sizes[False] == end.received
        assert sizes[True] >= end.sent > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_tim_names_each_station_exactly_when_frames_are_held_for_it(variant):
    """As a process sees it that looks at all queues just before each beacon is due."""
    found = sniffed(variant)
    beacons = beacons_of(found.capture)[1:]
    expected = [found.held[int((each.begun_us - 1) / 102_400) - 1] for each in beacons]
    assert [each.tim_bit for each in beacons] == expected
    assert {1, 8, 9} <= {aid for named in expected for aid in named}
    assert max(map(len, expected)) > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_two_frames_overlap_and_each_is_on_the_air_as_long_as_it_takes(variant):
    """Beacons included; ACKs and answers to PS-Polls come after a SIFS."""
    found = sniffed(variant)
    timing, seen = FrameTiming(found.topology.mac), records(found.capture)
    bare = {"null": timing.null_s, "ps-poll": timing.poll_s, "ack": timing.ack_s}
    for each in seen:
        if isinstance(each, Beacon):
            air_s = timing.beacon_s
        else:
            air_s = bare.get(each.kind) or timing.data_s(int.from_bytes(each.ip[2:4], "big"))
        assert each.time_ns / 1000 - each.begun_us == pytest.approx(1e6 * air_s, abs=0.51)
    for one, other in pairwise(seen):
        gap_us = other.begun_us - one.time_ns / 1000
        answers = isinstance(other, Frame) and (other.kind == "ack" or (_polls(one) and not _polls(other)))
        assert gap_us == pytest.approx(10, abs=0.51) if answers else gap_us > 10.5


def _polls(each):
    return isinstance(each, Frame) and each.kind == "ps-poll"


def test_more_stations_than_have_a_number_are_refused():
    """Before the run, in a sentence."""
    place = load_topology("three-node", {"mac.model": "dcf"})
    crowd = tuple(StationSpec(f"m{number}", count=250) for number in range(9))
    place = replace(place, stations=crowd)
    with pytest.raises(InputError, match="at most 2,007 stations, got 2,250"):
        check_capturable(place, place.station_count)


def test_the_command_writes_both_files_for_each_policy(tmp_path):
    """From Python: one capture and one timeline with all five stations of a café."""
    import psm_sim

    path = tmp_path / "cafe.pcap"
    found = psm_sim.compare(
        ["psm", "always-on"], topology="cafe", pages=1, capture=path, timeline=tmp_path / "c.json"
    )
    assert sorted(each.name for each in Path(tmp_path).iterdir()) == [
        "c-always-on.json", "c-psm.json", "cafe-always-on.pcap", "cafe-psm.pcap",
    ]  # fmt: skip
    data = (tmp_path / "cafe-psm.pcap").read_bytes()
    assert {each.station for each in frames_of(data, "data")} == {2, 258, 259, 260, 261}
    assert [run.slowdown.mean for run in found.runs[2:]] == [1.0, 1.0]
