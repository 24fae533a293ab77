"""Frames that arrive during the last frame of a poll, which has More Data = 0."""

from __future__ import annotations

import pytest

from psm_sim.policies import Policy, Rest, make_policy
from tests.network.radio_bench import RadioBench


class Lingering(Policy):
    """Stay awake for 50 ms after each poll."""

    name = "lingering"

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(awake_s=0.05 if poll and poll.buffered_frames else 0.0)


def polled(late_frames, *arrivals_s, policy=None, release=True):
    """Return a bench at 1 Mbit/s: a frame of 1500 B takes 12 ms; buffered frames are sent from 0.1 s on."""
    rules = {"release_on_uplink": release, "late_frames": late_frames}
    bench = RadioBench(policy or make_policy("psm"), rate_mbps=1.0, **rules)
    for arrival_s in arrivals_s:
        bench.arrive_at(arrival_s)
    return bench


@pytest.mark.parametrize(
    ("late_frames", "arrivals_s", "delivered_s"),
    [
        ("join", (0.05, 0.105), [0.112, 0.124]),
        ("wait", (0.05, 0.105), [0.112, 0.212]),
        ("wait", (0.05, 0.06, 0.105), [0.112, 0.124, 0.136]),
        ("wait", (0.05, 0.06, 0.115), [0.112, 0.124, 0.212]),
        ("join", (0.05, 0.06, 0.115), [0.112, 0.124, 0.136]),
    ],
)
def test_a_frame_that_arrives_after_more_data_0_joins_the_poll_or_waits_for_a_beacon(
    late_frames, arrivals_s, delivered_s
):
    """The frame arrives during the last buffered frame.

    More Data is 1 while one frame waits behind another.
    """
    bench = polled(late_frames, *arrivals_s)
    assert bench.run(0.35) == [0.1, 0.2, 0.3]
    assert bench.delivered == pytest.approx(delivered_s)


def test_an_awake_station_receives_the_late_frame_when_its_link_is_idle():
    """The station reports PM = 0 to the access point at 0.112 s."""
    bench = polled("wait", 0.05, 0.105, policy=Lingering())
    bench.run(0.35)
    assert bench.delivered == pytest.approx([0.112, 0.124])


@pytest.mark.parametrize(("release", "delivered_s"), [(True, 0.132), (False, 0.212)])
def test_an_uplink_packet_retrieves_the_late_frame_with_release_on_uplink(release, delivered_s):
    """The packet is sent at 0.12 s, in a doze, or at 0.108 s, during the first frame."""
    bench = polled("wait", 0.05, 0.105, release=release)
    bench.send_at(0.12)
    bench.run(0.35)
    assert bench.delivered == pytest.approx([0.112, delivered_s])
    early = polled("wait", 0.05, 0.105, release=release)
    early.send_at(0.108)
    early.run(0.35)
    assert early.delivered == pytest.approx([0.112, 0.124 if release else 0.212])
