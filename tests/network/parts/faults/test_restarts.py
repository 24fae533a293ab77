"""Restarts of the access point: buffer and association are lost; and the server's stalls."""

from __future__ import annotations

import pytest

from psm_sim.network.parts.faults import fault_injection
from psm_sim.network.parts.faults.outages import OutageSchedule
from psm_sim.workload import load_workload
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.faults.common import Frames, loaded, world_with


class Once(OutageSchedule):
    """One spell, when the test wants it."""

    at_s = 10.0

    def next(self) -> None:
        self.begins_s = self.at_s if self.number == 0 else 1e9
        self.ends_s = self.begins_s + self._lasts_s
        self.number += 1


def at(monkeypatch, time_s):
    """Have the first spell of each kind begin at *time_s*, and no other one."""
    monkeypatch.setattr(Once, "at_s", time_s)
    monkeypatch.setattr(fault_injection, "OutageSchedule", Once)


RESTART = {"faults.restart_every_s": 1000, "faults.restart_s": 5}
PUSHED = Messages([Message(9.95, 500, False), Message(12.0, 500, False), Message(18.0, 500, False)])
"""Held at the restart; sent while the access point is down; and after it."""


@pytest.mark.parametrize(("noticed", "delivered"), [("return", 1), ("send", 0)])
def test_what_was_held_is_lost_and_what_comes_for_a_forgotten_station(monkeypatch, noticed, delivered):
    """The third datagram finds a station that associates by itself, or one that does not know."""
    at(monkeypatch, 9.99)
    world = world_with({**RESTART, "faults.restart_noticed": noticed})
    world.run([Page(40.0, 1000, (), (300,), (0.0,))], PUSHED)
    assert len(world.messenger.delays_s) == delivered
    assert world.access_point.dropped_frames == 3 - delivered
    assert world.hop.report()["associations renewed"] == 1
    assert world.ends.report() == {"frames lost up": 0, "frames lost down": 0, "restarts": 1}
    assert not world.visits.failures
    balance(world)


def test_associating_takes_its_time_before_the_page_begins(monkeypatch):
    """A station that notices when it sends; the page is as much later."""
    settings = {**RESTART, "faults.restart_noticed": "send", "station.association_ms": 700}
    page, times_s = Page(40.0, 1000, (), (300,), (0.0,)), []
    for at_s in (10.0, 1e8):
        at(monkeypatch, at_s)
        visit, _ = loaded(settings, [page], "always-on").visits[0]
        times_s.append(visit.ended_s - visit.started_s)
    assert times_s[0] - times_s[1] == pytest.approx(0.7)


def test_no_frame_passes_while_it_is_down(monkeypatch):
    """A page that begins meanwhile: its SYNs are lost, and it loads once the access point is back."""
    at(monkeypatch, 10.0)
    seen = Frames()
    world = loaded(RESTART, [Page(11.0, 1000, (), (300,), (0.0,))], observers=[seen])
    assert [(name, segment.syn) for name, _, segment in seen.gone] == [("wireless up", True)] * 3
    assert not [name for name, arrives_s, _ in seen.queued if 10 < arrives_s < 15 and name == "wired up"]
    visit, _ = world.visits[0]
    assert 15.0 < visit.ended_s < 19.0


def test_what_is_on_its_way_to_the_station_is_lost(monkeypatch):
    """Frames queued at the access point, in the middle of a page; the page goes on after it."""
    at(monkeypatch, 1.2)
    settings = {**RESTART, "links.wireless.rate_mbps": 0.2}
    world = loaded(settings, [Page(1.0, 50_000, (), (300,), (0.0,))], "always-on")
    assert world.ends.lost_frames("down") >= 1
    assert not world.visits.failures
    balance(world)


@pytest.mark.parametrize("noticed", ["return", "send"])
@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5", "uapsd", "twt", "anticipate"])
def test_pages_load_between_restarts_with_every_kind_of_radio(policy, noticed):
    """One a minute, each of 5 s; every page ends, with nothing unaccounted for."""
    settings = {**RESTART, "faults.restart_every_s": 60, "faults.restart_noticed": noticed}
    pages = load_workload("ucb", 15, 2).pages
    world = loaded({**settings, "browser.stall_s": 300}, pages, policy)
    assert len(world.visits) == 15
    assert len(world.visits.failures) <= 3
    assert world.ends.report()["restarts"] > 3
    balance(world)


def test_a_stalling_server_replies_when_the_stall_is_over(monkeypatch):
    """Asked for at 11 s, in a stall from 10 to 20 s: the page is complete soon after, and no SYN was lost."""
    at(monkeypatch, 10.0)
    settings = {"faults.stall_every_s": 1000, "faults.stall_s": 10}
    page = Page(11.0, 1000, (), (300,), (0.0,))
    visit, _ = loaded(settings, [page], "always-on").visits[0]
    at(monkeypatch, 1e8)
    plain, _ = loaded(settings, [page], "always-on").visits[0]
    taken_s = plain.ended_s - plain.started_s
    assert 20.0 < visit.ended_s < 20.0 + taken_s


def test_replies_before_and_after_a_stall_are_not_late(monkeypatch):
    """At 5 s and at 25 s, as without."""
    settings = {"faults.stall_every_s": 1000, "faults.stall_s": 10}
    pages = [Page(5.0, 1000, (), (300,), (0.0,)), Page(20.0, 1000, (), (300,), (0.0,))]
    visits = []
    for at_s in (10.0, 1e8):
        at(monkeypatch, at_s)
        visits.append([visit for visit, _ in loaded(settings, pages).visits])
    assert visits[0] == visits[1]


def test_restarts_and_stalls_are_the_same_for_every_policy():
    """They are drawn by the clock, each from a stream of its own."""
    times_s = [OutageSchedule(3, name, 100.0, 1.0).begins_s for name in ("faults.restarts", "faults.stalls")]
    assert times_s[0] != times_s[1]
    pages = [Page(1000.0, 1000, (), (300,), (0.0,))]
    settings = {**RESTART, "faults.restart_every_s": 100}
    counts = [loaded(settings, pages, policy).ends.report()["restarts"] for policy in ("psm", "always-on")]
    assert counts[0] == counts[1] > 3
