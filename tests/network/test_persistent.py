"""Pages over persistent connections, computed by hand."""

from __future__ import annotations

import pytest

from psm_sim.network import Observer
from psm_sim.workload.page_view import Page
from tests.network.worlds import page_times_s, run_world

SLOW, FAST = 8 / 5e6, 8 / 10e6  # seconds a byte, on the wireless and on the wired hop
WAY_S = 0.0001 + 0.02


class Segments(Observer):
    """Record direction, bytes of data and FIN of each segment on the wireless link."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int, bool]] = []

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name.startswith("wireless") and not segment.syn:
            self.sent.append((link.name.split()[1], segment.payload, segment.fin))


class Uplink(Observer):
    """Record the SYNs and the bytes sent on the wireless uplink."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name == "wireless up":
            self.sent.append("SYN" if segment.syn else segment.payload)


def load(page, *observers, **settings):
    """Load one page without power saving, each segment acknowledged; return its time in seconds."""
    keys = {"browser.persistent": True, "tcp.delayed_ack_ms": 0, **settings}
    return page_times_s(run_world([page], "always-on", observers, **keys))[0]


@pytest.mark.parametrize("growth", ["ns2", "rfc5681", "ns3"])
def test_a_page_of_two_objects_takes_the_hand_computed_time(growth):
    """A main object of 1000 B and an image of 3 x 1460 B use one persistent connection.

    The main object takes a handshake, request and reply, as on its own connection. The second request
    acknowledges its 1000 B. By the rule of ns-2 the window is then 3 segments, so the image leaves at once,
    and its segments follow each other on the slow hop. By RFC 5681 the window is 2 x 1460 + 1000 B, so the
    third segment waits for the ACK of the first. By the rule of ns-3 the window is still 2 x 1460 B, with the
    same effect.
    """
    page = Page(1.0, 1000, (4380,), (300, 300), (0.0, 0.0))
    handshake = 2 * (40 * (SLOW + FAST) + WAY_S) + 40 * SLOW
    main = 340 * (SLOW + FAST) + 1040 * (SLOW + FAST) + 2 * WAY_S
    request = 340 * (SLOW + FAST) + WAY_S
    segment = 1500 * FAST + WAY_S + 1500 * SLOW
    ack = 40 * (SLOW + FAST) + WAY_S
    image = segment + 2 * 1500 * SLOW if growth == "ns2" else segment + ack + segment
    total = handshake + main + request + image
    assert load(page, **{"browser.connections": 1, "tcp.growth": growth}) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(
    ("asks_first", "order"), [("true", [301, "SYN", "SYN"]), ("false", ["SYN", "SYN", 301])]
)
def test_requests_and_syns_are_sent_in_the_configured_order(asks_first, order):
    """Three images use three connections: the first image uses that of the main object."""
    uplink = Uplink()
    page = Page(1.0, 1000, (500, 500, 500), (300, 301, 302, 303), (0.0,) * 4)
    load(page, uplink, **{"browser.asks_first": asks_first, "browser.connections": 3})
    main = uplink.sent.index(300)
    assert [size for size in uplink.sent[main + 1 :] if size][:3] == order


@pytest.mark.parametrize(
    ("closes_first", "delay_ms", "after_reply"),
    [
        ("server", 200, [("up", 0, False), ("up", 0, True), ("up", 0, False), ("down", 0, False)]),
        ("client", 200, [("up", 0, True), ("down", 0, True), ("down", 0, False), ("up", 0, False)]),
        ("client", 10, [("up", 0, True), ("up", 0, False), ("down", 0, True), ("down", 0, False)]),
    ],
)
def test_the_configured_host_closes_first_if_a_connection_carries_one_object(
    closes_first, delay_ms, after_reply
):
    """The rules are those of ns-3, checked there.

    The reply to a FIN with data is an ACK, a FIN and an ACK, and to one without data a FIN and an ACK. The
    FIN with which the client answers the end of the object does not replace the delayed ACK.
    """
    segments, page = Segments(), Page(1.0, 500, (), (300,), (0.0,))
    keys = {"browser.closes_first": closes_first, "tcp.stack": "ns3", "tcp.delayed_ack_ms": delay_ms}
    run_world([page, page], "always-on", [segments], **keys)
    reply = next(number for number, segment in enumerate(segments.sent) if segment[1] == 500)
    assert segments.sent[reply][2] == (closes_first == "server")
    assert segments.sent[reply + 1 : reply + 5] == after_reply
