"""A learner that polls recorded network activity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psm_lab.replay.binned_arrivals import BinnedArrivals
from psm_lab.replay.network_activity import Activity, Transfer
from psm_lab.replay.replay_config import PollingGrid, ReplayConfig, replay_loss
from psm_lab.replay.replay_history import FACTS, ReplayHistory, Windows
from psm_lab.replay.trace_replay import ReplayPoller, replay_activity, replay_trace

from psm_sim.common.errors import InputError, PluginError
from psm_sim.learning import StaticExpert
from psm_sim.losses import InverseLoss, Loss

ROWS = st.lists(
    st.tuples(st.integers(0, 20_000_000), st.integers(0, 4_000_000), st.integers(1, 10**6)),
    min_size=1,
    max_size=6,
)
LEARNERS = ("static-expert", "fixed-share:alpha=0.02", "learn-alpha")


def activity(*rows: tuple[int, int, int]) -> Activity:
    """Return one client's activity from start, duration and bytes."""
    transfers = sorted(Transfer(start, start + took, size) for start, took, size in rows)
    return Activity("one", transfers, True, "made up")


@settings(max_examples=60, deadline=None)
@given(
    ROWS,
    st.sampled_from(LEARNERS),
    st.sampled_from([(100, 1000, 100), (110, 700, 59), (250, 999, 107)]),
    st.sampled_from(["inverse", "inverse-log:gamma=0.01", "1/Ti"]),
)
def test_polls_retrieve_every_byte_and_are_as_far_apart_as_the_experts_allow(
    rows: list[tuple[int, int, int]],
    learner: str,
    experts: tuple[float, float, float],
    loss: str,
) -> None:
    """The bytes are exact for any range of polling times."""
    clock = PollingGrid(*experts)
    method = ReplayConfig(learner=learner, clock=clock, loss=loss, horizon=50)
    result = replay_activity(activity(*rows), method, history=True)
    assert result.replay.buffered_bytes == result.activity.total_bytes
    times_ms = clock.times_ms
    assert times_ms[0] * 1000 - 1e-6 <= result.replay.shortest_us
    assert result.replay.longest_us <= times_ms[-1] * 1000 + 1e-6
    assert result.history is not None
    slept = result.history.beginning.facts["slept_ms"]
    assert slept.sum() * 1000 == pytest.approx(result.replay.now_us, abs=1e-3)


def test_a_replay_agrees_with_hand_computed_numbers() -> None:
    """Two experts of Static-expert, one transfer and two polls follow from equations 2.1, 2.2 and 2.35."""
    clock, gamma = PollingGrid(100.0, 300.0, 200.0), 1e-4
    transfers = [Transfer(0, 400_000, 4_000)]
    replay = ReplayPoller(BinnedArrivals(transfers), StaticExpert(2), InverseLoss(gamma), clock).run()
    first = [gamma * 2000 * t**2 / (2 * 200) + 1 / t for t in (100, 300)]
    weight = 1 / (1 + math.exp(first[0] - first[1]))
    slept = round((100 * weight + 300 * (1 - weight)) * 1000) / 1000
    buffered = int(4000 * min(int((200 + slept) / 10), 40) / 40) - 2000
    assert (replay.shortest_us, replay.longest_us) == (slept * 1000, 200_000)
    assert buffered < 2000
    second = [gamma * buffered * t**2 / (2 * slept) + 1 / t for t in (100, 300)]
    replay = ReplayPoller(BinnedArrivals(transfers), StaticExpert(2), InverseLoss(gamma), clock).run(2)
    assert replay.expert_losses == pytest.approx(np.add(first, second), rel=1e-12)
    mixture = -math.log(sum(math.exp(-loss) for loss in first) / 2)
    mixture -= math.log(weight * math.exp(-second[0]) + (1 - weight) * math.exp(-second[1]))
    assert replay.mixture == pytest.approx(mixture, rel=1e-9)
    paid = gamma * 2000 * 200 / 2 + 1 / 200 + gamma * buffered * slept / 2 + 1 / slept
    assert replay.suffered == pytest.approx(paid, rel=1e-12)
    assert replay.current_best == pytest.approx(min(first) + min(second), rel=1e-12)


