"""Frame loss: the share asked for, the same fates for every policy, and TCP that mends it."""

from __future__ import annotations

import math
import statistics
from functools import partial
from itertools import pairwise

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import run_alone
from psm_sim.network.end_systems import EndSystems
from psm_sim.network.parts.faults.fault_injection import RandomFrameLoss
from psm_sim.network.topology_sections import BeaconParameters, LossParameters, MacParameters
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.faults.common import Frames, loaded, world_with

HOPS = ("wireless", "wired")
POLICIES = ("always-on", "psm", "bsd:p=0.5", "lpsm", "uapsd", "twt", "anticipate")


@pytest.fixture(scope="module")
def pages():
    return load_workload("ucb", 30, 5).pages


@pytest.mark.parametrize("hop", HOPS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_page_is_complete_in_spite_of_losses_and_no_byte_is_unaccounted_for(hop, policy, pages):
    """5 % of the frames of a hop, with every kind of radio."""
    world = loaded({f"faults.{hop}.loss": 0.05}, pages, policy)
    assert len(world.visits) == len(pages)
    assert not world.visits.failures
    assert world.ends.lost_frames("up") > 10
    assert world.ends.lost_frames("down") > 10
    balance(world)


@pytest.mark.parametrize("settings", [{"loss": 0.1}, {"loss": 0.1, "loss_run": 2}])
def test_the_share_of_frames_lost_is_the_one_asked_for(settings, pages):
    """Of all that a link has carried, alone or in runs."""
    seen = Frames()
    loaded({f"faults.wireless.{key}": value for key, value in settings.items()}, pages, "psm", [seen])
    carried = [name for name, _, _ in seen.queued if name.startswith("wireless")]
    assert {name for name, _, _ in seen.gone} == {"wireless up", "wireless down"}
    assert len(seen.gone) / len(carried) == pytest.approx(0.1, abs=0.025)


def test_a_frame_that_is_told_as_lost_was_told_as_queued_and_would_have_arrived_then():
    """An observer hears of it at the end of the link."""
    seen = Frames()
    loaded({"faults.wired.loss": 0.3}, observers=[seen])
    queued = {(name, id(segment)): arrives_s for name, arrives_s, segment in seen.queued}
    assert seen.gone
    for name, time_s, segment in seen.gone:
        assert queued[name, id(segment)] == pytest.approx(time_s)


def fates(per_page, seed=1, share=0.5, run=None):
    """Return the fates of the frames of each page, of which page n has per_page[n]."""
    page = [0]
    loss = RandomFrameLoss(seed, "wired up", LossParameters(share, run), lambda: page[0])
    found = []
    for number, count in enumerate(per_page):
        page[0] = number
        found.append([loss() for _ in range(count)])
    return found


@pytest.mark.parametrize("run", [None, 5.0])
def test_a_frame_more_in_one_page_changes_nothing_in_the_next(run):
    """So that policies are compared under the same faults."""
    few, many = fates([20, 30, 30], run=run), fates([25, 30, 40], run=run)
    assert few[0] == many[0][:20]
    assert few[1] == many[1]
    assert few[2] == many[2][:30]
    assert few[1] != few[2]
    assert fates([20, 30, 30], seed=2) != few


def test_a_greater_share_loses_the_same_frames_and_more():
    """The number drawn for a frame does not depend on the share."""
    less, more = fates([500], share=0.1)[0], fates([500], share=0.3)[0]
    assert sum(less) < sum(more)
    assert all(also for lost, also in zip(less, more, strict=True) if lost)


def test_runs_of_lost_frames_have_their_share_and_their_mean_length():
    """A quarter of 200,000 frames, 4 in a row on average."""
    (lost,) = fates([200_000], share=0.25, run=4.0)
    runs = sum(not one and other for one, other in pairwise(lost))
    assert statistics.mean(lost) == pytest.approx(0.25, abs=0.01)
    assert sum(lost) / runs == pytest.approx(4.0, rel=0.03)


def _mac(rate, run):
    return MacParameters(frame_error_rate=rate, loss_run=run)


@pytest.mark.parametrize("make", [LossParameters, partial(BeaconParameters, 100.0, 1), _mac])
def test_a_mean_run_that_is_too_short_for_its_share_is_refused(make):
    """Of 90 % lost, runs have 9 on average if single frames are received between them."""
    make(0.9, 9.0)
    with pytest.raises(InputError, match=r"loss_run must be at least 9 at a loss probability of 0.9, got 8"):
        make(0.9, 8.0)


def test_nothing_lost_is_the_run_without_faults_but_for_its_events(pages):
    """A share that takes no frame in the end: the same energy and times, to the last bit."""
    plain, faulty = loaded({}, pages), loaded({"faults.wired.loss": 1e-12}, pages)
    assert faulty.usage() == plain.usage()
    assert list(faulty.visits) == list(plain.visits)
    assert type(plain.ends) is EndSystems


def test_a_hop_that_lets_nothing_through_fails_every_page_after_the_time_of_a_syn():
    """RFC 1122: three minutes at least; the next page is asked for."""
    world = loaded({"faults.wireless.loss": 1})
    assert [visit.failure[:10] for visit, _ in world.visits] == ["the client"] * 5
    assert all(180 <= visit.ended_s - visit.started_s < 300 for visit, _ in world.visits)
    balance(world)


def throughput_mbps(size, seed, round_trip_s=0.1):
    """Return that of one download on fast links, each segment acknowledged, 1 % of the frames lost."""
    world = world_with(
        {
            "links.wired.rate_mbps": 1000, "links.wireless.rate_mbps": 1000, "links.wireless.latency_ms": 0,
            "links.wired.latency_ms": 500 * round_trip_s, "tcp.max_window": 1000, "tcp.delayed_ack_ms": 0,
            "tcp.stack": "linux", "faults.wired.loss": 0.01,
        },
        "always-on",
        seed=seed,
    )  # fmt: skip
    run_alone(world, [Page(0.1, size, (), (300,), (0.0,))])
    visit, _ = world.visits[0]
    return 8e-6 * size / (visit.ended_s - visit.started_s)


def test_one_per_cent_of_loss_gives_the_throughput_of_mathis():
    """MSS / RTT * sqrt(3/2) / sqrt(p) (Mathis, Semke, Mahdavi and Ott 1997), within 15 %."""
    found = statistics.mean(throughput_mbps(15_000_000, seed) for seed in (1, 2, 3))
    law = 8e-6 * 1460 / 0.1 * math.sqrt(1.5 / 0.01)
    assert found == pytest.approx(law, rel=0.15)
