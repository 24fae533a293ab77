"""Flows: which of them wait for a reply."""

from __future__ import annotations

import pytest

from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful, longest_doze
from tests.policies.frames import ack, datagram, fin, request, syn


@pytest.mark.parametrize(
    ("received", "waits"),
    [(syn(), 1), (request(size=1460), 1), (request(size=1459), 0), (fin(), 0), (ack(), 1), (fin(1), 1)],
)
def test_a_flow_waits_until_a_fin_or_less_than_a_full_segment_is_received(received, waits):
    """A SYN back, a full segment, a bare ACK or the FIN of another flow does not end it."""
    flows = OutstandingRequests()
    flows.sent(syn())
    flows.sent(request())
    flows.received(received)
    assert flows.waiting == waits


def test_a_fin_sent_ends_it_and_a_further_request_begins_it_anew():
    """Each flow for itself."""
    flows = OutstandingRequests()
    for flow in range(3):
        flows.sent(syn(flow))
    assert flows.waiting == 3
    flows.sent(fin(1))
    flows.received(fin(2))
    assert flows.waiting == 1
    flows.sent(request(2))
    assert flows.waiting == 2


def test_datagrams_and_bare_acks_make_nothing_wait():
    """Neither received nor sent."""
    flows = OutstandingRequests()
    for frame in (datagram(), ack()):
        flows.received(frame)
        flows.sent(frame)
    assert flows.waiting == 0


def test_useful_is_what_somebody_waits_for():
    """A payload or a SYN."""
    assert [is_useful(frame) for frame in (syn(), request(), fin(0, 5), datagram())] == [True] * 4
    assert [is_useful(frame) for frame in (ack(), fin())] == [False] * 2


@pytest.mark.parametrize(("max_ms", "beacon_s", "beacons"), [(1200, 0.1, 12), (1199, 0.1, 11), (50, 0.1, 1)])
def test_the_longest_doze_in_beacons(max_ms, beacon_s, beacons):
    """Rounded down, and never less than one."""
    assert longest_doze(max_ms, beacon_s) == beacons
