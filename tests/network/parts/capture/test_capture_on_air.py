"""Captures with a channel model: times and bits of every frame and beacon."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest
from simpy import Environment

from psm_sim.network import Observer, load_topology
from psm_sim.network.parts.capture.capture_header_values import CaptureHeaderValues
from psm_sim.network.parts.capture.sniffer import BeaconTimes
from psm_sim.network.parts.frame_timing import CW_MIN
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.station_queue import NULL_DOZE
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import AirFrame
from tests.network.parts.capture.sniffed import (
    Frame,
    captured,
    records,
    run,
)

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "legacy": {"access_point__release_on_uplink": False},
    "null frames fetch": {"mac__fetch": "null"},
    "802.11g": {"mac__standard": "802.11g"},
    "slow": {"mac__data_mbps": 1.0, "beacon__interval_ms": 9},
}


class Aired(Observer):
    """Record the frames on the channel."""

    def __init__(self) -> None:
        self.frames: list[AirFrame] = []

    def air(self, frame: AirFrame) -> None:
        self.frames.append(frame)


def on_air(policy="psm", pages=3, **settings):
    """Return a world after its run with a channel model, and its capture."""
    world, _, data = captured(policy, pages=pages, mac__model="dcf", **settings)
    return world, data


def polls(record):
    """Return whether a record is a PS-Poll."""
    return isinstance(record, Frame) and record.kind == "ps-poll"


def test_a_late_beacon_replaces_the_beacons_that_fell_due_while_it_was_delayed():
    """The beacon of 0.3 s is sent at 0.54 s: beacons 3 and 4 are omitted, 5 is late, and 6 is on time."""
    times = BeaconTimes(CaptureHeaderValues(load_topology("three-node", {"mac.model": "dcf"})))
    gap_s, air_s = 30e-6, 864e-6
    assert times.first_heard_from(0.3) == 3
    assert times.first_heard_from(0.301) == 4
    times.late(AirFrame("beacon", False, 0.3, 0.54, air_s, 0.54 + air_s, None))
    assert times.first_heard_from(0.53) == 5
    assert times.first_heard_from(0.55) == 6
    begun_s = [times.start_s(number) for number in range(2, 7)]
    assert begun_s[0] == pytest.approx(0.2 + gap_s)
    assert [isnan(time_s) for time_s in begun_s] == [False, True, True, False, False]
    assert begun_s[3:] == pytest.approx([0.54, 0.6 + gap_s])


@pytest.mark.parametrize(
    ("policy", "variant", "expected"),
    [
        ("lpsm", "plain", {True, False}),
        ("dynamic", "legacy", {True, False}),
        ("psm", "null frames fetch", {False}),
    ],
)
def test_the_access_point_obeys_the_power_management_bits(policy, variant, expected):
    """PS-Polls get replies exactly while the last frame of the station had PM = 1."""
    _, data = on_air(policy, pages=6, **VARIANTS[variant])
    dozes, before, seen = False, None, set()
    for record in records(data):
        if isinstance(record, Frame) and record.kind == "data" and not record.up:
            assert polls(before) is dozes
            seen.add(dozes)
        elif isinstance(record, Frame) and record.up and record.kind != "ack":
            assert record.sleeps or not polls(record)
            dozes = record.sleeps
        before = record
    assert seen == expected


@pytest.mark.parametrize("variant", ["802.11g", "null frames fetch"])
def test_exactly_the_frames_that_collided_have_the_retry_bit(variant, monkeypatch):
    """The bit is set when such a frame is received at last."""
    tried, collided = [], AirLink.collided

    def record_collision(link, sent_s):
        tried.append(link.queue[0][1])
        collided(link, sent_s)

    monkeypatch.setattr(AirLink, "collided", record_collision)
    for standard in CW_MIN:
        monkeypatch.setitem(CW_MIN, standard, 1)
    aired = Aired()
    run("lpsm", pages=6, observers=[aired], mac__model="dcf", **VARIANTS[variant])
    again = {frame.segment for frame in aired.frames if frame.retry and frame.segment}
    assert again == {frame for frame in tried if isinstance(frame, Segment)}
    assert len(again) > 1
    nulls = sum(frame.retry for frame in aired.frames if frame.kind == "null")
    assert (nulls > 0) is any(not isinstance(frame, Segment) for frame in tried)


@pytest.mark.parametrize("taken_back", [True, False])
def test_a_null_frame_after_a_withdrawn_null_frame_is_not_marked_as_a_retry(taken_back):
    """The next null frame is new, and has no Retry bit."""
    aired: list[AirFrame] = []
    topology = load_topology("three-node", {"mac.model": "dcf"})
    link = AirLink(Environment(), "wireless up", topology, (), [aired.append])
    link.enqueue(NULL_DOZE)
    link.collided(0.0)
    if taken_back:
        link.remove(link.queue[0])
        link.enqueue(NULL_DOZE)
    link.sniffer.frame("null", link.queue.popleft(), 0.1, acknowledged=True, sleeps=True)
    assert [(frame.kind, frame.uplink, frame.retry, frame.sleeps) for frame in aired] == [
        ("null", True, not taken_back, True), ("ack", False, False, False),
    ]  # fmt: skip
    assert not link.sniffer.failed
