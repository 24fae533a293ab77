"""Flows that wait for a reply."""

from __future__ import annotations

import pytest

from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests
from tests.policies.frames import ack, fin, request, syn


@pytest.mark.parametrize(
    ("received", "waits"),
    [(syn(), 1), (request(size=1460), 1), (request(size=1459), 0), (fin(), 0), (ack(), 1), (fin(1), 1)],
)
def test_a_flow_waits_until_a_fin_or_a_partly_filled_segment_is_received(received, waits):
    """A SYN-ACK, a full segment, a bare ACK or the FIN of another flow does not end the wait."""
    flows = OutstandingRequests()
    flows.sent(syn())
    flows.sent(request())
    flows.received(received)
    assert flows.waiting == waits


@pytest.mark.parametrize(
    ("sizes", "payload", "waits"),
    [
        ((1460, 1448), 1448, 1),
        ((1448, 1460), 1448, 1),
        ((536, 536), 535, 0),
        ((1460, 0), 1460, 1),
        ((0, 1460), 1459, 0),
    ],
)
def test_the_size_of_a_full_segment_is_the_smaller_of_the_sizes_in_the_two_syns(sizes, payload, waits):
    """The SYNs are those of the station and of the peer; one alone is enough."""
    flows = OutstandingRequests()
    ours, theirs = sizes
    flows.sent(syn(mss=ours))
    flows.received(syn(mss=theirs))
    flows.sent(request())
    flows.received(request(size=payload))
    assert flows.waiting == waits


@pytest.mark.parametrize(
    ("payloads", "waits"),
    [
        ((1459,), 0), ((1460,), 1), ((1420, 1420), 1), ((1420, 1420, 1420, 1419), 0),
        ((1420, 300, 300), 0), ((300, 300, 300), 0), ((1420, 1400), 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mss", [0, 1460])
def test_two_payloads_of_equal_size_reveal_that_segments_are_smaller_than_the_syn_states(
    mss, payloads, waits
):
    """The size is at least 536 B. The SYN is unknown, or states more than the peer uses."""
    flows = OutstandingRequests()
    flows.sent(syn(mss=mss))
    flows.sent(request())
    for payload in payloads:
        flows.received(request(size=payload))
    assert flows.waiting == waits


def test_a_payload_of_equal_size_after_another_request_ends_the_wait():
    """Only data without another request continue the reply; unsolicited data do not."""
    flows = OutstandingRequests()
    for _ in range(3):
        flows.sent(request())
        flows.received(request(size=1000))
    assert flows.waiting == 0
    flows = OutstandingRequests()
    for _ in range(3):
        flows.received(request(size=1000))
    assert flows.waiting == 0


def test_a_closed_connection_leaves_no_state():
    """Request and size are forgotten, because the number of the connection may be reused."""
    flows = OutstandingRequests()
    flows.sent(syn(mss=600))
    flows.received(fin())
    flows.sent(syn(mss=1000))
    flows.received(request(size=999))
    assert flows.waiting == 0


def test_sending_a_fin_ends_the_wait_and_the_next_request_begins_a_new_wait():
    """Other flows do not matter."""
    flows = OutstandingRequests()
    for flow in range(3):
        flows.sent(syn(flow))
    assert flows.waiting == 3
    flows.sent(fin(1))
    flows.received(fin(2))
    assert flows.waiting == 1
    flows.sent(request(2))
    assert flows.waiting == 2
