"""Gaps of each connection, and the law of the first of several arrivals."""

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
def observed() -> list[tuple[str, float, float]]:
    """Return the list of observed gaps: context, and the limits of the gap in seconds."""
    return []


@pytest.fixture
def gaps(observed) -> FrameGaps:
    """Return gaps that append to the list, with rounded times."""
    return FrameGaps(
        OutstandingRequests(), lambda context, a, b: observed.append((context, round(a, 6), round(b, 6)))
    )


def test_a_frame_received_while_awake_is_taken_to_have_arrived_in_the_last_4_ms(gaps, observed):
    """The rest at 1 s plans a doze at 1.5 s; the frame is received at 1.2 s."""
    gaps.sent(1.0, request())
    gaps.rests(1.5, 1.6)
    gaps.received(1.2, request())
    assert observed == [("request", 0.196, 0.2)]


def test_a_frame_retrieved_at_a_beacon_is_taken_to_have_arrived_since_the_last_empty_beacon(gaps, observed):
    """The second of two dozes ends with the frame; later frames of the burst are not observed."""
    gaps.sent(1.0, syn())
    gaps.rests(1.0, 1.1)
    gaps.rests(1.1, 1.3)
    gaps.received(1.305, syn())
    gaps.received(1.307, request())
    assert observed == [("syn", 0.1, 0.3)]


def test_an_uplink_datagram_reveals_whether_a_frame_arrived_during_the_doze(gaps, observed):
    """A buffered frame arrived since the start of the doze. Without one, the arrival is later than now."""
    gaps.rests(1.0, 1.1)
    gaps.interrupted(Poll(50.0))
    gaps.sent(1.05, datagram())
    gaps.rests(1.06, 1.2)
    gaps.interrupted(Poll(40.0, 1500, 1, ((20.0, 1500),)))
    gaps.sent(1.1, datagram())
    assert observed == [("idle", 1.05, inf), ("asked", 0.01, 0.05)]


def test_receiving_a_bare_ack_does_not_end_a_gap(gaps, observed):
    """The gap of the request continues."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, ack())
    gaps.rests(1.1, 1.2)
    gaps.received(1.2, request())
    assert observed == [("request", 0.1, 0.2)]
    assert gaps.idle.opened_s == 1.2


def test_a_fin_that_completes_the_last_reply_is_observed_as_a_gap_in_which_no_data_arrived(gaps, observed):
    """The next gap is idle."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, fin())
    assert observed == [("request", 0.1, inf)]
    assert gaps.idle.context == "idle"


def test_gaps_within_a_burst_are_not_observed(gaps, observed):
    """A gap without a rest of the radio is no observation."""
    gaps.sent(1.0, request())
    for number in range(3):
        gaps.received(1.1 + 0.0025 * number, request(size=1460))
    assert observed == []
    assert gaps.waiting[0].context == "received"


def test_a_sent_datagram_counts_as_an_outstanding_request_for_two_seconds(gaps, observed):
    """The reply ends the context of the datagram. A datagram received is no request."""
    gaps.sent(1.0, datagram())
    assert (gaps.asks(2.9), gaps.asks(3.1)) == (True, False)
    gaps.rests(1.0, 1.2)
    gaps.received(1.201, datagram())
    assert observed == [("asked", 0.0, 0.2)]
    assert not gaps.asks(1.3)


def test_a_frame_of_one_connection_does_not_end_the_gap_of_another_connection(gaps, observed):
    """The reply on connection 0 arrives 0.5 s after its request, whatever connection 1 does."""
    gaps.sent(1.0, request(0))
    gaps.sent(1.1, syn(1))
    gaps.rests(1.1, 1.2)
    gaps.received(1.203, syn(1))
    gaps.sent(1.204, ack(1))
    gaps.rests(1.21, 1.6)
    gaps.received(1.5, request(0, 100))
    assert observed == [("syn", 0.0, 0.1), ("request", 0.496, 0.5)]
    assert set(gaps.waiting) == {1}


