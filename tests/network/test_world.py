"""Whole simulations: laws for every policy, and hand-computed pages."""

from __future__ import annotations

from math import inf

import pytest

from psm_sim.network import Observer, World, run_alone
from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.worlds import make_world, page_times_s, run_world

POLICIES = [
    "always-on",
    "psm",
    "psm:listen_interval=4",
    "bsd:p=1",
    "bsd:p=0.5",
    "bsd:p=0.1",
    "bsd:p=0.3,max_sleep_ms=none",
    "bsd:p=0.5,max_sleep_ms=70",
    "lpsm:loss=inverse-log",
    "lpsm:loss=inverse,uplink=keep",
    "lpsm:uplink=restart,learn_on_uplink=true",
    "lpsm:alpha=0",
]


def run_with_every_beacon(pages, policy, **settings) -> World:
    """Return a world after its run with an event for every beacon."""
    world = make_world(policy, **settings)
    schedule_every_beacon(world)
    run_alone(world, pages)
    return world


@pytest.fixture(scope="module")
def pages():
    return load_workload("ucb", 40, 5).pages


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("release", ["true", "false"])
def test_an_event_per_beacon_changes_no_bit_of_the_result(policy, release, pages):
    """Energy, page times and decisions are equal; only the number of events grows."""
    settings_ = {"access_point.release_on_uplink": release}
    lazy = run_world(pages[:8], policy, **settings_)
    full = run_with_every_beacon(pages[:8], policy, **settings_)
    assert full.usage() == lazy.usage()
    assert list(full.visits) == list(lazy.visits)
    assert full.events > lazy.events + 9 * lazy.env.now


def test_a_hundred_pages_of_psm_fire_a_known_number_of_events():
    """The number stands for speed and determinism.

    Update it when a change costs or saves events. One event delivers consecutive arrivals of a link. One
    event per arrival would be 7472 events.
    """
    assert run_world(load_workload("ucb:server_delay_ms=none", 100, 1).pages, "psm").events == 3988


def test_an_idle_station_costs_no_events():
    """A think time of an hour fires as many events as one of a minute."""
    page = (1000, (), (300,), (0.0,))
    short, long = (run_world([Page(think_s, *page)], "psm") for think_s in (60.0, 3600.0))
    assert short.events == long.events
    assert long.usage().beacons > short.usage().beacons + 35_000


def test_static_psm_matches_a_hand_computed_page():
    """The page is one object of one segment, requested 50 ms after a beacon.

    The SYN-ACK is back at 91 ms and waits for the beacon at 100 ms. The request leaves then, and its reply is
    back at 141 ms and waits for 200 ms. Its 1040 bytes take 1.664 ms and 0.1 ms.
    """
    world = run_world([Page(0.05, 1000, (), (300,), (0.0,))], "psm")
    visit, usage = world.visits[0]
    assert visit.ended_s == pytest.approx(0.2 + 1040 * 8 / 5e6 + 0.0001)
    assert usage.beacons == 2
    syn, ack, request = (size * 8 / 5e6 for size in (40, 40, 340))
    first_wake = 40 * 8 / 5e6 + 0.0001 + ack + request
    second_wake = 1040 * 8 / 5e6 + 0.0001
    assert usage.awake_s == pytest.approx(syn + first_wake + second_wake)


def test_without_power_saving_a_page_takes_the_hand_computed_time():
    """Handshake, request and reply of one segment take two round trips and the transmission times."""
    world = run_world([Page(0.05, 1000, (), (300,), (0.0,))], "always-on")
    bits = {"slow": 8 / 5e6, "fast": 8 / 10e6}
    there_and_back = 4 * 0.0201
    handshake = (40 + 40) * (bits["slow"] + bits["fast"])
    request = 40 * bits["slow"] + 340 * (bits["slow"] + bits["fast"])
    reply = 1040 * (bits["slow"] + bits["fast"])
    assert page_times_s(world) == pytest.approx([there_and_back + handshake + request + reply])


class Connections(Observer):
    """Count open connections, from the SYN of the browser until the FIN of the server arrives."""

    def __init__(self):
        self.until_s, self.most = {}, 0

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name == "wireless up" and segment.syn:
            self.until_s[segment.connection] = inf
            self.most = max(self.most, sum(until_s > queued_s for until_s in self.until_s.values()))
        elif link.name == "wireless down" and segment.fin:
            self.until_s[segment.connection] = arrives_s


def test_at_most_four_connections_are_open_at_once():
    """Nine images over four connections, one object per connection, need ten handshakes."""
    page = Page(1.0, 2000, (3000,) * 9, (300,) * 10, (0.0,) * 10)
    connections = Connections()
    run_world([page], "always-on", [connections])
    assert (len(connections.until_s), connections.most) == (10, 4)
