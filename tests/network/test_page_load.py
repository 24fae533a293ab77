"""Page loads with dependencies between objects, on HTTP/1.1 and HTTP/2."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.network import Observer, World
from psm_sim.network.page_load import DNS_BYTES, DNS_RETRY_S, TLS_BYTES
from psm_sim.network.segment import ConnectionId
from psm_sim.workload.page_view import PAGE_START, DependencyPage, Page, PageGraph, PageHost, Release
from tests.network.worlds import page_times_s, run_world

RTT_S = 0.040
NEAR = PageHost(RTT_S, 0.0, 0.0, secure=False)
FAST = {
    "links.wireless.latency_ms": 0.0,
    "links.wired.latency_ms": 1000 * RTT_S / 2,
    "links.wireless.rate_mbps": 1e5,
    "links.wired.rate_mbps": 1e5,
    "tcp.initial_window": 1000,
    "tcp.max_window": 1000,
    "browser.connections": 6,
}
"""Settings of a network in which only round trips take time."""


class Requests(Observer):
    """Record the time and content of each request of a station."""

    def __init__(self) -> None:
        self.connections: dict[ConnectionId, float] = {}
        self.datagrams: list[float] = []

    def frame(self, link, queued_s, arrives_s, segment) -> None:
        if link.name == "wireless up":
            if segment.connection.number >= 0:
                self.connections.setdefault(segment.connection, queued_s)
            else:
                self.datagrams.append(queued_s)


def page(*objects, hosts=(NEAR,), bytes_=1000, delay_s=0.0, recorded_s=1.0) -> DependencyPage:
    """Return a page of objects (host, multiplexed, depends_on, at_first_byte, gap_s)."""
    releases = tuple(Release(*release) for release in objects)
    count = len(releases)
    sizes = (bytes_,) * count if isinstance(bytes_, int) else tuple(bytes_)
    delays = (delay_s,) * count if isinstance(delay_s, float) else tuple(delay_s)
    return DependencyPage(
        0.0, sizes[0], sizes[1:], (300,) * count, delays, PageGraph(tuple(hosts), releases, recorded_s)
    )


def load(loaded: Page, keys=(), policy="always-on") -> tuple[float, World, Requests]:
    """Return the page time in seconds, the world, and the requests."""
    seen = Requests()
    world = run_world([loaded], policy, [seen], **FAST | dict(keys))
    return page_times_s(world)[0], world, seen


START = (0, False, PAGE_START, False, 0.0)


def test_a_page_with_a_dependency_takes_the_hand_computed_time():
    """The dependent object is requested on the same connection, a gap after the first object."""
    taken_s, _, seen = load(page(START, (0, False, 0, False, 0.25)))
    assert taken_s == pytest.approx(2 * RTT_S + 0.25 + RTT_S, abs=1e-5)
    assert len(seen.connections) == 1


def test_an_object_released_by_a_first_byte_does_not_wait_for_the_last_byte():
    """The first object takes 8 s at 1 Mbit/s; the second one is loaded at the same time."""
    keys = {"links.wired.rate_mbps": 1.0}
    first, sizes = (0, True, PAGE_START, False, 0.0), (1_000_000, 1000)
    late_s, early_s = (
        load(page(first, (0, True, 0, at_first_byte, 0.0), bytes_=sizes), keys)[0]
        for at_first_byte in (False, True)
    )
    assert late_s - early_s == pytest.approx(RTT_S, abs=0.01)


@pytest.mark.parametrize(("multiplexed", "connections", "rounds"), [(False, 6, 4), (True, 1, 2)])
def test_requests_that_http1_queues_are_sent_at_once_over_http2(multiplexed, connections, rounds):
    """18 objects need three turns on six connections after a handshake, or one turn on one connection."""
    taken_s, _, seen = load(page(*[(0, multiplexed, PAGE_START, False, 0.0)] * 18, delay_s=0.1))
    assert len(seen.connections) == connections
    turns = rounds - 1
    assert taken_s == pytest.approx(RTT_S + turns * (RTT_S + 0.1), abs=1e-3)


def test_each_host_has_its_own_connection_limit():
    """The limit is six."""
    _, _, seen = load(
        page(*[(host, False, PAGE_START, False, 0.0) for host in (0, 1) * 9], hosts=(NEAR, NEAR))
    )
    assert len(seen.connections) == 12


def test_fast_replies_overtake_slow_replies_over_http2():
    """The second object is complete, and releases the third, while the server works on the first."""
    releases = (0, True, PAGE_START, False, 0.0), (0, True, PAGE_START, False, 0.0), (0, True, 1, False, 0.0)
    taken_s, _, _ = load(page(*releases, delay_s=(1.0, 0.0, 0.0)))
    assert taken_s == pytest.approx(2 * RTT_S + 1.0, abs=1e-3)


def test_dns_and_tcp_and_tls_handshakes_are_sent_and_received_by_the_radio():
    """The DNS query, TCP and TLS take a round trip each, plus the recorded delays of the host."""
    secure = PageHost(RTT_S, 0.1, 0.06, secure=True)
    taken_s, world, seen = load(page(START, hosts=(secure,)))
    assert taken_s == pytest.approx(0.1 + RTT_S + 0.06 + RTT_S, abs=1e-3)
    assert len(seen.datagrams) == 1
    (connection,) = seen.connections
    assert [request.request_bytes for request in connection.requests] == [TLS_BYTES[0], 300]
    assert world.client.received_bytes > 1000 + TLS_BYTES[1] + DNS_BYTES[1]


def test_a_handshake_on_a_closed_connection_gets_no_reply():
    """The second connection is closed before the server's reply; later pages take as long as the first."""
    secure = PageHost(RTT_S, 0.0, 1.0, secure=True)
    loaded = page(START, (0, False, PAGE_START, False, 0.9), hosts=[secure])
    world = run_world([loaded] * 6, "always-on", **FAST)
    assert page_times_s(world) == pytest.approx([RTT_S + 1.0 + 2 * RTT_S] * 6, abs=1e-5)


