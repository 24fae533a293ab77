"""Static PSM and its listen interval."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.policies import Rest, make_policy
from psm_sim.policies.psm import Psm
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.radio_bench import RadioBench
from tests.network.worlds import page_times_s, run_world


@pytest.mark.parametrize(
    ("now_s", "rest"),
    [
        (0.0, Rest(beacons=5, repeat=True)),
        (0.05, Rest(beacons=5, repeat=True)),
        (0.12, Rest(beacons=4)),
        (0.49, Rest(beacons=1)),
        (0.5, Rest(beacons=5, repeat=True)),
        (1.25, Rest(beacons=3)),
    ],
)
def test_received_beacons_have_numbers_divisible_by_the_listen_interval(now_s, rest):
    """Interval 5 with beacons 100 ms apart: 0.5 s, 1.0 s, 1.5 s, whenever the doze begins."""
    policy = make_policy("psm:listen_interval=5")
    policy.start(0.1)
    assert policy.rest(now_s, 0.0, None) == rest


def test_static_psm_with_a_listen_interval_of_one_always_dozes_until_the_next_beacon():
    """Static PSM of the thesis receives the next beacon and all later ones."""
    policy = make_policy("psm")
    policy.start(0.1)
    assert {policy.rest(time / 7, 0.0, None) for time in range(99)} == {Rest(beacons=1, repeat=True)}


def test_a_listen_interval_out_of_range_is_an_error():
    """The Python constructor raises the error, too."""
    with pytest.raises(InputError, match=r"^policy psm: listen_interval must be an integer >= 1 .*, got 0"):
        Psm(listen_interval=0)


@pytest.mark.parametrize("release", [True, False])
def test_uplink_packets_do_not_move_the_planned_beacons(release):
    """The station receives each third beacon, in spite of packets at 0.22 s and 0.75 s."""
    bench = RadioBench(make_policy("psm:listen_interval=3"), release_on_uplink=release)
    bench.send_at(0.22)
    bench.send_at(0.75)
    assert bench.run(1.6) == [0.3, 0.6, 0.9, 1.2, 1.5]


@pytest.mark.parametrize("release", [True, False])
def test_an_uplink_packet_restarts_a_listen_interval_counted_from_the_doze(release):
    """The station receives each third beacon after the packets at 0.22 s and 0.75 s."""
    bench = RadioBench(make_policy("psm:listen_interval=3,counted_from=doze"), release_on_uplink=release)
    bench.send_at(0.22)
    bench.send_at(0.75)
    assert bench.run(1.6) == [0.5, 1.0, 1.3]


@pytest.mark.parametrize("release", ["true", "false"])
@pytest.mark.parametrize("beacons", [300, 600, 1000])
def test_pages_complete_even_with_a_long_listen_interval(beacons, release):
    """SYN-ACK, reply and remaining segments wait for at most one interval each."""
    pages = [Page(1.0, 1000, (), (300,), (0.0,)), *load_workload("ucb", 3, 1).pages]
    world = run_world(pages, f"psm:listen_interval={beacons}", access_point__release_on_uplink=release)
    times_s = page_times_s(world)
    assert len(times_s) == 4
    assert times_s[0] < 3 * beacons * 0.1
