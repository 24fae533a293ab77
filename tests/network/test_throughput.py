"""Throughput of a long download: the link rate, or a window per round trip."""

from __future__ import annotations

import pytest

from psm_sim.workload.page_view import Page
from tests.network.worlds import page_times_s, run_world

LATENCIES_MS = (1.0, 5.0, 20.0, 80.0)
WINDOWS = (1, 4, 12, 40, 120)


def seconds(size, **settings):
    """Return the time of a download without power saving, in seconds."""
    page = Page(1.0, size, (), (300,), (0.0,))
    world = run_world([page], "always-on", access_point__buffer_frames=10_000, **settings)
    assert world.server.retransmissions == 0
    return page_times_s(world)[0]


def mbps(segments, **settings):
    """Return the payload throughput of the second half of a download of 2 * *segments* segments."""
    size = 1460 * segments
    return 8e-6 * size / (seconds(2 * size, **settings) - seconds(size, **settings))


@pytest.mark.parametrize("latency_ms", LATENCIES_MS)
@pytest.mark.parametrize("window", WINDOWS)
def test_throughput_is_the_minimum_of_link_rate_and_window_per_round_trip(window, latency_ms):
    """The tolerance is 2 %. A full frame takes 2.4 ms and 1.2 ms, and an ACK 0.064 ms and 0.032 ms."""
    settings = {"tcp.max_window": window, "tcp.delayed_ack_ms": 0.0, "links.wired.latency_ms": latency_ms}
    round_trip_ms = 2 * (latency_ms + 0.1) + 2.4 + 1.2 + 0.064 + 0.032
    expected = min(5.0 * 1460 / 1500, window * 1460 * 8e-3 / round_trip_ms)
    assert mbps(400, **settings) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("latency_ms", LATENCIES_MS)
def test_single_segments_on_the_channel_take_the_times_of_the_standard(latency_ms):
    """Without contention no backoff is left to count.

    A segment takes half a slot of 20 us, data of 1311 us, SIFS of 10 us, ACK of 248 us, AIFS of 70 us, and an
    ACK of TCP of 249 us. The wired hop takes 1.2 ms and 0.032 ms.
    """
    settings = {"mac.model": "dcf", "tcp.max_window": 1, "tcp.delayed_ack_ms": 0.0}
    settings |= {"links.wired.latency_ms": latency_ms, "beacon.interval_ms": 10_000}
    air_ms = 0.010 + 1.311 + 0.010 + 0.248 + 0.070 + 0.249
    expected = 1460 * 8e-3 / (2 * latency_ms + 1.2 + 0.032 + air_ms)
    assert mbps(100, **settings) == pytest.approx(expected, rel=0.01)
