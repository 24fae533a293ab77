"""Runs that made no progress for ever: each ends, or fails with a sentence."""

from __future__ import annotations

import pickle

import pytest

from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.network.page_outcomes import PageError
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page


class Sleeper(Policy):
    """Dozes for as good as ever."""

    name = "sleeper"

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=10**9)


def world(policy, **settings):
    made = make_policy(policy) if isinstance(policy, str) else policy
    keys = {key.replace("__", "."): value for key, value in settings.items()}
    return build_world(load_topology("three-node", keys), made)


LATE = Page(1.0, 1000, (), (300,), (50.0,))
"""When the server answers, the request has been acknowledged, and the client has nothing to send."""


@pytest.mark.parametrize("frames", [1, 2])
@pytest.mark.parametrize("policy", ["always-on", "psm", "lpsm"])
def test_a_buffer_of_one_or_two_frames_ends(frames, policy):
    """The SYN that comes again is answered with the SYN-ACK again: a bare ACK took its place for ever."""
    small = world(policy, access_point__buffer_frames=frames)
    run_alone(small, load_workload("ucb", 20, 1).pages)
    assert len(small.visits) == 20
    assert small.access_point.dropped_frames > 0


def test_the_server_gives_a_connection_up_that_nobody_acknowledges():
    """The reply is held for ever: after 924.6 s the page fails, with page, policy, drops and a remedy."""
    sentence = (
        r"Page 1 under sleeper .*server has given.* data had no new ACK for 924.6 s.*dropped by the access"
        r" point: 0"
    )
    with pytest.raises(PageError, match=sentence):
        run_alone(world(Sleeper()), [LATE])


def test_an_unanswered_syn_is_given_up_after_three_minutes():
    """A legacy access point holds the SYN-ACK for the station that wakes only to send."""
    made = world(Sleeper(), access_point__release_on_uplink="false")
    with pytest.raises(PageError, match=r"SYN had no new ACK for 180 s"):
        run_alone(made, [LATE])
    assert 180 < made.env.now < 300


@pytest.mark.parametrize("every_beacon", [False, True])
def test_a_page_without_a_new_byte_for_too_long_fails(every_beacon):
    """A server that thinks for two hours; the events in between decide nothing."""
    made = world("psm", beacon__interval_ms=1000)
    if every_beacon:
        schedule_every_beacon(made)
    with pytest.raises(PageError, match=r"no new byte of it has come for 3600 s"):
        run_alone(made, [Page(1.0, 1000, (), (300,), (7200.0,))])


def test_a_fin_that_nobody_acknowledges_is_forgotten():
    """The page is complete; that the server's last ACK never comes fails nothing, and no timer is left."""
    made = world(Sleeper(), access_point__release_on_uplink="false")
    made.radio.decide = lambda now_s, poll: Rest(beacons=1 if now_s < 2.0 else 10**9)
    run_alone(made, [Page(1.0, 1000, (), (300,), (0.0,)), Page(5000.0, 1, (), (300,), (0.0,))][:1])
    made.env.run(until=3000.0)
    assert made.client.endpoints == {}


def test_the_error_names_the_policy_as_the_user_did_and_can_be_copied():
    """It comes from worker processes too."""
    with pytest.raises(PageError, match="under psm:listen_interval=65535 cannot") as caught:
        simulate("psm:listen_interval=65535", trace="ucb:server_delay_ms=50000", pages=1)
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (its own bytes)
    assert str(copied) == str(caught.value)


def test_a_slow_link_is_refused_or_ends():
    """100 bit/s, on which TCP sent copies without end, is below the range; at the range's end pages load."""
    with pytest.raises(ValueError, match=r"rate_mbps must be a number >= 0.01"):
        load_topology("three-node", {"links.wired.rate_mbps": "1e-4"})
    slow = world("psm", links__wired__rate_mbps="0.01", links__wireless__rate_mbps="0.01")
    run_alone(slow, load_workload("ucb", 3, 1).pages)
    assert len(slow.visits) == 3
    assert slow.events < 20_000
