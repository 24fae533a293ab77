"""Calls of sent() and received() of a policy, and their order."""

from __future__ import annotations

from typing import Any

import pytest

from psm_sim.network import Topology, World, build_world
from psm_sim.policies import Frame, Policy, RadioPower, Rest, make_policy
from psm_sim.policies.user_policy_guard import guarded_policy
from psm_sim.workload.page_view import Page
from tests.network.worlds import run_world

PAGE = Page(1.03, 3000, (2000,), (300, 300), (0.05, 0.05))


class Recording(Policy):
    """Doze one beacon at a time, and record all calls."""

    name = "recording"

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


def log_of(policy, **settings) -> tuple[list[tuple[str, object]], World]:
    """Return the log of a run over one page, and its world."""
    return policy.log, run_world([PAGE], policy, **settings)


def frames(log, event) -> list[Frame]:
    """Return the frames of one kind of event."""
    return [frame for kind, frame in log if kind == event]


def test_a_policy_is_called_for_every_frame_sent_or_received():
    """The sizes add up to the bytes that the host counts."""
    log, world = log_of(Recording())
    assert sum(frame.bytes for frame in frames(log, "sent")) == world.client.sent_bytes
    assert sum(frame.bytes for frame in frames(log, "received")) == world.client.received_bytes
    assert sum(frame.payload for frame in frames(log, "received")) == PAGE.total_bytes


def test_a_page_begins_with_syn_and_syn_ack_and_ack_and_request():
    """The flow is the connection's number, and the second connection has the next one."""
    log, _ = log_of(Recording())
    first = [entry for entry in log if entry[0] in ("sent", "received")][:4]
    assert first == [
        ("sent", Frame(0, 40, 0, True, False, mss=1460)),
        ("received", Frame(0, 40, 0, True, False, mss=1460)),
        ("sent", Frame(0, 40, 0, False, False)),
        ("sent", Frame(0, 340, 300, False, False)),
    ]
    assert {frame.flow for frame in frames(log, "received")} == {0, 1}


def test_a_packet_that_interrupts_a_doze_calls_the_hooks_interrupted_and_uplink_and_sent():
    """The call with the buffered frames comes before the calls for the packet."""
    log, _ = log_of(Recording())
    assert [event for event, _ in log[:3]] == ["interrupted", "uplink", "sent"]


def test_a_guarded_policy_gets_the_same_calls_as_an_unguarded_policy():
    """The guard calls both hooks."""
    assert log_of(guarded_policy(Recording()))[0] == log_of(Recording())[0]


@pytest.mark.parametrize("policy", ["psm", "bsd", "lpsm"])
def test_a_policy_without_hooks_adds_no_calls_per_frame(policy):
    """The radio delivers to the host directly."""
    world = build_world(Topology(), guarded_policy(make_policy(policy)))
    assert world.radio.deliver == world.client.receive


def test_the_power_of_the_radio_is_set_on_a_policy_before_start_is_called():
    """The powers are those of the topology, also through the guard."""
    policy = Recording()
    log_of(guarded_policy(policy), **{"power.awake_w": 1.5, "power.beacon_j": 0.002})
    assert policy.power == RadioPower(1.5, 0.05, 0.002)


def test_a_parameter_named_power_is_not_overwritten():
    """A user-defined policy may use the name."""

    class Powerful(Recording):
        def __init__(self) -> None:
            super().__init__()
            self.power: Any = 9000.0

    policy = Powerful()
    log_of(policy)
    assert policy.power == 9000.0
