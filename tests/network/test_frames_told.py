"""Frames told: what a policy that wants to know hears of each frame, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from psm_sim.network import Topology, World, build_world, load_topology, run_alone
from psm_sim.policies import Frame, Policy, RadioPower, Rest, make_policy
from psm_sim.policies.user_policy_guard import guarded_policy
from psm_sim.workload.page_view import Page

PAGE = Page(1.03, 3000, (2000,), (300, 300), (0.05, 0.05))


class Told(Policy):
    """Dozes one beacon at a time, and keeps all that it is told."""

    name = "told"

    def __init__(self) -> None:
        self.log: list[tuple[str, object]] = []

    def rest(self, now_s, since_uplink_s, poll):
        return Rest()

    def uplink(self, now_s):
        self.log.append(("uplink", now_s))

    def interrupted(self, poll):
        self.log.append(("interrupted", poll.slept_ms))

    def sent(self, now_s, frame):
        self.log.append(("sent", frame))

    def received(self, now_s, frame):
        self.log.append(("received", frame))


def told(policy, **settings) -> tuple[list[tuple[str, object]], World]:
    """Return the log of a run over one page, and its world."""
    world = build_world(load_topology(settings=settings), policy)
    run_alone(world, [PAGE])
    return policy.log, world


def frames(log, event) -> list[Frame]:
    """Return the frames of one kind of event."""
    return [frame for kind, frame in log if kind == event]


def test_every_frame_that_the_client_sends_or_receives_is_told():
    """Their sizes add up to the bytes that the host counts."""
    log, world = told(Told())
    assert sum(frame.bytes for frame in frames(log, "sent")) == world.client.sent_bytes
    assert sum(frame.bytes for frame in frames(log, "received")) == world.client.received_bytes
    assert sum(frame.payload for frame in frames(log, "received")) == PAGE.total_bytes


def test_a_page_begins_with_a_syn_out_a_syn_back_an_ack_and_the_request():
    """The flow is the connection's number, and the second connection has the next one."""
    log, _ = told(Told())
    first = [entry for entry in log if entry[0] in ("sent", "received")][:4]
    assert first == [
        ("sent", Frame(0, 40, 0, True, False, mss=1460)),
        ("received", Frame(0, 40, 0, True, False, mss=1460)),
        ("sent", Frame(0, 40, 0, False, False)),
        ("sent", Frame(0, 340, 300, False, False)),
    ]
    assert {frame.flow for frame in frames(log, "received")} == {0, 1}


def test_of_a_packet_that_cuts_a_doze_short_the_policy_hears_interruption_uplink_and_frame():
    """First what was held when it woke, then the packet."""
    log, _ = told(Told())
    assert [event for event, _ in log[:3]] == ["interrupted", "uplink", "sent"]


def test_a_guarded_policy_hears_the_same():
    """The guard passes both hooks on."""
    assert told(guarded_policy(Told()))[0] == told(Told())[0]


@pytest.mark.parametrize("policy", ["psm", "bsd", "lpsm"])
def test_a_policy_without_hooks_costs_nothing_on_the_way_of_a_frame(policy):
    """The radio delivers to the host directly."""
    world = build_world(Topology(), guarded_policy(make_policy(policy)))
    assert world.radio.deliver == world.client.receive


def test_a_policy_knows_the_power_of_its_radio_before_it_starts():
    """It is the topology's, through the guard too."""
    policy = Told()
    told(guarded_policy(policy), **{"power.awake_w": 1.5, "power.beacon_j": 0.002})
    assert policy.power == RadioPower(1.5, 0.05, 0.002)


def test_a_parameter_called_power_is_left_alone():
    """A user's own policy had the name first."""

    class Powerful(Told):
        def __init__(self) -> None:
            super().__init__()
            self.power: Any = 9000.0

    policy = Powerful()
    told(policy)
    assert policy.power == 9000.0
