"""Termination: every run ends, or fails with a message."""

from __future__ import annotations

import pickle

import pytest

from psm_sim.network import load_topology, run_alone
from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.network.page_outcomes import PageError
from psm_sim.policies import Rest
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.worlds import Sleeper, make_world, run_world

LATE = Page(1.0, 1000, (), (300,), (50.0,))
"""Page with a late reply: the request has been acknowledged, and the client has nothing to send."""


@pytest.mark.parametrize("frames", [1, 2])
@pytest.mark.parametrize("policy", ["always-on", "psm", "lpsm"])
def test_a_run_ends_even_if_the_buffer_holds_only_one_or_two_frames(frames, policy):
    """A repeated SYN gets a SYN-ACK; a bare ACK would take its place in the buffer forever."""
    small = run_world(load_workload("ucb", 20, 1).pages, policy, access_point__buffer_frames=frames)
    assert len(small.visits) == 20
    assert small.port.dropped_frames > 0


def test_the_server_gives_up_an_unacknowledged_connection():
    """The reply stays buffered. The page fails after 924.6 s, with page, policy, drops and a remedy."""
    sentence = (
        r"Page 1 under sleeper .*server has given.* data had no new ACK for 924.6 s.*dropped by the access"
        r" point: 0"
    )
    with pytest.raises(PageError, match=sentence):
        run_world([LATE], Sleeper())


def test_an_unanswered_syn_is_given_up_after_three_minutes():
    """A legacy access point buffers the SYN-ACK for a station that wakes only to send."""
    built = make_world(Sleeper(), access_point__release_on_uplink="false")
    with pytest.raises(PageError, match=r"SYN had no new ACK for 180 s"):
        run_alone(built, [LATE])
    assert 180 < built.env.now < 300


def test_events_without_a_new_byte_do_not_delay_the_failure_of_a_page():
    """One event per second, and a look at the page every 4096 events: its reply of two hours is too late."""
    built = make_world("psm", beacon__interval_ms=1000)
    schedule_every_beacon(built)
    with pytest.raises(PageError, match=r"no new byte of it has come for 3600 s"):
        run_alone(built, [Page(1.0, 1000, (), (300,), (7200.0,))])
    assert 3600 < built.env.now < 7200


def test_an_unacknowledged_fin_leaves_no_connection_open():
    """The page is complete and does not fail, and no timer is left."""
    built = make_world(Sleeper(), access_point__release_on_uplink="false")
    built.radio.decide = lambda now_s, poll: Rest(beacons=1 if now_s < 2.0 else 10**9)
    run_alone(built, [Page(1.0, 1000, (), (300,), (0.0,))])
    built.env.run(until=3000.0)
    assert built.client.endpoints == {}


def test_the_page_error_quotes_the_policy_as_written_and_can_be_pickled():
    """Worker processes raise the error, too."""
    with pytest.raises(PageError, match="under psm:listen_interval=65535 cannot") as caught:
        simulate("psm:listen_interval=65535", trace="ucb:server_delay_ms=50000", pages=1)
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (its own bytes)
    assert str(copied) == str(caught.value)


def test_every_accepted_link_rate_is_fast_enough_for_a_run_to_end():
    """A rate of 100 bit/s is below the range, since TCP would repeat segments forever.

    Pages load at the lower end of the range.
    """
    with pytest.raises(ValueError, match=r"rate_mbps must be a number >= 0.01"):
        load_topology("three-node", {"links.wired.rate_mbps": "1e-4"})
    rates = {"links.wired.rate_mbps": "0.01", "links.wireless.rate_mbps": "0.01"}
    slow = run_world(load_workload("ucb", 3, 1).pages, **rates)
    assert len(slow.visits) == 3
    assert slow.events < 20_000
