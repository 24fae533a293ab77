"""Frame loss: its share, equal losses for every policy, and recovery by TCP."""

from __future__ import annotations

import math
import statistics
from functools import partial
from itertools import pairwise

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network.end_systems import EndSystems
from psm_sim.network.parts.faults.fault_injection import RandomFrameLoss
from psm_sim.network.topology_sections import BeaconParameters, FrameLossParameters, MacParameters
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.laws import balance
from tests.network.parts.faults.common import Frames, loaded
from tests.network.worlds import page_times_s, run_world

HOPS = ("wireless", "wired")
POLICIES = ("always-on", "psm", "bsd:p=0.5", "lpsm", "uapsd", "twt", "anticipate")


@pytest.fixture(scope="module")
def pages():
    return load_workload("ucb", 30, 5).pages


@pytest.mark.parametrize("hop", HOPS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_page_completes_and_bytes_are_conserved_despite_frame_losses(hop, policy, pages):
    """A hop loses 5 % of its frames, with every kind of radio."""
    world = loaded({f"faults.{hop}.loss": 0.05}, pages, policy)
    assert len(world.visits) == len(pages)
    assert not world.visits.failures
    assert world.ends.lost_frames("up") > 10
    assert world.ends.lost_frames("down") > 10
    balance(world)


@pytest.mark.parametrize("settings", [{"loss": 0.1}, {"loss": 0.1, "loss_run": 2}])
def test_the_share_of_lost_frames_equals_the_configured_share(settings, pages):
    """The share is of all frames of a link, lost one by one or in runs."""
    seen = Frames()
    loaded({f"faults.wireless.{key}": value for key, value in settings.items()}, pages, "psm", [seen])
    carried = [name for name, _, _ in seen.queued if name.startswith("wireless")]
    assert {name for name, _, _ in seen.gone} == {"wireless up", "wireless down"}
    assert len(seen.gone) / len(carried) == pytest.approx(0.1, abs=0.025)


def test_observers_learn_of_a_loss_at_the_arrival_time_of_the_frame():
    seen = Frames()
    loaded({"faults.wired.loss": 0.3}, observers=[seen])
    queued = {(name, id(segment)): arrives_s for name, arrives_s, segment in seen.queued}
    assert seen.gone
    for name, time_s, segment in seen.gone:
        assert queued[name, id(segment)] == pytest.approx(time_s)


def fates(per_page, seed=1, share=0.5, run=None):
    """Return which of the per_page[n] frames of each page n are lost."""
    page = [0]
    loss = RandomFrameLoss(seed, "wired up", FrameLossParameters(share, run), lambda: page[0])
    losses = []
    for number, count in enumerate(per_page):
        page[0] = number
        losses.append([loss() for _ in range(count)])
    return losses


@pytest.mark.parametrize("run", [None, 5.0])
def test_an_additional_frame_in_a_page_does_not_change_the_losses_in_the_next_page(run):
    """Policies are therefore compared under the same losses."""
    few, many = fates([20, 30, 30], run=run), fates([25, 30, 40], run=run)
    assert few[0] == many[0][:20]
    assert few[1] == many[1]
    assert few[2] == many[2][:30]
    assert few[1] != few[2]
    assert fates([20, 30, 30], seed=2) != few


def test_every_frame_lost_at_a_small_loss_share_is_also_lost_at_a_larger_share():
    """The random number of a frame does not depend on the share."""
    less, more = fates([500], share=0.1)[0], fates([500], share=0.3)[0]
    assert sum(less) < sum(more)
    assert all(also for lost, also in zip(less, more, strict=True) if lost)


def test_runs_of_lost_frames_have_the_configured_share_and_mean_length():
    """A quarter of 200,000 frames is lost, 4 in a row on average."""
    (lost,) = fates([200_000], share=0.25, run=4.0)
    runs = sum(not one and other for one, other in pairwise(lost))
    assert statistics.mean(lost) == pytest.approx(0.25, abs=0.01)
    assert sum(lost) / runs == pytest.approx(4.0, rel=0.03)


def _mac(rate, run):
    return MacParameters(frame_error_rate=rate, loss_run=run)


@pytest.mark.parametrize("make", [FrameLossParameters, partial(BeaconParameters, 100.0, 1), _mac])
def test_a_mean_loss_run_too_short_for_the_loss_share_is_an_error(make):
    """Runs of 90 % losses have a mean of at least 9, with single received frames between them."""
    make(0.9, 9.0)
    with pytest.raises(InputError, match=r"loss_run must be at least 9 at a loss probability of 0.9, got 8"):
        make(0.9, 8.0)


def test_a_negligible_loss_share_changes_only_the_number_of_events(pages):
    """Energy and times are bit-for-bit equal."""
    plain, faulty = loaded({}, pages), loaded({"faults.wired.loss": 1e-12}, pages)
    assert faulty.usage() == plain.usage()
    assert list(faulty.visits) == list(plain.visits)
    assert type(plain.ends) is EndSystems


def test_every_page_fails_at_the_syn_timeout_if_a_hop_loses_all_frames():
    """The timeout is at least three minutes (RFC 1122); the next page is requested."""
    world = loaded({"faults.wireless.loss": 1})
    assert [visit.failure[:10] for visit, _ in world.visits] == ["the client"] * 5
    assert all(180 <= time_s < 300 for time_s in page_times_s(world))
    balance(world)


def throughput_mbps(size, seed, round_trip_s=0.1):
    """Return the throughput of a download on fast links, one ACK per segment, 1 % of the frames lost."""
    settings = {
        "links.wired.rate_mbps": 1000, "links.wireless.rate_mbps": 1000, "links.wireless.latency_ms": 0,
        "links.wired.latency_ms": 500 * round_trip_s, "tcp.max_window": 1000, "tcp.delayed_ack_ms": 0,
        "tcp.stack": "linux", "faults.wired.loss": 0.01,
    }  # fmt: skip
    world = run_world([Page(0.1, size, (), (300,), (0.0,))], "always-on", seed=seed, **settings)
    return 8e-6 * size / page_times_s(world)[0]


def test_the_throughput_with_one_per_cent_of_loss_agrees_with_mathis():
    """The model is MSS / RTT * sqrt(3/2) / sqrt(p) (Mathis, Semke, Mahdavi and Ott 1997), within 15 %."""
    throughput = statistics.mean(throughput_mbps(15_000_000, seed) for seed in (1, 2, 3))
    law = 8e-6 * 1460 / 0.1 * math.sqrt(1.5 / 0.01)
    assert throughput == pytest.approx(law, rel=0.15)
