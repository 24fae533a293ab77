"""Observers: what they are told, in which order, and that they change nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest

from psm_sim.network import EnergyLedger, Observer, PagesDone, World, build_world, load_topology, run_alone
from psm_sim.network.observers import ObserverHooks
from psm_sim.network.segment import Segment
from psm_sim.network.topology_sections import PowerParameters
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page

EVENTS = ("radio", "beacons", "rest", "frame", "page", "finish")
POLICIES = ["always-on", "psm:listen_interval=2", "bsd:p=0.5", "lpsm:uplink=keep"]


class Everything(Observer):
    """Keeps all that it is told: the event's name and its arguments."""

    def __init__(self):
        self.told = []

    def of(self, event):
        return [arguments for name, *arguments in self.told if name == event]

    def radio(self, time_s, awake):
        self.told.append(("radio", time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.told.append(("beacons", first_s, count, every_s))

    def rest(self, time_s, poll, rest):
        self.told.append(("rest", time_s, poll, rest))

    def frame(self, link, queued_s, arrives_s, segment):
        self.told.append(("frame", queued_s, arrives_s, link.name, segment))

    def page(self, visit):
        self.told.append(("page", visit.ended_s, visit))

    def finish(self, time_s):
        self.told.append(("finish", time_s))


def watched(policy: str | Policy, release: str = "true") -> tuple[World, Everything]:
    seen = Everything()
    topology = load_topology("three-node", {"access_point.release_on_uplink": release})
    world = build_world(topology, make_policy(policy), [seen])
    run_alone(world, load_workload("ucb", 12, 4).pages)
    return world, seen


@pytest.mark.parametrize("policy", POLICIES)
def test_an_observer_changes_nothing(policy):
    """Events, pages and energy are those of a run that nobody watches, to the last bit."""
    world, _ = watched(policy)
    alone = build_world(load_topology(), make_policy(policy))
    run_alone(alone, load_workload("ucb", 12, 4).pages)
    assert (list(world.visits), world.usage()) == (list(alone.visits), alone.usage())
    assert world.events > alone.events  # who is told of frames is told between the two hops up


def test_only_methods_that_a_class_overrides_are_called():
    """A plain observer is never called; one that wants pages is called for pages."""
    assert all(getattr(ObserverHooks([Observer(), Observer()]), event) == () for event in EVENTS)
    pages = PagesDone(print)
    audience = ObserverHooks([Observer(), pages])
    assert audience.page == (pages.page,)
    assert all(getattr(audience, event) == () for event in EVENTS if event != "page")


@pytest.mark.parametrize("release", ["true", "false"])
@pytest.mark.parametrize("policy", POLICIES)
def test_times_never_decrease_within_an_event(policy, release):
    """Radio, beacons, rests, frames and pages each come in order."""
    _, seen = watched(policy, release)
    for event in EVENTS:
        times_s = [arguments[0] for arguments in seen.of(event)]
        assert all(earlier <= later for earlier, later in pairwise(times_s))


@pytest.mark.parametrize("policy", POLICIES)
def test_at_a_pages_end_all_that_the_radio_did_before_has_been_told(policy):
    """A second ledger, read as pages are told, agrees with the world's own."""

    class Meter(EnergyLedger):
        def __init__(self):
            super().__init__(PowerParameters())
            self.readings = []

        def page(self, visit):
            self.readings.append(self.usage(visit.ended_s))

    meter = Meter()
    world = build_world(load_topology(), make_policy(policy), [meter])
    run_alone(world, load_workload("ucb", 12, 4).pages)
    assert meter.readings == [usage for _, usage in world.visits]


def test_the_radio_wakes_and_dozes_in_turn_and_hears_beacons_only_dozing():
    """Each beacon lies within a doze, the last one at its end at the latest."""
    _, seen = watched("psm:listen_interval=2")
    changes = seen.of("radio")
    assert [awake for _, awake in changes] == [number % 2 == 1 for number in range(len(changes))]
    dozes = list(zip(changes[::2], changes[1::2], strict=False))
    for first_s, count, every_s in seen.of("beacons"):
        last_s = first_s + (count - 1) * every_s
        (doze,) = [(begin, end) for (begin, _), (end, _) in dozes if begin < first_s <= end]
        assert last_s <= doze[1] + 1e-9


def test_rests_are_the_questions_to_the_policy_and_its_answers():
    """Argument for argument; the time since the last uplink packet is in the frames."""
    policy, asked = make_policy("lpsm"), []
    answer = policy.rest

    def rest(now_s, since_uplink_s, poll):
        found = answer(now_s, since_uplink_s, poll)
        asked.append([now_s, poll, found])
        return found

    policy.rest = rest
    _, seen = watched(policy)
    assert seen.of("rest") == asked
    assert any(poll is not None and poll.buffered_frames for _, poll, _ in asked)


def test_frames_are_told_for_each_link_they_pass():
    """Bytes on the links are those that the hosts count; a frame is on the next link when it arrives."""
    world, seen = watched("always-on")
    bytes_on = dict.fromkeys(("wireless up", "wired up", "wired down", "wireless down"), 0)
    arrivals_s: dict[Segment, float] = {}
    for queued_s, arrives_s, name, segment in seen.of("frame"):
        bytes_on[name] += segment.wire_bytes
        if name in ("wired up", "wireless down"):
            assert queued_s == pytest.approx(arrivals_s[segment], abs=1e-9)
        arrivals_s[segment] = arrives_s
    assert bytes_on["wireless up"] == world.client.sent_bytes
    assert bytes_on["wired down"] == world.server.sent_bytes
    assert bytes_on["wireless down"] == world.client.received_bytes + world.wireless_down.in_flight_bytes


def test_pages_and_the_end_are_told():
    """Twelve visits, as the world has them, and the time of the last one's end."""
    world, seen = watched("psm")
    assert [visit for _, visit in seen.of("page")] == [visit for visit, _ in world.visits]
    assert seen.told[-1] == ("finish", world.visits[-1][0].ended_s)


def test_a_run_that_fails_is_not_told_as_finished():
    """The policy fails at the second question."""

    class Failing(Policy):
        name = "failing"

        def rest(self, now_s, since_uplink_s, poll):
            if now_s > 0:
                raise RuntimeError("no idea")
            return Rest()

    seen = Everything()
    with pytest.raises(RuntimeError, match="no idea"):
        run_alone(build_world(load_topology(), Failing(), [seen]), [Page(1.0, 2000, (), (300,), (0.0,))])
    assert seen.of("finish") == []


def test_progress_counts_pages():
    """One call for each page, with the number complete."""
    done: list[int] = []
    run_alone(
        build_world(load_topology(), make_policy("psm"), [PagesDone(done.append)]),
        load_workload("ucb", 3, 1).pages,
    )
    assert done == [1, 2, 3]