def test_a_farther_host_responds_later_by_the_difference_in_round_trip_times():
    """Recorded times to the first byte are reproduced if the topology is no slower."""
    far = PageHost(RTT_S + 0.1, 0.0, 0.0, secure=False)
    taken_s, _, _ = load(page(START, (0, False, 0, False, 0.0), hosts=(far,), delay_s=0.02))
    assert taken_s == pytest.approx(3 * (RTT_S + 0.1) + 2 * 0.02, abs=1e-3)


def test_a_host_nearer_than_the_server_has_the_round_trip_of_the_server():
    """The longer round trip is subtracted from the delay of the host."""
    near = PageHost(0.01, 0.0, 0.0, secure=False)
    taken_s, _, _ = load(page(START, hosts=(near,), delay_s=0.05))
    assert taken_s == pytest.approx(RTT_S + 0.06, abs=1e-3)


def test_a_lost_dns_query_is_repeated_after_a_timeout():
    """The page is complete."""
    slow = PageHost(RTT_S, DNS_RETRY_S + 1, 0.0, secure=False)
    taken_s, _, seen = load(page(START, hosts=(slow,)))
    assert len(seen.datagrams) == 2
    assert taken_s == pytest.approx(DNS_RETRY_S + 1 + 2 * RTT_S, abs=1e-3)


@pytest.mark.parametrize(
    ("releases", "message"),
    [
        ([START, (0, False, 1, False, 0.0)], "depends_on of object 1 must be from -1 to 0, got 1"),
        ([START, (0, False, 2, False, 0.0), START], "depends_on of object 1 must be from -1 to 0, got 2"),
        ([(0, False, -2, False, 0.0)], "depends_on of object 0 must be from -1 to -1, got -2"),
        ([(1, False, -1, False, 0.0)], "host of object 0 must be from 0 to 0, got 1"),
        ([(0, False, -1, False, -1.0)], "gap_s must be a time"),
        ([(0, False, -1, False, float("nan"))], "gap_s must be a time"),
    ],
)
def test_an_invalid_dependency_is_an_error(releases, message):
    """Cycles, unknown objects and hosts, and negative gaps are invalid."""
    with pytest.raises(InputError, match=message):
        page(*releases)


