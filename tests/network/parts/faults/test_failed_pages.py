"""Failed pages: reasons, reset connections, and the pages that follow."""

from __future__ import annotations

import pytest

from psm_sim.network import PageError, run_alone
from psm_sim.network.segment import ResetSegment
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.faults.common import Frames, loaded
from tests.network.worlds import Sleeper, make_world, page_times_s

QUICK = Page(1.0, 1000, (), (300,), (0.0,))
SLOW = Page(1.0, 1000, (2000,), (300, 300), (0.0, 50.0))
"""Page whose image takes the server 50 s."""


@pytest.mark.parametrize("persistent", [True, False])
def test_a_page_fails_exactly_at_its_time_limit(persistent):
    """The next page, requested after its think time, is complete."""
    reason = "it has taken longer than 7.5 s"
    world = loaded({"browser.max_page_s": 7.5, "browser.persistent": persistent}, [QUICK, SLOW, QUICK])
    (first, _), (failed, _), (last, _) = world.visits
    assert (first.failure, failed.failure, last.failure) == ("", reason, "")
    assert failed.ended_s - failed.started_s == pytest.approx(7.5)
    assert last.started_s == pytest.approx(failed.ended_s + 1.0)
    assert last.ended_s - last.started_s < 1.0
    assert world.visits.failures == {1: reason}
    balance(world)


REPORTED = {"browser.max_page_s": 1e6}
"""Settings with which a failed page does not end the run."""


def test_a_page_without_progress_fails_after_exactly_one_hour():
    """The hour begins at the last new byte of the page, here of the main object."""
    slow = Page(1.0, 1000, (2000,), (300, 300), (0.0, 4000.0))
    (failed, _), (last, _) = loaded(REPORTED, [slow, QUICK]).visits
    assert failed.failure == "no new byte of it has come for 3600 s"
    assert 3600.0 < failed.ended_s - failed.started_s < 3600.5
    assert not last.failure


def test_a_slow_page_that_makes_progress_does_not_fail():
    """Images arrive one after the other, each after 3,000 s."""
    page = Page(1.0, 1000, (2000,) * 4, (300,) * 5, (3000.0,) * 5)
    world = loaded({**REPORTED, "browser.connections": 1}, [page])
    assert not world.visits.failures
    assert world.env.now > 15_000


def test_the_connections_of_a_failed_page_are_reset():
    """Two images in transit get RSTs; the server, ready after 50 s, sends no reply."""
    seen = Frames()
    page = Page(1.0, 1000, (2000, 2000), (300,) * 3, (0.0, 50.0, 50.0))
    world = loaded({"browser.max_page_s": 5}, [page, Page(100.0, 1, (), (300,), (0.0,))], observers=[seen])
    resets = [name for name, _, segment in seen.queued if isinstance(segment, ResetSegment)]
    assert resets == ["wireless up", "wireless up", "wired up", "wired up"]
    assert len(world.server.endpoints) == 1
    assert not any(40 < arrives_s < 90 for _, arrives_s, _ in seen.queued)
    balance(world)


def test_the_client_repeats_a_lost_reset_when_the_server_sends_more_data():
    """The two segments of the image arrive at a station without such a connection."""
    seen = Frames()
    gone: list[object] = []
    world = make_world(observers=[seen], browser__max_page_s=5, faults__wired__loss=1e-12)
    deliver = world.wired_up.deliver

    def lossy(segment):
        if segment.rst and not gone:
            gone.append(segment)
        else:
            deliver(segment)

    world.wired_up.deliver = lossy
    run_alone(world, [SLOW, Page(100.0, 1, (), (300,), (0.0,))])
    resets = [arrives_s for name, arrives_s, segment in seen.queued if segment.rst and name == "wireless up"]
    assert resets == pytest.approx([6.0, 51.4, 51.4], abs=0.1)
    assert len(world.server.endpoints) == 1


def test_giving_up_a_connection_fails_only_the_page_of_that_connection():
    """The server gives up the reply after 924.6 s; the next page has its own connections."""
    late = Page(1.0, 1000, (), (300,), (50.0,))
    world = loaded(REPORTED, [late, late], Sleeper())
    reasons = list(world.visits.failures.values())
    assert len(reasons) == 2
    assert all(reason.startswith("the server has given a connection up") for reason in reasons)
    assert page_times_s(world) == pytest.approx([50 + 970] * 2, abs=60)


def test_a_failed_page_ends_the_run_if_no_faults_are_configured():
    with pytest.raises(PageError, match="Page 1 under psm cannot be loaded: no new byte"):
        loaded({}, [Page(1.0, 1000, (), (300,), (4000.0,))])


def test_a_persistent_connection_is_reopened_after_tcp_has_given_up():
    """Messages during the outage are counted as lost; later messages arrive."""
    messages = Messages([Message(10.0 + 100.0 * k, 50, True, 40, 0.0, 0) for k in range(40)])
    world = make_world(faults__wired__loss=1e-12)
    forward = world.wired_down.deliver

    def lossy(segment):
        if not 1050 < world.env.now < 2250:
            forward(segment)

    world.wired_down.deliver = lossy
    run_alone(world, [QUICK, Page(4100.0, 1000, (), (300,), (0.0,))], messages)
    lane = world.messenger.stats["round_trip_up"]
    assert lane.sent == 40
    assert lane.lost > 5
    assert len(lane.latencies_s) + lane.lost == 40
    assert not world.visits.failures
