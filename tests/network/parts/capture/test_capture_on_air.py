"""Captures over the air of 802.11: every frame and beacon where it was, with the bits that it had."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest
from simpy import Environment

from psm_sim.network import Observer, load_topology
from psm_sim.network.parts.capture.capture_header_values import capture_header_values
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
    """Keeps what is told of the air."""

    def __init__(self) -> None:
        self.frames: list[AirFrame] = []

    def air(self, frame: AirFrame) -> None:
        self.frames.append(frame)


def on_air(policy="psm", pages=3, **settings):
    """Return a world after its run over the air, and its capture."""
    world, _, data = captured(policy, pages=pages, mac__model="dcf", **settings)
    return world, data


def polls(each):
    """Say whether a record is a PS-Poll."""
    return isinstance(each, Frame) and each.kind == "ps-poll"


def test_a_late_beacon_takes_the_place_of_those_due_meanwhile():
    """One due at 0.3 s, sent at 0.54 s: beacons 3 and 4 are left out, 5 is late, and 6 is on time."""
    times = BeaconTimes(capture_header_values(load_topology("three-node", {"mac.model": "dcf"})))
    gap_s, air_s = 30e-6, 864e-6
    assert times.before(0.3) == 3
    assert times.before(0.301) == 4
    times.late(AirFrame("beacon", False, 0.3, 0.54, air_s, 0.54 + air_s, None))
    assert times.before(0.53) == 5
    assert times.before(0.55) == 6
    begun_s = [times.start_s(number) for number in range(2, 7)]
    assert begun_s[0] == pytest.approx(0.2 + gap_s)
    assert [isnan(each) for each in begun_s] == [False, True, True, False, False]
    assert begun_s[3:] == pytest.approx([0.54, 0.6 + gap_s])


@pytest.mark.parametrize(
    ("policy", "variant", "said"),
    [
        ("lpsm", "plain", {True, False}),
        ("dynamic", "legacy", {True, False}),
        ("psm", "null frames fetch", {False}),
    ],
)
def test_the_power_management_bits_are_what_the_access_point_acts_on(policy, variant, said):
    """It answers PS-Polls exactly while the last frame of the station has said that it dozes."""
    _, data = on_air(policy, pages=6, **VARIANTS[variant])
    dozes, before, seen = False, None, set()
    for each in records(data):
        if isinstance(each, Frame) and each.kind == "data" and not each.up:
            assert polls(before) is dozes
            seen.add(dozes)
        elif isinstance(each, Frame) and each.up and each.kind != "ack":
            assert each.sleeps or not polls(each)
            dozes = each.sleeps
        before = each
    assert seen == said


@pytest.mark.parametrize("variant", ["802.11g", "null frames fetch"])
def test_what_has_collided_has_the_retry_bit_when_it_is_heard(variant, monkeypatch):
    """And nothing else has it."""
    tried, collided = [], AirLink.collided

    def kept(link, sent_s):
        tried.append(link.queue[0][1])
        collided(link, sent_s)

    monkeypatch.setattr(AirLink, "collided", kept)
    for standard in CW_MIN:
        monkeypatch.setitem(CW_MIN, standard, 1)
    aired = Aired()
    run("lpsm", pages=6, observers=[aired], mac__model="dcf", **VARIANTS[variant])
    again = {each.segment for each in aired.frames if each.retry and each.segment}
    assert again == {each for each in tried if isinstance(each, Segment)}
    assert len(again) > 1
    nulls = sum(each.retry for each in aired.frames if each.kind == "null")
    assert (nulls > 0) is any(not isinstance(each, Segment) for each in tried)


@pytest.mark.parametrize("taken_back", [True, False])
def test_a_null_frame_that_was_tried_and_taken_back_leaves_the_next_one_new(taken_back):
    """Else the next one is its copy."""
    told: list[AirFrame] = []
    topology = load_topology("three-node", {"mac.model": "dcf"})
    link = AirLink(Environment(), "wireless up", topology, (), [told.append])
    link.enqueue(NULL_DOZE)
    link.collided(0.0)
    if taken_back:
        link.remove(link.queue[0])
        link.enqueue(NULL_DOZE)
    link.sniffer.exchange("null", link.queue.popleft(), 0.1, sleeps=True)
    assert [(each.kind, each.uplink, each.retry, each.sleeps) for each in told] == [
        ("null", True, not taken_back, True), ("ack", False, False, False),
    ]  # fmt: skip
    assert not link.sniffer.failed
