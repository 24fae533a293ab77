"""The receiving half of TCP."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from psm_sim.network.tcp_receiver import AckDue, Receiver


def acknowledge(receiver: Receiver) -> int:
    """Return the number to acknowledge, as if an ACK was sent."""
    receiver.unacknowledged, receiver.due = 0, AckDue.NO
    return receiver.next


def open_receiver(delayed: bool = True) -> Receiver:
    receiver = Receiver(2 if delayed else 1)
    receiver.accept(0, 1, urgent=True)
    acknowledge(receiver)
    return receiver


def test_every_second_segment_is_acknowledged_at_once():
    """RFC 5681, section 4.2."""
    receiver = open_receiver()
    receiver.accept(1, 1461, urgent=False)
    assert receiver.due is AckDue.LATER
    receiver.accept(1461, 2921, urgent=False)
    assert receiver.due is AckDue.NOW
    assert acknowledge(receiver) == 2921


def test_without_delay_each_segment_is_acknowledged_at_once():
    """``delayed_ack_ms = 0``."""
    receiver = open_receiver(delayed=False)
    receiver.accept(1, 1461, urgent=False)
    assert receiver.due is AckDue.NOW


def test_a_gap_is_reported_at_once_and_so_is_its_filling():
    """Duplicate acknowledgements let the sender retransmit fast."""
    receiver = open_receiver()
    receiver.accept(101, 201, urgent=False)
    assert (receiver.due, acknowledge(receiver)) == (AckDue.NOW, 1)
    receiver.accept(1, 101, urgent=False)
    assert (receiver.due, acknowledge(receiver)) == (AckDue.NOW, 201)


def test_what_came_before_is_acknowledged_again():
    """A retransmission that was not needed tells that an ACK was lost."""
    receiver = open_receiver()
    receiver.accept(1, 101, urgent=False)
    acknowledge(receiver)
    receiver.accept(1, 101, urgent=False)
    assert (receiver.due, acknowledge(receiver)) == (AckDue.NOW, 101)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)), st.randoms())))
def test_any_order_with_any_repeats_reassembles_the_stream(case):
    """Pieces of uneven length, shuffled and repeated, always add up to the whole."""
    count, order, random = case
    edges = [1]
    for _ in range(count):
        edges.append(edges[-1] + random.randint(1, 1460))
    receiver = open_receiver()
    seen = set()
    for piece in [*order, *random.sample(list(order), count // 2)]:
        receiver.accept(edges[piece], edges[piece + 1], urgent=False)
        seen.add(piece)
        whole = next((i for i in range(count) if i not in seen), count)
        assert receiver.next == edges[whole]
    assert receiver.next == edges[-1]
