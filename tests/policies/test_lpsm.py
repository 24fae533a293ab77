"""LPSM: training and rests."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import LearnAlpha
from psm_sim.losses import Context, InverseLoss, Loss
from psm_sim.policies import Frame, Poll, make_policy
from psm_sim.policies.base import RadioPower
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import simulate


def started(spec: str = "lpsm") -> Lpsm:
    policy = make_policy(spec)
    assert isinstance(policy, Lpsm)
    policy.start(0.1)
    return policy


def test_the_published_settings_have_twelve_experts_and_259_switching_rates():
    """100 to 1200 ms; 45 minutes have 27,000 polls."""
    policy = started()
    assert list(policy.times_ms) == [100.0 * n for n in range(1, 13)]
    assert isinstance(policy.learner, LearnAlpha)
    assert policy.learner.rates.size == 259


def test_the_first_doze_is_the_mean_of_the_experts_rounded_to_a_beacon():
    """The mean of 650 ms is 6.5 beacons, rounded up to 7."""
    assert started("lpsm:uplink=restart").rest(0.0, 0.0, None).beacons == 7


def test_buffered_bytes_shorten_the_doze_and_idle_polls_lengthen_it():
    """Figure 2-5 of the thesis shows this behaviour."""
    policy = started()
    busy = policy.rest(0.7, 0.7, Poll(100.0, 6000, 4)).beacons
    for number in range(40):
        busy = min(busy, policy.rest(0.8 + 0.1 * number, 1.0, Poll(100.0, 6000, 4)).beacons)
    assert busy == 1
    now_s, dozes = 10.0, []
    for _ in range(400):
        dozes.append(policy.rest(now_s, now_s, Poll(100.0)).beacons)
        now_s += 0.1 * dozes[-1]
    assert dozes[-1] >= 6
    assert dozes == sorted(dozes)


def test_the_polling_time_is_the_weighted_mean_of_the_experts():
    """Equation 2.32 has the weights of the learner."""
    policy = started()
    rest = policy.rest(0.7, 0.7, Poll(700.0, 40, 1))
    mean_ms = float(policy.learner.weights @ policy.times_ms)
    assert rest.beacons == int(mean_ms / 100 + 0.5)


@pytest.mark.parametrize(("uplink", "beacons"), [("one", 1), ("restart", 7), ("keep", 4)])
def test_the_uplink_parameter_sets_the_doze_after_an_uplink_packet(uplink, beacons):
    """The planned beacon is 7; a packet is sent just after beacon 3."""
    policy = started(f"lpsm:uplink={uplink}")
    assert policy.rest(0.0, 1.0, Poll(100.0)).beacons == 7
    assert policy.rest(0.301, 0.001, None).beacons == beacons


def test_a_parameter_sets_whether_an_interrupted_doze_counts_as_a_training_round():
    """The thesis leaves the choice open."""
    poll = Poll(50.0, 3000, 2)
    off, on = started(), started("lpsm:learn_on_uplink=true")
    before = off.learner.weights.copy()
    off.interrupted(poll)
    on.interrupted(poll)
    assert np.array_equal(off.learner.weights, before)
    assert not np.array_equal(on.learner.weights, before)


def test_the_result_has_all_parameters_and_the_gamma_of_the_loss():
    """The parameters suffice to repeat a run."""
    config = make_policy("lpsm:loss=inverse").config()
    assert config["loss"] == "inverse"
    assert config["gamma"] == pytest.approx(1 / 1.2e5)
    assert set(config) == {
        "loss", "gamma", "min_ms", "max_ms", "step_ms", "horizon_s", "uplink", "acks", "learn_on_uplink",
        "alpha", "context", "learner", "rule",
    }  # fmt: skip
    assert Lpsm(loss=InverseLoss(gamma=2.0)).config() == {**config, "gamma": 2.0}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lpsm:step_ms=0", "step_ms must be a number > 0 .*, got '0'"),
        ("lpsm:step_ms=5000", "define 1 experts"),
        ("lpsm:uplink=never", "one of one, restart, keep"),
        ("lpsm:alpha=2", "alpha must be a number >= 0 and <= 1, or none, got '2'"),
        ("lpsm:loss=cubic", "Unknown loss 'cubic'"),
        ("lpsm:gama=1", "no parameter 'gama'.*Did you mean 'gamma'"),
        ("lpsm:horizon_s=0", "horizon_s must be a number > 0 .*, got '0'"),
    ],
)
def test_wrong_parameters_are_an_error(spec, message):
    """The message is one sentence, before any run."""
    with pytest.raises(InputError, match=message):
        make_policy(spec)


def test_a_horizon_with_too_many_polls_is_an_error():
    """The number of polls depends on the beacon interval, which start() receives."""
    message = r"^policy lpsm: horizon_s=1e\+08 is 1e\+11 beacon intervals of 1 ms; expected at most 1e\+09"
    with pytest.raises(InputError, match=message):
        make_policy("lpsm:horizon_s=1e8").start(0.001)


def test_the_beacon_interval_sets_the_number_of_polls_in_the_horizon():
    """2,700 s with a beacon per second have 2,700 polls, and 83 levels."""
    policy = make_policy("lpsm")
    policy.start(1.0)
    assert policy.learner.rates.size == 83


def test_page_times_are_nearly_those_of_psm_if_outstanding_requests_are_the_context():
    """The learner for outstanding requests reduces delays at no more energy."""
    policies = "lpsm", "lpsm:context=outstanding", "psm"
    plain, knowing, psm = (simulate(policy, pages=40, seed=711) for policy in policies)
    assert knowing.slowdown.mean < plain.slowdown.mean
    assert knowing.slowdown.mean < psm.slowdown.mean + 0.1
    assert knowing.energy_per_page_j < plain.energy_per_page_j + 0.01


def test_each_context_has_its_own_learner():
    """Polls with an outstanding request do not change the other learner."""
    policy = started("lpsm:context=outstanding")
    policy.sent(1.0, Frame(0, 340, 300, False, False))
    policy.rest(1.0, 0.0, None)
    policy.rest(1.1, 0.1, Poll(100.0, 1500, 1, ((50.0, 1500),)))
    assert policy._contexts is not None
    waiting, idle = policy._contexts.waiting.weights, policy._contexts.idle.weights
    assert not (waiting == idle).all()
    assert (idle == idle[0]).all()


@pytest.mark.parametrize(
    ("spec", "beacons"),
    [
        ("lpsm", 7),
        ("lpsm:acks=uplink", 1),
        ("lpsm:acks=uplink,uplink=restart", 7),
        ("lpsm:acks=uplink,uplink=keep", 7),
    ],
)
def test_a_parameter_sets_whether_an_ack_sent_after_a_poll_counts_as_an_uplink_packet(spec, beacons):
    """The doze after an ACK for a frame retrieved at beacon 7 is the polling time, or one beacon."""
    policy = started(spec)
    policy.rest(0.0, 0.0, None)
    policy.uplink(0.701)
    assert policy.rest(0.702, 0.001, Poll(700.0, 0, 1)).beacons == beacons
    assert policy.rest(1.4, 0.7, Poll(700.0)).beacons == 7


def test_a_loss_that_takes_a_context_receives_outstanding_requests_and_waiting_times():
    """A request that waits during the doze counts, even if its reply ends the wait at the beacon."""
    seen = []

    class Seeing(Loss):
        name = "seeing"

        def __call__(self, poll, times_ms, context=Context()):  # noqa: B008
            seen.append(context)
            return 1 / times_ms

        def idle(self, times_ms):
            return 1 / times_ms

    policy = Lpsm(loss=Seeing())
    policy.power = RadioPower(1.0, 0.1, 0.002)
    policy.start(0.1)
    assert policy.wants("sent")
    assert policy.wants("received")
    seen.clear()
    policy.sent(0.95, Frame(1, 400, 360, False, False))
    policy.rest(1.0, 0.05, None)
    policy.received(1.3, Frame(1, 400, 360, False, False))
    policy.rest(1.31, 0.36, Poll(300.0, 400, 1))
    assert policy.rest(1.6, 0.6, Poll(290.0)).plan is None
    assert [observation.outstanding for observation in seen] == [1, 0]
    assert [observation.waited_ms for observation in seen] == pytest.approx([350.0, 0.0])
    assert (seen[0].awake_w, seen[0].asleep_w, seen[0].beacon_j, seen[0].beacon_ms) == (
        1.0,
        0.1,
        0.002,
        100.0,
    )
