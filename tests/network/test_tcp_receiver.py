"""The receiving half of TCP."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from psm_sim.network.tcp_endpoint import Receiver


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)), st.randoms())))
def test_any_order_with_any_repeats_reassembles_the_stream(case):
    """Pieces of uneven length, shuffled and repeated, always add up to the whole."""
    count, order, random = case
    edges = [1]
    for _ in range(count):
        edges.append(edges[-1] + random.randint(1, 1460))
    receiver = Receiver(2)
    receiver.accept(0, 1, urgent=True)
    seen = set()
    for piece in [*order, *random.sample(list(order), count // 2)]:
        receiver.accept(edges[piece], edges[piece + 1], urgent=False)
        seen.add(piece)
        whole = next((i for i in range(count) if i not in seen), count)
        assert receiver.next == edges[whole]
    assert receiver.next == edges[-1]
