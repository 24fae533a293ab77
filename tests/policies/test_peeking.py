"""Policies have no access to anything that their station has not received."""

from __future__ import annotations

from typing import Any

import pytest

from psm_sim.beacons import Beacons
from psm_sim.policies import Frame, Policy, Poll, RadioPower, Rest
from psm_sim.policies.base import Dtim
from psm_sim.simulation import Scenario
from tests.network.worlds import run_world

PLAIN = {int, float, bool, type(None)}
RECORDS = {Poll, Frame, RadioPower, Dtim, Beacons, tuple}


class Peek(Policy):
    """Record all arguments, and doze for three beacons."""

    name = "peek"

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def rest(self, now_s, since_uplink_s, poll):
        self.calls.append(("rest", (now_s, since_uplink_s, poll)))
        return Rest(beacons=3)

    def uplink(self, now_s):
        self.calls.append(("uplink", (now_s,)))

    def sent(self, now_s, frame):
        self.calls.append(("sent", (now_s, frame)))

    def received(self, now_s, frame):
        self.calls.append(("received", (now_s, frame)))

    def interrupted(self, poll):
        self.calls.append(("interrupted", (poll,)))


def peek(pages: int = 6, topology: str = "three-node") -> Peek:
    """Return the policy after a run of the first pages of *ucb*."""
    policy = Peek()
    workload = Scenario("ucb", topology, 6, 1).workload()
    run_world(workload.pages[:pages], policy, topology=topology)
    return policy


def leaves(value: Any) -> list[Any]:
    """Return the plain values in *value*. Records have no attributes other than their fields."""
    if type(value) not in RECORDS:
        return [value]
    assert not hasattr(value, "__dict__")
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [leaf for name in type(value).__slots__ for leaf in leaves(getattr(value, name))]


@pytest.mark.parametrize("topology", ["three-node", "modern"])
def test_the_arguments_and_attributes_of_a_policy_are_plain_values(topology):
    """No value refers to the network, whose clock the server shares."""
    policy = peek(topology=topology)
    seen = [leaf for _, arguments in policy.calls for leaf in leaves(arguments)]
    assert {hook for hook, _ in policy.calls} >= {"rest", "uplink", "sent", "received"}
    assert {type(leaf) for leaf in seen} <= PLAIN


def test_a_policy_receives_attributes_only_for_beacons_and_dtim_and_power():
    """A policy knows neither the trace nor the seed."""
    policy = peek()
    attributes = {name: value for name, value in vars(policy).items() if name != "calls"}
    assert attributes.keys() == {"beacon_s", "beacon_grid", "power", "dtim"}
    assert {type(leaf) for value in attributes.values() for leaf in leaves(value)} <= PLAIN | {str}


def test_the_calls_of_a_policy_do_not_depend_on_later_pages():
    """The calls before the second page are those of a run with one page."""
    short, long = peek(1).calls, peek(6).calls
    assert len(short) < len(long)
    assert long[: len(short)] == short


def test_the_polls_and_times_that_a_policy_receives_are_never_in_the_future():
    """Each frame of a poll arrived during the doze, and times never decrease."""
    calls = peek().calls
    times_s = [arguments[0] for _, arguments in calls if not isinstance(arguments[0], Poll)]
    assert times_s == sorted(times_s)
    for hook, arguments in calls:
        poll = arguments[-1] if hook in ("rest", "interrupted") else None
        if poll is not None:
            assert all(0 <= offset_ms <= poll.slept_ms + 1e-6 for offset_ms, _ in poll.arrivals)