def test_the_first_hundred_polls_do_not_depend_on_the_number_of_polls() -> None:
    (short,) = replay_trace("ucb", ReplayConfig(polls=100), pages=5, history=True)
    (whole,) = replay_trace("ucb", pages=5, history=True)
    assert short.replay.polls == 100
    assert short.history is not None
    assert whole.history is not None
    for name in FACTS:
        column = short.history.beginning.facts[name]
        assert column == pytest.approx(whole.history.beginning.facts[name][:100], abs=0)


class Observing(Loss):
    """Adaptive loss that counts its observations."""

    name = "noting"

    def __init__(self) -> None:
        self.polls: list[object] = []

    def __call__(self, poll, times_ms):
        """Return a loss that grows with the number of polls observed."""
        return 1.0 + len(self.polls) + 0 * times_ms

    def start(self) -> None:
        """Reset the count."""
        self.polls.clear()

    def observe(self, poll) -> None:
        """Count the poll."""
        self.polls.append(poll)


def test_the_observe_method_is_called_once_per_poll_with_arrival_times() -> None:
    """A copy of the loss evaluates the polling time in use, and equals the loss of such an expert."""
    loss = Observing()
    loss.polls.append("of another run")
    method = ReplayConfig(loss=loss, learner="static-expert", clock=PollingGrid(100.0, 300.0, 200.0))
    result = replay_activity(activity((0, 500_000, 5_000), (2_000_000, 0, 70)), method)
    assert loss.polls == ["of another run"]
    polls = result.replay._loss.component.polls
    assert len(polls) == result.replay.polls
    assert result.replay.suffered == result.replay.expert_losses[0] == sum(range(1, len(polls) + 1))
    assert polls[0].arrivals == tuple((10.0 * bin_, 100) for bin_ in range(1, 21))
    for poll in polls:
        assert sum(size for _, size in poll.arrivals) == poll.buffered_bytes
        assert all(0 < offset <= poll.slept_ms for offset, _ in poll.arrivals)
        assert poll.buffered_frames == len(poll.arrivals)


def test_the_error_of_a_loss_late_in_a_replay_names_the_poll() -> None:
    """The loss passes the checks at the start."""

    class Late(Observing):
        name = "late"

        def __call__(self, poll, times_ms):
            if len(self.polls) == 10:
                raise ZeroDivisionError("too late")
            return super().__call__(poll, times_ms)

    with pytest.raises(PluginError, match=r"Loss late failed in .*: ZeroDivisionError: too late"):
        replay_activity(activity((0, 10_000_000, 10)), ReplayConfig(loss=Late(), learner="static-expert"))


def test_memory_does_not_grow_with_the_polls() -> None:
    """Neither the replay nor its history is larger after ten thousand polls than after five thousand."""
    import tracemalloc

    clock = PollingGrid()
    replay = ReplayPoller(
        BinnedArrivals([Transfer(0, 10**11, 10**6)]),
        StaticExpert(10),
        replay_loss("inverse", None, clock.times_ms),
        clock,
        ReplayHistory(10, windows=100),
    )
    tracemalloc.start()
    replay.run(5_000)
    before = tracemalloc.get_traced_memory()[0]
    replay.run(10_000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert replay.polls == 10_000
    assert grown < 10_000


@given(st.integers(1, 300), st.sampled_from([2, 4, 10]))
def test_the_means_of_windows_conserve_the_running_totals(rows: int, most: int) -> None:
    """The number of windows is limited; means times counts are the totals."""
    windows, values = Windows(2, most), np.arange(2.0 * rows).reshape(rows, 2)
    for row in values:
        windows.add(row)
    means, counts = windows.means()
    assert len(means) <= most
    assert counts.sum() == rows
    ends = np.cumsum(counts).astype(int)
    assert np.cumsum(means * counts[:, None], axis=0) == pytest.approx(values.cumsum(axis=0)[ends - 1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ReplayConfig(loss="inverse:gamma=1", gamma=2.0), "gamma=2.0 conflicts with gamma in loss"),
        (lambda: ReplayConfig(max_gap_s=-1.0), r"max_gap_s must be from 0 to 1e\+09 s, got -1.0"),
        (
            lambda: ReplayConfig(clock=PollingGrid(200.0, 100.0)),
            r"max_ms must be at least min_ms \(200\), got 100",
        ),
        (
            lambda: ReplayConfig(clock=PollingGrid(100.0, 150.0, 100.0)),
            "define 1 experts; expected 2 to 10000",
        ),
        (lambda: replay_activity(activity(), ReplayConfig()), "client one has no requests to replay"),
    ],
)
def test_an_invalid_replay_is_an_error_before_the_first_poll(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
