"""Gaps of each connection, and the law of the first of several frames."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from psm_sim.learning import WaitingTimeModel
from psm_sim.policies import Poll
from psm_sim.policies.helpers.frame_gaps import FrameGaps, first_event_model
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests
from tests.policies.frames import ack, datagram, fin, request, syn


@pytest.fixture
def told() -> list[tuple[str, float, float]]:
    """Return the list of what the gaps have told."""
    return []


@pytest.fixture
def gaps(told) -> FrameGaps:
    """Return gaps that write to the list, times rounded."""
    return FrameGaps(
        OutstandingRequests(), lambda context, a, b: told.append((context, round(a, 6), round(b, 6)))
    )


def test_a_frame_received_while_awake_came_in_the_last_four_milliseconds(gaps, told):
    """Asked at 1 s to doze at 1.5 s, received at 1.2 s."""
    gaps.sent(1.0, request())
    gaps.rests(1.5, 1.6)
    gaps.received(1.2, request())
    assert told == [("request", 0.196, 0.2)]


def test_a_frame_fetched_at_a_beacon_came_during_the_doze_since_the_last_empty_beacon(gaps, told):
    """Two dozes, the second one ends with the frame; the frames after it in the same burst are not learnt."""
    gaps.sent(1.0, syn())
    gaps.rests(1.0, 1.1)
    gaps.rests(1.1, 1.3)
    gaps.received(1.305, syn())
    gaps.received(1.307, request())
    assert told == [("syn", 0.1, 0.3)]


def test_a_datagram_of_its_own_says_that_nothing_had_come_or_that_it_came_during_the_doze(gaps, told):
    """Nothing held: not before now; frames held: since the doze began; an interruption counts once."""
    gaps.rests(1.0, 1.1)
    gaps.interrupted(Poll(50.0))
    gaps.sent(1.05, datagram())
    gaps.rests(1.06, 1.2)
    gaps.interrupted(Poll(40.0, 1500, 1, ((20.0, 1500),)))
    gaps.sent(1.1, datagram())
    assert told == [("idle", 1.05, inf), ("asked", 0.01, 0.05)]


def test_a_bare_ack_received_changes_nothing(gaps, told):
    """Nobody waits for it: the gap of the request goes on."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, ack())
    gaps.rests(1.1, 1.2)
    gaps.received(1.2, request())
    assert told == [("request", 0.1, 0.2)]
    assert gaps.idle.opened_s == 1.2


def test_a_fin_that_completes_the_last_reply_says_that_no_data_had_come(gaps, told):
    """And what follows is idle."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, fin())
    assert told == [("request", 0.1, inf)]
    assert gaps.idle.context == "idle"


def test_frames_of_one_burst_are_no_waiting(gaps, told):
    """A gap in which the radio was not asked to rest is not learnt from."""
    gaps.sent(1.0, request())
    for number in range(3):
        gaps.received(1.1 + 0.0025 * number, request(size=1460))
    assert told == []
    assert gaps.waiting[0].context == "received"


def test_a_datagram_sent_is_a_question_for_two_seconds(gaps, told):
    """Its reply ends a context of its own. A datagram received asks nothing."""
    gaps.sent(1.0, datagram())
    assert (gaps.asks(2.9), gaps.asks(3.1)) == (True, False)
    gaps.rests(1.0, 1.2)
    gaps.received(1.201, datagram())
    assert told == [("asked", 0.0, 0.2)]
    assert not gaps.asks(1.3)


def test_a_frame_of_one_connection_leaves_the_gap_of_another_open(gaps, told):
    """The request of connection 0 is answered 0.5 s after it was sent, whatever connection 1 does."""
    gaps.sent(1.0, request(0))
    gaps.sent(1.1, syn(1))
    gaps.rests(1.1, 1.2)
    gaps.received(1.203, syn(1))
    gaps.sent(1.204, ack(1))
    gaps.rests(1.21, 1.6)
    gaps.received(1.5, request(0, 100))
    assert told == [("syn", 0.0, 0.1), ("request", 0.496, 0.5)]
    assert set(gaps.waiting) == {1}


def test_frames_that_follow_each_other_after_waking_were_held(gaps, told):
    """Both came during the doze, the first one late on a busy air; a third one 20 ms later came just now."""
    for flow in range(3):
        gaps.sent(1.0, request(flow))
    gaps.rests(1.0, 1.1)
    gaps.received(1.109, request(0, 100))
    gaps.sent(1.109, ack(0))
    gaps.received(1.112, request(1, 100))
    gaps.received(1.132, request(2, 100))
    assert told == [("request", 0.0, 0.1), ("request", 0.0, 0.1), ("request", 0.128, 0.132)]


def test_what_is_held_when_a_doze_is_cut_short_came_since_it_began(gaps, told):
    """The packet belongs to connection 1, the frames held to connection 0; if none are held nothing came."""
    gaps.sent(1.0, request(0))
    gaps.rests(1.0, 1.2)
    gaps.interrupted(Poll(50.0, 1500, 1, ((20.0, 1500),)))
    gaps.sent(1.05, request(1))
    gaps.received(1.053, request(0, 100))
    gaps.rests(1.06, 1.2)
    gaps.interrupted(Poll(40.0))
    gaps.sent(1.1, ack(1))
    gaps.received(1.102, request(1, 100))
    assert told == [("request", 0.0, 0.05), ("request", 0.05, inf)]


def test_a_reply_that_ends_without_data_had_not_come(gaps, told):
    """By a FIN; then nothing waits, and there is one gap again, which an unasked frame ends."""
    gaps.sent(1.0, request(0))
    gaps.rests(1.0, 1.1)
    gaps.received(1.103, fin(0))
    assert told == [("request", 0.103, inf)]
    assert (gaps.waiting, gaps.idle.context) == ({}, "idle")
    gaps.rests(1.2, 1.4)
    gaps.received(1.41, datagram())
    assert told[1:] == [("idle", 0.097, 0.297)]


def learnt(rate):
    """Return a law that has learnt exponential waiting times of a rate."""
    law = WaitingTimeModel()
    for time_s in np.random.default_rng(1).exponential(1 / rate, 400):
        law.observe(max(0.0, time_s - 0.004), time_s)
    return law


def test_the_first_of_several_comes_at_the_sum_of_their_rates():
    """Two connections of rates 2 and 3 per second, opened at different times, as one of rate 5; by hand."""
    laws = [(learnt(2.0).at, 9.9), (learnt(3.0).at, 9.5)]
    times_s = np.array([10.0, 10.1, 10.2, 10.4, 10.1])
    risen, area = first_event_model(laws, times_s)
    since_s = times_s - 10.0
    assert risen == pytest.approx(1 - np.exp(-5 * since_s), abs=0.08)
    assert area == pytest.approx(since_s - (1 - np.exp(-5 * since_s)) / 5, abs=0.02)
    still = np.prod([(1 - law(times_s - at)[0]) / (1 - law(times_s[:1] - at)[0]) for law, at in laws], axis=0)
    assert risen == pytest.approx(1 - still)


def test_the_joint_law_of_one_is_that_law_from_now_on():
    """Given that nothing has come yet, and integrated nearly as exactly."""
    law = learnt(2.0)
    times_s = np.linspace(10.0, 14.0, 30)
    risen, area = first_event_model([(law.at, 9.9)], times_s)
    own, integral = law.at(times_s - 9.9)
    assert risen == pytest.approx((own - own[0]) / (1 - own[0]))
    expected = (integral - integral[0] - own[0] * (times_s - 10.0)) / (1 - own[0])
    assert area == pytest.approx(expected, abs=2e-4)
