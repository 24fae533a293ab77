"""Faults with a channel model: frames lost above the MAC, missed beacons, and restarts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from psm_sim.network import Observer
from psm_sim.network.parts import beacon_loss
from psm_sim.workload import load_workload
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.parts.capture.sniffed import captured, frames_of
from tests.network.worlds import run_world

QUIET = [Page(60.0, 1000, (), (300,), (0.05,))]


class Recorder(Observer):
    """Record lost frames, buffered frames and received beacons."""

    def __init__(self):
        self.lost_frames, self.holds, self.heard_s = [], [(0.0, 0)], []

    def lost(self, link, time_s, segment):
        self.lost_frames.append(link.name)

    def buffered(self, time_s, frames, retrieved):
        self.holds.append((time_s, frames))

    def beacons(self, first_s, count, every_s):
        self.heard_s += [first_s + number * every_s for number in range(count)]


def over_air(policy="psm", pages=QUIET, messages=(), **settings):
    """Return a world after its run, and its recorder."""
    recorder = Recorder()
    return run_world(pages, policy, [recorder], Messages(messages), mac__model="dcf", **settings), recorder


def test_the_share_of_lost_frames_equals_the_configured_share():
    """The share holds in each direction; TCP repeats the lost frames."""
    pages = load_workload("ucb:max_think_s=2", 60, 1).pages
    world, recorder = over_air(pages=pages, faults__wireless__loss=0.03)
    assert world.ends.lost_frames("up") + world.ends.lost_frames("down") == len(recorder.lost_frames)
    sent = 2 * sum(visit.page.total_bytes for visit, _ in world.visits) / 1460
    assert 0.015 * sent < len(recorder.lost_frames) < 0.06 * sent
    assert world.client.retransmissions + world.server.retransmissions > 10
    assert set(recorder.lost_frames) == {"wireless up", "wireless down"}


def test_a_capture_contains_a_lost_frame_and_its_ack():
    """The frame is lost above the MAC, so each data frame has its ACK."""
    _, _, data = captured(
        "psm", pages=4, mac__model="dcf", faults__wireless__loss=0.1, browser__max_page_s=60
    )
    kinds = [frame.kind for frame in frames_of(data)]
    assert all(after == "ack" for kind, after in pairwise(kinds) if kind in ("data", "null"))


def test_the_share_of_missed_beacons_equals_the_configured_share(monkeypatch):
    """Only beacons for which the station wakes count; each miss costs the listening time awake."""
    world, recorder = over_air("psm", beacon__loss=0.25)
    missed = world.hop.report()["beacons missed"]
    assert missed / len(recorder.heard_s) == pytest.approx(0.25, abs=0.06)
    monkeypatch.setattr(beacon_loss, "_LISTEN_S", 0.0)
    at_once, _ = over_air("psm", beacon__loss=0.25)
    listened_s = world.usage().awake_s - at_once.usage().awake_s
    assert listened_s == pytest.approx(missed * 0.005)


def test_after_a_missed_beacon_a_frame_waits_for_the_next_beacon():
    """Half of the beacons are missed: some frames wait for more than one interval, and all arrive."""
    pushes = [Message(1.05 + 2 * number, 200) for number in range(25)]
    world, recorder = over_air("psm", messages=pushes, beacon__loss=0.5)
    begun = [
        at_s
        for (at_s, frames), (_, before) in zip(recorder.holds[1:], recorder.holds, strict=False)
        if frames > before
    ]
    ended = [at_s for at_s, frames in recorder.holds[1:] if frames == 0]
    waits_s = [end - begin for begin, end in zip(begun, ended, strict=False)]
    assert len(world.messenger.delays_s) == world.messenger.sent == 25
    assert max(waits_s) > 0.1
    assert min(waits_s) < 0.1


def test_a_restart_of_the_access_point_drops_its_buffered_frames():
    """The station associates again immediately."""
    pushes = [Message(0.5 + 0.2 * number, 200) for number in range(290)]
    settings = {
        "faults__restart_every_s": 8, "faults__restart_s": 2,
        "station__association_ms": 100,
    }  # fmt: skip
    world, _ = over_air("psm:listen_interval=3", messages=pushes, **settings)
    restarts, renewed = world.ends.report()["restarts"], world.hop.report()["associations renewed"]
    assert restarts > 3
    assert world.port.dropped_frames > 20
    lost_s = 0.2 * world.port.dropped_frames
    assert restarts - 1 <= renewed <= restarts
    assert lost_s == pytest.approx(2.0 * restarts, rel=0.5)
    sent = world.server.sent_bytes
    assert sent == world.client.received_bytes + world.port.dropped_bytes + world.undelivered_bytes
