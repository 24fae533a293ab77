"""Restarts of the access point, which lose buffer and association."""

from __future__ import annotations

import pytest

from psm_sim.network.parts.faults import fault_injection
from psm_sim.workload import load_workload
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.faults.common import Frames, loaded
from tests.network.worlds import run_world


class Once:
    """Random numbers that give a single restart, at *time_s*."""

    def __init__(self, time_s):
        self.times_s = [1e9, time_s]

    def exponential(self, mean):
        return self.times_s.pop()


def at(monkeypatch, time_s):
    """Let the only restart begin at *time_s*."""
    monkeypatch.setattr(fault_injection, "random_stream", lambda seed, name: Once(time_s))


RESTART = {"faults.restart_every_s": 1000, "faults.restart_s": 5}
PUSHED = Messages([Message(9.95, 500, False), Message(12.0, 500, False), Message(18.0, 500, False)])
"""Messages that are buffered at the restart, sent during it, and sent after it."""


def test_a_restart_drops_buffered_frames_and_frames_that_arrive_during_the_restart(monkeypatch):
    """The third datagram arrives after the station has associated again."""
    at(monkeypatch, 9.99)
    world = run_world([Page(40.0, 1000, (), (300,), (0.0,))], messages=PUSHED, **RESTART)
    assert len(world.messenger.delays_s) == 1
    assert world.port.dropped_frames == 2
    assert world.hop.report()["associations renewed"] == 1
    assert world.ends.report() == {"frames lost up": 0, "frames lost down": 0, "restarts": 1}
    assert not world.visits.failures
    balance(world)


def test_no_frame_passes_during_a_restart(monkeypatch):
    """A page that begins during a restart loses its SYNs, and loads when the access point is back."""
    at(monkeypatch, 10.0)
    seen = Frames()
    world = loaded(RESTART, [Page(11.0, 1000, (), (300,), (0.0,))], observers=[seen])
    assert [(name, segment.syn) for name, _, segment in seen.gone] == [("wireless up", True)] * 3
    assert not [name for name, arrives_s, _ in seen.queued if 10 < arrives_s < 15 and name == "wired up"]
    visit, _ = world.visits[0]
    assert 15.0 < visit.ended_s < 19.0


def test_a_restart_loses_frames_queued_for_the_station(monkeypatch):
    """The restart is in the middle of a page, which continues after it."""
    at(monkeypatch, 1.2)
    settings = {**RESTART, "links.wireless.rate_mbps": 0.2}
    world = loaded(settings, [Page(1.0, 50_000, (), (300,), (0.0,))], "always-on")
    assert world.ends.lost_frames("down") >= 1
    assert not world.visits.failures
    balance(world)


@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5", "uapsd", "twt", "anticipate"])
def test_pages_load_between_restarts_with_every_kind_of_radio(policy):
    """A restart of 5 s per minute lets every page end, and bytes are conserved."""
    pages = load_workload("ucb", 15, 2).pages
    world = loaded({**RESTART, "faults.restart_every_s": 60}, pages, policy)
    assert len(world.visits) == 15
    assert len(world.visits.failures) <= 3
    assert world.ends.report()["restarts"] > 3
    balance(world)


def test_restarts_are_the_same_for_every_policy():
    pages = [Page(1000.0, 1000, (), (300,), (0.0,))]
    settings = {**RESTART, "faults.restart_every_s": 100}
    counts = [loaded(settings, pages, policy).ends.report()["restarts"] for policy in ("psm", "always-on")]
    assert counts[0] == counts[1] > 3
