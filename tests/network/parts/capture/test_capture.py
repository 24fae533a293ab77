"""Captures of runs: times, addresses and bits of frames."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import pytest

from psm_sim.network import run_alone
from psm_sim.network.parts.capture import capture_observers
from psm_sim.network.segment import GROUP
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.parts.capture.sniffed import Beacon, Frame, beacons_of, captured, frames_of, records, run
from tests.network.worlds import make_world, run_world

POLICIES = ["always-on", "psm:listen_interval=2", "bsd:p=0.5", "lpsm"]
AS_THEY_ARE: dict[str, Any] = {
    "access_point__ageing_s": 2, "access_point__group_per_s": 2,
    "beacon__dtim_period": 3, "station__keep_alive_s": 4,
}  # fmt: skip
FAULTS: dict[str, Any] = {
    "faults__wireless__loss": 0.05, "faults__wired__loss": 0.02, "faults__restart_every_s": 30,
    "browser__max_page_s": 2,
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "beacons alone release": {"access_point__release_on_uplink": False},
    "late frames wait": {"access_point__late_frames": "wait"},
    "as devices are": AS_THEY_ARE,
    "few frames are held": {"access_point__buffer_frames": 6},
    "faults": FAULTS,
}


def to_all(frame):
    """Return whether a frame is group addressed."""
    return frame.ip[16:20] == bytes([10, 0, 0, 255])


@pytest.mark.parametrize("policy", [*POLICIES, "uapsd", "twt"])
def test_a_capture_does_not_change_the_run(policy):
    """Pages, energy and the number of events are equal."""
    world, _, _ = captured(policy)
    file_less = run(policy)
    assert (list(world.visits), world.usage(), world.env.now) == (
        list(file_less.visits), file_less.usage(), file_less.env.now,
    )  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("policy", ["psm", "lpsm"])
def test_a_capture_contains_every_received_frame_with_its_time_and_length(policy, variant):
    """The links give the times; frames in transmission at the end of the run are absent."""
    world, log, data = captured(policy, **VARIANTS[variant])
    for up, reported in ((False, log.down), (True, log.up)):
        heard = sorted(
            (at_s, frame.wire_bytes)
            for at_s, frame in reported
            if at_s <= world.env.now and frame.connection is not GROUP
        )
        frames = [frame for frame in frames_of(data, "data") if frame.up is up and not to_all(frame)]
        packets = [(frame.time_ns, int.from_bytes(frame.ip[2:4], "big")) for frame in frames]
        told_null = [round(at_s * 1e9) for at_s, size in heard if size == 28]
        heard = [(round(at_s * 1e9), size) for at_s, size in heard if size != 28]
        assert packets == heard
        assert set(told_null) <= {frame.time_ns for frame in frames_of(data, "null")}


@pytest.mark.parametrize("variant", VARIANTS)
def test_frames_of_a_capture_are_in_time_order_and_numbered_per_sender(variant):
    """Sequence numbers increase by one, modulo 4096; beacons of the access point have numbers, too."""
    _, _, data = captured("bsd:p=0.5", pages=12, **VARIANTS[variant])
    assert all(one.time_ns <= other.time_ns for one, other in pairwise(records(data)))
    orders = [frame.order for frame in frames_of(data) if frame.up and frame.kind in ("data", "null")]
    assert orders == [number % 4096 for number in range(len(orders))]


@pytest.mark.parametrize("interval_ms", [100.0, 51.2])
def test_a_capture_has_every_beacon_until_the_end_of_the_run(interval_ms):
    """Beacons that no station receives are captured, too. The DTIM counts are those of 802.11."""
    world, _, data = captured("psm", pages=3, beacon__interval_ms=interval_ms, beacon__dtim_period=3)
    beacons = beacons_of(data)
    interval_s = interval_ms / 1000
    assert len(beacons) == int(world.env.now / interval_s) + 1
    for number, beacon in enumerate(beacons):
        assert beacon.time_ns == round(number * interval_s * 1e9)
        assert beacon.begun_us == round(number * interval_s * 1e6)
        assert (beacon.dtim_count, beacon.period) == (-number % 3, 3)


def sampled(policy, pages, settings):
    """Return whether frames were buffered just before each beacon, and the capture."""
    file = io.BytesIO()
    world = make_world(policy, capture_observers(file, 1), **settings)
    port, interval_s = world.radio._port, world.beacons.interval_s
    is_buffered: list[bool] = []

    def sample():
        while True:
            yield world.env.timeout(interval_s * (len(is_buffered) + 1) - 1e-8 - world.env.now)
            is_buffered.append(bool(port._buffered))

    world.env.process(sample())
    run_alone(world, load_workload("ucb", pages, 1).pages)
    return is_buffered, file.getvalue()


@pytest.mark.parametrize("variant", ["plain", "beacons alone release", "late frames wait"])
@pytest.mark.parametrize("policy", ["psm:listen_interval=3", "lpsm"])
def test_the_tim_bit_is_set_exactly_while_frames_are_buffered(policy, variant):
    """A process reads the queue just before each beacon, for comparison."""
    is_buffered, data = sampled(policy, 5, VARIANTS[variant])
    named = [beacon.names for beacon in beacons_of(data)][1:]
    assert any(named)
    assert named == is_buffered[: len(named)]


def test_the_tim_bit_is_cleared_when_a_frame_expires():
    """The access point drops the frame later than the end of its lifetime."""
    settings = {"access_point__ageing_s": 0.25}
    _, _, data = captured("psm:listen_interval=8", pages=1, trace="push:stretch_s=900", **settings)
    bits = "".join(str(int(beacon.names)) for beacon in beacons_of(data))
    assert {len(named) for named in bits.split("0") if named} == {1, 2, 3}


@pytest.mark.parametrize("variant", ["plain", "beacons alone release", "late frames wait", "as devices are"])
@pytest.mark.parametrize("policy", POLICIES)
def test_after_announcing_pm_1_a_station_receives_only_the_frames_that_it_polls(policy, variant):
    """Replies to PS-Polls and group addressed frames are exceptions."""
    _, _, data = captured(policy, **VARIANTS[variant])
    sleeps, polled = False, 0
    for record in frames_of(data):
        if record.kind == "ps-poll":
            polled += 1
        elif record.kind != "ack" and record.up:
            sleeps = record.sleeps
        elif record.kind == "data" and not to_all(record):
            assert not sleeps or polled
            polled = max(0, polled - 1)


def test_the_more_data_bit_is_set_while_another_frame_is_queued():
    """A beacon releases three segments, of which two have More Data, or a single one without it."""
    file = io.BytesIO()
    run_world([Page(1.03, 3 * 1460, (), (300,), (0.05,))], "psm", capture_observers(file, 1))
    down = [frame for frame in frames_of(file.getvalue()) if frame.kind == "data" and not frame.up]
    by_beacon: dict[int, list[bool]] = {}
    for frame in down:
        by_beacon.setdefault(frame.time_ns // 10**8, []).append(frame.more)
    assert all(bits == [True] * (len(bits) - 1) + [False] for bits in by_beacon.values())
    assert max(map(len, by_beacon.values())) > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_capture_file_does_not_depend_on_how_many_frames_a_write_has(variant, monkeypatch):
    """A write has a few frames and beacons, or all of them."""
    _, _, at_once = captured("psm", **VARIANTS[variant])
    monkeypatch.setattr("psm_sim.network.parts.capture.sniffer._FLUSH_FRAMES", 3)
    _, _, piecemeal = captured("psm", **VARIANTS[variant])
    assert (at_once == piecemeal) is True


def test_every_individually_addressed_frame_gets_an_ack():
    """Data and null data frames have ACKs; beacons, group addressed frames, PS-Polls and ACKs have none."""
    _, _, data = captured("psm", **AS_THEY_ARE)
    frames = records(data)
    for number, frame in enumerate(frames):
        if isinstance(frame, Beacon) or frame.kind in ("ps-poll", "ack"):
            continue
        behind = frames[number + 1] if number + 1 < len(frames) else None
        acked = isinstance(behind, Frame) and behind.kind == "ack"
        assert acked is not to_all(frame)


@pytest.mark.parametrize("policy", ["always-on", "psm:listen_interval=5", "twt"])
def test_group_frames_follow_a_dtim_beacon_whose_group_bit_is_set(policy):
    """A beacon has the bit exactly if group frames precede the next one, received or not."""
    world, _, data = captured(policy, **AS_THEY_ARE)
    announced, follow = [], []
    for record in records(data):
        if isinstance(record, Beacon):
            announced.append(record.group)
            follow.append(False)
            assert not (record.group and record.dtim_count)
        elif to_all(record):
            follow[-1] = True
    assert any(announced)
    assert announced == follow
    groups = [record for record in frames_of(data, "data") if to_all(record)]
    assert world.hop.group.sent - 1 <= len(groups) <= world.hop.group.sent