def test_consecutive_frames_after_a_wake_up_are_taken_to_have_arrived_during_the_doze(gaps, observed):
    """Two frames arrived in the doze, also if the channel was busy; a third one 20 ms later just arrived."""
    for flow in range(3):
        gaps.sent(1.0, request(flow))
    gaps.rests(1.0, 1.1)
    gaps.received(1.109, request(0, 100))
    gaps.sent(1.109, ack(0))
    gaps.received(1.112, request(1, 100))
    gaps.received(1.132, request(2, 100))
    assert observed == [("request", 0.0, 0.1), ("request", 0.0, 0.1), ("request", 0.128, 0.132)]


def test_frames_buffered_at_an_interruption_are_taken_to_have_arrived_during_the_doze(gaps, observed):
    """A packet of connection 1 finds buffered frames of connection 0.

    An empty buffer means that no frame arrived.
    """
    gaps.sent(1.0, request(0))
    gaps.rests(1.0, 1.2)
    gaps.interrupted(Poll(50.0, 1500, 1, ((20.0, 1500),)))
    gaps.sent(1.05, request(1))
    gaps.received(1.053, request(0, 100))
    gaps.rests(1.06, 1.2)
    gaps.interrupted(Poll(40.0))
    gaps.sent(1.1, ack(1))
    gaps.received(1.102, request(1, 100))
    assert observed == [("request", 0.0, 0.05), ("request", 0.05, inf)]


def test_no_arrival_is_observed_before_the_fin_of_a_reply_that_ends_without_data(gaps, observed):
    """The FIN ends the request; the next gap is idle, and an unsolicited frame ends it."""
    gaps.sent(1.0, request(0))
    gaps.rests(1.0, 1.1)
    gaps.received(1.103, fin(0))
    assert observed == [("request", 0.103, inf)]
    assert (gaps.waiting, gaps.idle.context) == ({}, "idle")
    gaps.rests(1.2, 1.4)
    gaps.received(1.41, datagram())
    assert observed[1:] == [("idle", 0.097, 0.297)]


def learnt(rate):
    """Return a model trained on exponential waiting times with a rate."""
    law = WaitingTimeModel()
    for time_s in np.random.default_rng(1).exponential(1 / rate, 400):
        law.observe(max(0.0, time_s - 0.004), time_s)
    return law


def test_the_rate_of_the_first_frame_of_several_connections_is_the_sum_of_their_rates():
    """Connections with rates of 2 and 3 per second, opened at different times, equal one with rate 5."""
    laws = [(learnt(2.0).at, 9.9), (learnt(3.0).at, 9.5)]
    times_s = np.array([10.0, 10.1, 10.2, 10.4, 10.1])
    risen, area = first_event_model(laws, times_s)
    since_s = times_s - 10.0
    assert risen == pytest.approx(1 - np.exp(-5 * since_s), abs=0.08)
    assert area == pytest.approx(since_s - (1 - np.exp(-5 * since_s)) / 5, abs=0.02)
    still = np.prod([(1 - law(times_s - at)[0]) / (1 - law(times_s[:1] - at)[0]) for law, at in laws], axis=0)
    assert risen == pytest.approx(1 - still)


def test_the_model_of_a_single_gap_equals_the_conditional_distribution_of_that_gap():
    """The condition is that no frame has arrived yet. The integrals nearly agree, too."""
    law = learnt(2.0)
    times_s = np.linspace(10.0, 14.0, 30)
    risen, area = first_event_model([(law.at, 9.9)], times_s)
    own, integral = law.at(times_s - 9.9)
    assert risen == pytest.approx((own - own[0]) / (1 - own[0]))
    expected = (integral - integral[0] - own[0] * (times_s - 10.0)) / (1 - own[0])
    assert area == pytest.approx(expected, abs=2e-4)
