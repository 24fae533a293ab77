"""Gaps: the intervals and contexts that a waiting law learns from."""

from __future__ import annotations

from math import inf

import pytest

from psm_sim.policies import Poll
from psm_sim.policies.helpers.frame_gaps import FrameGaps
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
        OutstandingRequests(), 10.0, lambda context, a, b: told.append((context, round(a, 6), round(b, 6)))
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


def test_its_own_packet_says_that_nothing_had_come_or_that_it_came_during_the_doze(gaps, told):
    """Nothing held: not before now; frames held: since the doze began; an interruption counts once."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.interrupted(Poll(50.0))
    gaps.sent(1.05, ack())
    gaps.rests(1.06, 1.2)
    gaps.interrupted(Poll(40.0, 1500, 1, ((20.0, 1500),)))
    gaps.sent(1.1, ack())
    assert told == [("request", 0.05, inf), ("ack", 0.01, 0.05)]


def test_a_bare_ack_received_changes_nothing(gaps, told):
    """Nobody waits for it: the gap of the request goes on."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, ack())
    gaps.rests(1.1, 1.2)
    gaps.received(1.2, request())
    assert told == [("request", 0.1, 0.2)]
    assert gaps.opened_s == 1.2


def test_a_fin_that_completes_the_last_reply_says_that_no_data_had_come(gaps, told):
    """And what follows is idle."""
    gaps.sent(1.0, request())
    gaps.rests(1.0, 1.1)
    gaps.received(1.1, fin())
    assert told == [("request", 0.1, inf)]
    assert gaps.context == "idle"


def test_frames_of_one_burst_are_no_waiting(gaps, told):
    """A gap in which the radio was not asked to rest is not learnt from."""
    gaps.sent(1.0, request())
    for number in range(3):
        gaps.received(1.1 + 0.0025 * number, request(size=1460))
    assert told == []
    assert gaps.context == "received"


@pytest.mark.parametrize(("pause_s", "context"), [(9.0, "idle-busy"), (11.0, "idle")])
def test_idle_is_busy_after_two_useful_frames_close_together(gaps, pause_s, context):
    """Closer than split_s."""
    gaps.received(5.0, datagram())
    gaps.received(5.0 + pause_s, datagram())
    assert gaps.context == context
