"""Outstanding: the rule of two lines."""

from __future__ import annotations

from typing import Any

import pytest

from psm_sim.network import build_world, load_topology
from psm_sim.policies import Frame, Policy, Rest
from psm_sim.policies.outstanding_request_backoff import OutstandingPolicy
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from tests.policies.frames import fin, request


def started(**parameters) -> OutstandingPolicy:
    """Return the policy at the beginning of a run, beacons 0.1 s apart."""
    policy = OutstandingPolicy(**parameters)
    policy.start(0.1)
    return policy


def test_it_hears_every_beacon_while_a_request_is_outstanding():
    """And promises to go on."""
    policy = started()
    policy.sent(1.0, request())
    assert policy.rest(1.0, 0.0, None) == Rest(0.0, 1, repeat=True)


def test_it_stays_awake_first_if_it_is_told_to():
    """Until wait_ms after the request, not after the bare ACK that may follow."""
    policy = started(wait_ms=50)
    policy.sent(1.0, request())
    first, second = policy.rest(1.01, 0.01, None), policy.rest(1.2, 0.2, None)
    assert (round(first.awake_s, 9), first.beacons, first.repeat) == (0.04, 1, False)
    assert second == Rest(0.0, 1, repeat=True)


def test_it_backs_off_once_the_reply_is_complete():
    """The doze is f times the time since the last frame, in whole beacons, up to the longest."""
    policy = started(f=2.0, max_ms=600)
    policy.sent(1.0, request())
    policy.received(1.4, fin())
    dozes = [policy.rest(now_s, 0.0, None) for now_s in (1.4, 1.5, 1.6, 1.8)]
    assert [rest.beacons for rest in dozes] == [1, 2, 4, 6]
    assert [rest.repeat for rest in dozes] == [False, False, False, True]


def test_without_any_pause_the_pages_are_static_psm_s_at_less_energy():
    """On the bundled trace: each page as fast as with static PSM, and a fifth of the energy saved."""
    psm, rule = (simulate(policy, pages=20, seed=77) for policy in ("psm", "outstanding"))
    assert abs(rule.slowdown.mean - psm.slowdown.mean) < 0.03
    assert rule.energy_per_page_j < 0.85 * psm.energy_per_page_j
    assert rule.events <= 1.05 * psm.events


class Told(OutstandingPolicy):
    """The same rule, told of each frame by the hooks."""

    told = 0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Count it."""
        self.told += 1
        super().sent(now_s, frame)


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [
        ({"trace": "phone", "pages": 5}, {}),
        ({"trace": "ucb", "pages": 30}, {"wait_ms": 30.0}),
        ({"trace": "ucb", "pages": 30, "topology": "modern"}, {"f": 0.5}),
        ({"trace": "ucb", "pages": 15, "settings": {"access_point.group_per_s": 5.0}}, {}),
        ({"trace": "ucb", "pages": 10, "settings": {"mac.model": "dcf"}}, {"wait_ms": 30.0}),
        (
            {
                "trace": "ucb",
                "pages": 15,
                "settings": {"faults.wireless.loss": 0.05, "faults.patience_s": 3.0},
            },
            {},
        ),
    ],
)
def test_flows_that_the_station_keeps_are_those_that_frames_tell(settings, parameters):
    """To the last bit: on a link and over the air, with datagrams, group frames, lost frames, resets."""
    kept, told = (simulate(kind(**parameters), seed=3, **settings) for kind in (OutstandingPolicy, Told))
    assert kept.usage == told.usage
    assert [record.page_time_s for record in kept.page_records] == [
        record.page_time_s for record in told.page_records
    ]
    assert told.policy_state.told > 30


class Counting(Policy):
    """A user's own policy, with a use of its own for the name ``flows``."""

    name = "counting"
    flows: Any

    def __init__(self) -> None:
        self.flows = {}

    def rest(self, now_s, since_uplink_s, poll):
        self.flows[now_s] = poll
        return Rest()


def test_a_users_policy_may_use_the_name_of_what_a_station_keeps():
    """Made by a world, or under its guard."""
    world = build_world(load_topology(), Counting())
    world.run(load_workload("ucb", 2, 1).pages)
    assert (
        simulate(Counting(), pages=2, seed=1).energy_per_page_j
        == simulate("psm", pages=2, seed=1).energy_per_page_j
    )
