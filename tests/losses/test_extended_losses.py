"""Losses beyond the published two: hand-computed cases, and the bound of the constrained loss."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError, PluginError
from psm_sim.losses import (
    ArrivalAware,
    ConstrainedLoss,
    Loss,
    Poll,
    RetrievalEnergy,
    check_loss,
    make_loss,
)
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from tests.network.worlds import run_world

TIMES_MS = np.arange(100.0, 1201.0, 100.0)


@pytest.mark.parametrize("energy", ["inverse", "inverse-log"])
@pytest.mark.parametrize("name", ["arrival-aware", "retrieval-energy", "constrained"])
def test_the_loss_of_an_empty_doze_equals_the_published_energy_term(name: str, energy: str) -> None:
    """The term is 1/Ti or 1/log Ti."""
    losses = make_loss(f"{name}:energy={energy}")(Poll(300.0), TIMES_MS)
    np.testing.assert_array_equal(losses, make_loss(energy)(Poll(300.0), TIMES_MS))


@pytest.mark.parametrize("energy", ["inverse", "inverse-log"])
@pytest.mark.parametrize("name", ["arrival-aware", "retrieval-energy"])
def test_the_default_gamma_is_the_published_gamma_for_the_energy_term(name: str, energy: str) -> None:
    """An explicit gamma is used."""
    assert make_loss(f"{name}:energy={energy}").gamma == make_loss(energy).gamma
    assert make_loss(name, gamma=0.25).gamma == 0.25


def test_the_arrival_aware_loss_counts_the_waiting_time_of_each_frame() -> None:
    """Two frames arrive at 130 and 250 ms, with polls every 100, 200, ... ms and hand-computed waits."""
    poll = Poll(300.0, 1040, 2, ((130.0, 40), (250.0, 1000)))
    losses = ArrivalAware(gamma=1.0, energy="inverse")(poll, np.array([100.0, 200.0, 300.0, 500.0]))
    waits = np.array([40 * 70 + 1000 * 50, 40 * 70 + 1000 * 150, 40 * 170 + 1000 * 50, 40 * 370 + 1000 * 250])
    np.testing.assert_allclose(losses, waits + 1 / np.array([100.0, 200.0, 300.0, 500.0]), rtol=1e-12)


@given(
    slept_ms=st.floats(1, 5000),
    shares=st.lists(st.tuples(st.floats(0.001, 1), st.integers(1, 1500)), min_size=1),
)
def test_the_arrival_aware_loss_of_the_time_actually_slept_counts_the_actual_waits(slept_ms, shares) -> None:
    """The candidate in use is charged exactly its delay."""
    arrivals = tuple((share * slept_ms, size) for share, size in shares)
    poll = Poll(slept_ms, sum(size for _, size in arrivals), len(arrivals), arrivals)
    latency = ArrivalAware(gamma=1.0)(poll, np.array([slept_ms + 1.0])) - 1 / np.log(slept_ms + 1.0)
    waited = sum(size * (slept_ms + 1.0 - offset) for offset, size in arrivals)
    assert latency.item() == pytest.approx(waited, rel=1e-9)


def test_the_arrival_aware_loss_equals_the_published_loss_if_arrivals_are_uniform() -> None:
    """The waits of 10,000 evenly spaced frames are I T / 2 at the time slept, equation 2.34."""
    offsets = (np.arange(10_000) + 0.5) / 10_000 * 400.0
    poll = Poll(400.0, 1_000_000, 10_000, tuple((float(offset), 100) for offset in offsets))
    published = make_loss("inverse", gamma=1e-6)(poll, np.array([400.0]))
    np.testing.assert_allclose(ArrivalAware(1e-6, "inverse")(poll, np.array([400.0])), published, rtol=1e-9)


def test_the_arrival_aware_loss_assumes_uniform_arrivals_of_bytes_without_an_arrival_time() -> None:
    """The published loss assumes uniform arrivals of all bytes."""
    poll = Poll(300.0, 1500, 1)
    np.testing.assert_allclose(
        make_loss("arrival-aware")(poll, TIMES_MS), make_loss("inverse-log")(poll, TIMES_MS)
    )


@given(buffered=st.integers(1, 10**6), slept_ms=st.floats(10, 2000))
def test_the_retrieval_energy_loss_charges_the_energy_of_retrieved_bytes(buffered, slept_ms) -> None:
    """The energy term grows by the energy of I Ti / T bytes relative to a poll; the latency term does not."""
    poll = Poll(slept_ms, buffered)
    losses = RetrievalEnergy(byte_uj=3.0, poll_mj=2.0)(poll, TIMES_MS)
    fetched_j = 3e-6 * buffered * TIMES_MS / slept_ms
    expected = make_loss("inverse-log")(poll, TIMES_MS) + fetched_j / 2e-3 / np.log(TIMES_MS)
    np.testing.assert_allclose(losses, expected, rtol=1e-12)


def test_the_retrieval_energy_changes_no_weights_if_the_energy_term_is_1_over_ti() -> None:
    """The retrieved bytes do not depend on the polling time, so all experts have the same charge."""
    poll = Poll(300.0, 4000, 3)
    more = make_loss("retrieval-energy:energy=inverse")(poll, TIMES_MS) - make_loss("inverse")(poll, TIMES_MS)
    np.testing.assert_allclose(more, more[0], rtol=1e-9)
    assert more[0] > 0


dozes = st.builds(
    lambda slept_ms, shares: Poll(
        slept_ms,
        sum(size for _, size in shares),
        len(shares),
        tuple((share * slept_ms, size) for share, size in shares),
    ),
    st.floats(1, 1200),
    st.lists(st.tuples(st.floats(0, 1), st.integers(40, 1500)), max_size=20),
)


@given(polls=st.lists(dozes, max_size=60), target_ms=st.floats(1, 1000), step=st.floats(1e-9, 1e-6))
def test_the_virtual_queue_of_the_constrained_loss_bounds_the_mean_delay(polls, target_ms, step) -> None:
    """The mean is at most target + log(gamma / gamma_1) / (step bytes) for any arrivals and dozes."""
    loss = ConstrainedLoss(target_ms=target_ms, step=step, gamma_max=1e300)
    free = ConstrainedLoss(target_ms=target_ms, step=step, gamma_min=1e-300, gamma_max=1e300)
    for poll in polls:
        loss.observe(poll)
        free.observe(poll)
    buffered = sum(poll.buffered_bytes for poll in polls)
    waited = sum(size * (poll.slept_ms - offset) for poll in polls for offset, size in poll.arrivals)
    assert waited <= target_ms * buffered + np.log(loss.multiplier / 1e-5) / step + 1e-6 * (1 / step + waited)
    assert waited == pytest.approx(
        target_ms * buffered + np.log(free.multiplier / 1e-5) / step, rel=1e-6, abs=1e-6 / step
    )


def test_the_multiplier_of_the_constrained_loss_stays_within_its_range() -> None:
    """Dozes without delay end at gamma_min, and dozes with delay at gamma_max, without overflow."""
    loss = ConstrainedLoss(target_ms=100.0, step=1e-4, gamma_min=1e-6, gamma_max=1e-3)
    for bytes_held in (1500, 10**9):
        loss.observe(Poll(90.0, bytes_held, 1, ((10.0, bytes_held),)))
    assert loss.multiplier == 1e-6
    for bytes_held in (1500, 10**9):
        loss.observe(Poll(900.0, bytes_held, 1, ((10.0, bytes_held),)))
    assert loss.multiplier == 1e-3
    assert loss.gamma == 1e-5


def test_the_constrained_loss_equals_the_published_loss_with_gamma_equal_to_the_multiplier() -> None:
    loss, poll = ConstrainedLoss(gamma=2e-6), Poll(300.0, 1500, 1, ((0.0, 1500),))
    np.testing.assert_array_equal(loss(poll, TIMES_MS), make_loss("inverse-log:gamma=2e-6")(poll, TIMES_MS))
    loss.observe(poll)
    now = make_loss("inverse-log", gamma=loss.multiplier)
    assert loss.multiplier == pytest.approx(2e-6 * np.exp(2e-7 * 1500 * 200))
    np.testing.assert_array_equal(loss(poll, TIMES_MS), now(poll, TIMES_MS))


class Watched(ConstrainedLoss):
    """Add up the waits by the time stamps of the access point."""

    byte_ms = buffered_bytes = 0.0

    def observe(self, poll) -> None:
        super().observe(poll)
        self.byte_ms += sum(size * (poll.slept_ms - offset) for offset, size in poll.arrivals)
        self.buffered_bytes += poll.buffered_bytes


@pytest.mark.parametrize("target_ms", [80.0, 100.0, 200.0])
def test_on_the_ucb_trace_the_mean_wait_of_a_byte_meets_the_target(target_ms: float) -> None:
    """The tolerance is 10 % over 100 pages; fixed gammas give 51 to 550 ms."""
    loss = Watched(target_ms=target_ms)
    run_world(load_workload("ucb", 100, 1).pages, Lpsm(loss=loss))
    assert loss.byte_ms / loss.buffered_bytes == pytest.approx(target_ms, rel=0.1)


def test_lpsm_calls_observe_for_every_doze_and_resets_its_loss_at_the_start() -> None:
    """Interrupted dozes count, too; copies do not share their state."""
    policy = Lpsm(loss=ConstrainedLoss())
    policy.start(0.1)
    fresh = policy.loss.multiplier
    late = Poll(900.0, 1500, 1, ((0.0, 1500),))
    policy.rest(1.0, 1.0, late)
    once = policy.loss.multiplier
    policy.interrupted(late)
    assert fresh < once < policy.loss.multiplier
    twin = copy.deepcopy(policy)
    policy.start(0.1)
    assert policy.loss.multiplier == fresh
    assert twin.loss.multiplier > once


def test_a_loss_whose_observe_method_fails_is_an_error_before_the_run() -> None:
    """The message names the loss and the hook."""

    class Deaf(Loss):
        name = "broken"

        def __call__(self, poll, times_ms):
            return 1 / times_ms

        def observe(self, poll) -> None:
            raise KeyError("what?")

    with pytest.raises(PluginError, match=r"Loss broken failed in observe\(\) with .*: KeyError"):
        check_loss(Deaf(), TIMES_MS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("constrained:gamma=1", "gamma must be from gamma_min = 1e-09 to gamma_max = 0.01, got 1"),
        ("constrained:gamma_min=1", "gamma_max must be at least gamma_min .*, got 0.01"),
    ],
)
def test_wrong_parameters_are_an_error(spec: str, message: str) -> None:
    """The message is one sentence."""
    with pytest.raises(InputError, match=message):
        make_loss(spec)


def test_the_constrained_loss_reports_its_mean_wait() -> None:
    """The mean per byte is near the target. Results of other policies have no such value."""
    loss = ConstrainedLoss(target_ms=100.0)
    assert loss.report()["mean_wait_ms"] == 0.0
    loss.observe(Poll(300.0, 1000, 2, ((100.0, 500), (250.0, 500))))
    assert loss.report() == {"mean_wait_ms": 125.0, "target_ms": 100.0, "gamma": loss.multiplier}
    loss.start()
    assert loss.report()["mean_wait_ms"] == 0.0
    targets = (60, 400)
    short, run = (simulate(f"lpsm:loss=(constrained:target_ms={ms})", pages=20, seed=1) for ms in targets)
    assert 30 < short["policy_report.mean_wait_ms"] < run["policy_report.mean_wait_ms"] < 600
    assert run.to_dict()["policy_report"]["target_ms"] == 400
    assert "policy_report" not in simulate("psm", pages=2, seed=1).to_dict()


def test_the_scaled_arrival_aware_loss_scales_bytes_as_the_published_losses_do() -> None:
    """The charge is Ti / T times the wait of each byte; at the time slept both forms are equal."""
    poll, gamma = Poll(300.0, 500, 1, ((250.0, 500),)), 1e-3
    plain, scaled = (
        ArrivalAware(gamma=gamma)(poll, TIMES_MS),
        ArrivalAware(gamma=gamma, scaled=True)(poll, TIMES_MS),
    )
    energy = 1 / np.log(TIMES_MS)
    np.testing.assert_allclose(scaled - energy, (plain - energy) * TIMES_MS / 300.0, atol=1e-12)
    assert scaled[2] == pytest.approx(plain[2])