@st.composite
def pages(draw: st.DrawFn) -> DependencyPage:
    """Generate a page of up to 30 objects on up to three hosts."""
    hosts = draw(
        st.lists(
            st.builds(
                PageHost,
                st.floats(0, 0.2),
                st.sampled_from([0.0, 0.02, 0.3]),
                st.floats(0, 0.2),
                st.booleans(),
            ),
            min_size=1,
            max_size=3,
        )
    )
    count = draw(st.integers(1, 30))
    releases = [
        (
            draw(st.integers(0, len(hosts) - 1)),
            draw(st.booleans()),
            anchor := draw(st.integers(-1, index - 1)),
            anchor >= 0 and draw(st.booleans()),
            draw(st.sampled_from([0.0, 0.001, 0.3])),
        )
        for index in range(count)
    ]
    sizes = draw(st.lists(st.integers(1, 40_000), min_size=count, max_size=count))
    delays = draw(st.lists(st.sampled_from([0.0, 0.05, 0.4]), min_size=count, max_size=count))
    return page(*releases, hosts=hosts, bytes_=sizes, delay_s=delays)


@settings(max_examples=60, deadline=None)
@given(pages(), st.sampled_from(["always-on", "psm", "lpsm", "anticipate"]))
def test_each_object_of_any_page_is_loaded_once_and_energy_is_power_times_time(loaded, policy):
    """The bytes of each object are delivered once, not before its chain of gaps and delays has passed."""
    world = run_world([loaded, loaded], policy, [seen := Requests()], browser__connections=6)
    for visit, _ in world.visits:
        assert not visit.failure
    replies = [reply for connection in seen.connections for reply in connection.replies]
    expected = sorted((index, size) for index, size in enumerate((loaded.main_bytes, *loaded.image_bytes)))
    assert sorted((r.object_index, r.reply_bytes) for r in replies if r.object_index >= 0) == sorted(
        expected * 2
    )
    usage, power = world.usage(), world.topology.power
    assert usage.awake_s + usage.asleep_s == pytest.approx(world.env.now)
    assert usage.awake_j == pytest.approx(power.awake_w * usage.awake_s)
    pools = {(r.host, r.multiplexed) for r in loaded.graph.releases}
    most = sum(1 if multiplexed else 6 for _, multiplexed in pools)
    assert len(seen.connections) <= 2 * most


@settings(max_examples=30, deadline=None)
@given(pages())
def test_no_object_is_requested_before_the_object_that_releases_it(loaded):
    """The gap after that object passes first, too; page times therefore depend on the network."""
    taken_s, _, _ = load(loaded)
    slower_s, _, _ = load(loaded, {"links.wired.latency_ms": 400.0})
    done_s: list[float] = []
    for release in loaded.graph.releases:
        begun_s = release.gap_s + (done_s[release.depends_on] if release.depends_on >= 0 else 0.0)
        done_s.append(begun_s + RTT_S)
    assert taken_s >= max(done_s) - 1e-6
    assert slower_s > taken_s


@pytest.mark.parametrize(
    "keys",
    [
        {"faults.wireless.loss": 0.05},
        {"mac.model": "dcf"},
        {"browser.max_page_s": 0.3},
        {"browser.persistent": False},
    ],
)
def test_pages_with_dependencies_complete_with_every_part_enabled(keys):
    """A page is complete or reported as failed, with losses, a shared channel or time limits."""
    secure = PageHost(RTT_S, 0.05, 0.06, secure=True)
    chain = [(0, number % 2 == 0, number - 1, False, 0.01) for number in range(1, 12)]
    loaded = page(START, *chain, hosts=(secure,), bytes_=20_000)
    world = run_world([loaded] * 4, **keys)
    assert len(world.visits) == 4
    complete = [not visit.failure for visit, _ in world.visits]
    assert complete == ["browser.max_page_s" not in keys] * 4
