"""Capture: what a sniffer beside the station hears is what the run did, bit by bit."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import pytest

from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.network.parts.capture import capture_observers
from psm_sim.network.segment import GROUP
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.parts.capture.sniffed import Beacon, Frame, beacons_of, captured, frames_of, records, run

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
    """Say whether a frame is addressed to a group."""
    return frame.ip[16:20] == bytes([10, 0, 0, 255])


@pytest.mark.parametrize("policy", [*POLICIES, "uapsd", "twt"])
def test_a_run_that_is_captured_is_the_run_that_is_not(policy):
    """Pages, energy, and events to the last one."""
    world, _, _ = captured(policy)
    file_less = run(policy)
    assert (list(world.visits), world.usage(), world.env.now) == (
        list(file_less.visits), file_less.usage(), file_less.env.now,
    )  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("policy", ["psm", "lpsm"])
def test_each_frame_that_was_heard_is_there_at_its_time_and_with_its_bytes(policy, variant):
    """The links say when; what is still on the air when the run ends is not heard to its end."""
    world, log, data = captured(policy, **VARIANTS[variant])
    for up, told in ((False, log.down), (True, log.up)):
        heard = sorted(
            (at_s, each.wire_bytes)
            for at_s, each in told
            if at_s <= world.env.now and each.connection is not GROUP
        )
        frames = [each for each in frames_of(data, "data") if each.up is up and not to_all(each)]
        packets = [(each.time_ns, int.from_bytes(each.ip[2:4], "big")) for each in frames]
        told_null = [round(at_s * 1e9) for at_s, size in heard if size == 28]
        heard = [(round(at_s * 1e9), size) for at_s, size in heard if size != 28]
        assert packets == heard
        assert set(told_null) <= {each.time_ns for each in frames_of(data, "null")}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_file_is_in_order_and_each_sender_counts_its_frames(variant):
    """Sequence numbers go up by one, modulo 4096, beacons of the access point included."""
    _, _, data = captured("bsd:p=0.5", pages=12, **VARIANTS[variant])
    assert all(one.time_ns <= other.time_ns for one, other in pairwise(records(data)))
    orders = [each.order for each in frames_of(data) if each.up and each.kind in ("data", "null")]
    assert orders == [number % 4096 for number in range(len(orders))]


@pytest.mark.parametrize("interval_ms", [100.0, 51.2])
def test_every_beacon_is_in_the_air_whether_or_not_the_station_hears_it(interval_ms):
    """From the first to the last one before the end, with the count of 802.11 down to the next DTIM."""
    world, _, data = captured("psm", pages=3, beacon__interval_ms=interval_ms, beacon__dtim_period=3)
    beacons = beacons_of(data)
    interval_s = interval_ms / 1000
    assert len(beacons) == int(world.env.now / interval_s) + 1
    for number, each in enumerate(beacons):
        assert each.time_ns == round(number * interval_s * 1e9)
        assert each.begun_us == round(number * interval_s * 1e6)
        assert (each.dtim_count, each.period) == (-number % 3, 3)


def sampled(policy, pages, settings):
    """Return whether the access point held frames just before each beacon, and the capture."""
    file = io.BytesIO()
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    world = build_world(load_topology(settings=dotted), make_policy(policy), capture_observers(file, 1))
    port, interval_s = world.radio._port, world.beacons.interval_s
    found: list[bool] = []

    def look():
        while True:
            yield world.env.timeout(interval_s * (len(found) + 1) - 1e-8 - world.env.now)
            found.append(bool(port._buffered))

    world.env.process(look())
    run_alone(world, load_workload("ucb", pages, 1).pages)
    return found, file.getvalue()


@pytest.mark.parametrize("variant", ["plain", "beacons alone release", "late frames wait"])
@pytest.mark.parametrize("policy", ["psm:listen_interval=3", "lpsm"])
def test_the_tim_names_the_station_exactly_when_frames_are_held(policy, variant):
    """As a process sees it that looks at the queue just before each beacon."""
    found, data = sampled(policy, 5, VARIANTS[variant])
    named = [each.names for each in beacons_of(data)][1:]
    assert any(named)
    assert named == found[: len(named)]


def test_a_frame_that_grew_too_old_is_named_no_more():
    """By the beacons after its time, though the access point drops it only when it looks."""
    settings = {"access_point__ageing_s": 0.25}
    _, _, data = captured("psm:listen_interval=8", pages=1, trace="push", **settings)
    bits = "".join(str(int(each.names)) for each in beacons_of(data))
    assert {len(named) for named in bits.split("0") if named} == {1, 2, 3}


@pytest.mark.parametrize("variant", ["plain", "beacons alone release", "late frames wait", "as devices are"])
@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_sent_to_a_station_that_has_said_that_it_dozes(policy, variant):
    """Unless it has asked for it with a PS-Poll; group frames are for everybody."""
    _, _, data = captured(policy, **VARIANTS[variant])
    sleeps, polled = False, 0
    for each in frames_of(data):
        if each.kind == "ps-poll":
            polled += 1
        elif each.kind != "ack" and each.up:
            sleeps = each.sleeps
        elif each.kind == "data" and not to_all(each):
            assert not sleeps or polled
            polled = max(0, polled - 1)


def test_more_data_says_that_another_frame_is_queued():
    """Of three segments that one beacon releases, two say so; a single one does not."""
    file = io.BytesIO()
    world = build_world(load_topology(), make_policy("psm"), capture_observers(file, 1))
    run_alone(world, [Page(1.03, 3 * 1460, (), (300,), (0.05,))])
    down = [each for each in frames_of(file.getvalue()) if each.kind == "data" and not each.up]
    by_beacon: dict[int, list[bool]] = {}
    for each in down:
        by_beacon.setdefault(each.time_ns // 10**8, []).append(each.more)
    assert all(bits == [True] * (len(bits) - 1) + [False] for bits in by_beacon.values())
    assert max(map(len, by_beacon.values())) > 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_file_does_not_depend_on_how_much_is_written_at_once(variant, monkeypatch):
    """A few frames and beacons at a time, or all at the end."""
    _, _, at_once = captured("psm", **VARIANTS[variant])
    monkeypatch.setattr("psm_sim.network.parts.capture.sniffer._FLUSH_FRAMES", 3)
    _, _, piecemeal = captured("psm", **VARIANTS[variant])
    assert (at_once == piecemeal) is True


def test_every_frame_to_one_receiver_is_acknowledged_at_once():
    """Data and null frames are; beacons, group frames, PS-Polls and ACKs are not."""
    _, _, data = captured("psm", **AS_THEY_ARE)
    found = records(data)
    for number, each in enumerate(found):
        if isinstance(each, Beacon) or each.kind in ("ps-poll", "ack"):
            continue
        behind = found[number + 1] if number + 1 < len(found) else None
        acked = isinstance(behind, Frame) and behind.kind == "ack"
        assert acked is not to_all(each)


@pytest.mark.parametrize("policy", ["always-on", "psm:listen_interval=5", "twt"])
def test_group_frames_follow_a_dtim_beacon_that_says_so(policy):
    """A beacon says so exactly if group frames come before the next one, also those that nobody hears."""
    world, _, data = captured(policy, **AS_THEY_ARE)
    announced, follow = [], []
    for each in records(data):
        if isinstance(each, Beacon):
            announced.append(each.group)
            follow.append(False)
            assert not (each.group and each.dtim_count)
        elif to_all(each):
            follow[-1] = True
    assert any(announced)
    assert announced == follow
    groups = [each for each in frames_of(data, "data") if to_all(each)]
    assert world.hop.group.sent - 1 <= len(groups) <= world.hop.group.sent
