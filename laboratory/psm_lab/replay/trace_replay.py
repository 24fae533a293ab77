"""Trace replay of a learner over the network activity of each client.

Source: thesis, section 2.5.4, "Trace-based evaluation framework" to "Competitive analysis".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from psm_lab.replay.activity_loading import load_activities
from psm_lab.replay.binned_arrivals import BIN_US, BinnedArrivals
from psm_lab.replay.network_activity import Activity, NominalTransfers, Transfer, without_gaps
from psm_lab.replay.replay_config import PollingGrid, ReplayConfig
from psm_lab.replay.replay_history import ReplayHistory
from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_POLLS
from psm_sim.common.progress import Progress
from psm_sim.learning import Learner
from psm_sim.losses import FormulaLoss, InverseLogLoss, InverseLoss, Loss, Poll
from psm_sim.losses.user_loss_guard import guarded_loss
from psm_sim.policies.helpers.polling_times import ROUNDING_OFFSET

_PROGRESS_POLLS = 20_000
"""Number of polls between two progress reports. A replay takes a third of a second for them."""

_STATELESS = (FormulaLoss, InverseLoss, InverseLogLoss)
"""Losses that depend neither on arrival times nor on earlier polls. Others receive the bytes of each bin."""


class ReplayPoller:
    """Replay of the activity of one client by one learner, with memory independent of the number of polls.

    In each round, the poller sleeps for the weighted mean of the experts' polling times, retrieves the bytes
    that arrived in the meantime, computes the loss of each expert's time, and updates the learner.

    Parameters
    ----------
    arrivals : BinnedArrivals
        The bytes of the client over time; the replay consumes them.
    learner : Learner
        Learner to update, with one expert for each polling time of the clock.
    loss : Loss
        Loss of a polling time, in nats. A copy is used.
    clock : PollingGrid
        Polling times of the experts.
    history : ReplayHistory, optional
        Records the data for figures.

    Attributes
    ----------
    polls : int
        Number of polls.
    now_us : int
        Time since the start of the first transfer's bin, in microseconds.
    buffered_bytes : int
        Number of retrieved bytes.
    shortest_us, longest_us : int
        Minimum and maximum of the polling times used, in microseconds.
    expert_losses : ndarray, shape (n,)
        Cumulative loss of each expert, in nats.
    mixture, suffered, current_best : float
        Cumulative losses in nats: the mixture loss (thesis, eq. 2.1), the loss at the polling times used
        (eq. 2.34), and the minimum loss of any expert in each poll.
    """

    def __init__(
        self,
        arrivals: BinnedArrivals,
        learner: Learner,
        loss: Loss,
        clock: PollingGrid,
        history: ReplayHistory | None = None,
    ) -> None:
        self.arrivals, self.learner, self.times_ms = arrivals, learner, clock.times_ms
        self.history = history
        self.polls, self.now_us, self.buffered_bytes = 0, 0, 0
        self.longest_us, self.shortest_us = 0, 2**63
        self.expert_losses: FloatArray = np.zeros(self.times_ms.size)
        self.mixture, self.suffered, self.current_best = 0.0, 0.0, 0.0
        # A loss caches its last candidates, so a second copy of the loss evaluates the polling time used.
        self._loss, self._twin = (guarded_loss(copy.deepcopy(loss)) for _ in range(2))
        self._needs_offsets = not isinstance(loss, _STATELESS)
        self._loss.start()
        self._twin.start()
        self._min_us, self._max_us = clock.range_us

    def run(self, polls: int | None = None, progress: Callable[[int], None] | None = None) -> ReplayPoller:
        """Poll until all bytes are retrieved, or at most *polls* times if it is not None.

        *progress* is called at intervals with the number of retrieved bytes.
        """
        while not self.arrivals.finished and (polls is None or self.polls < polls):
            self._poll()
            if progress and not self.polls % _PROGRESS_POLLS:
                progress(self.buffered_bytes)
        return self

    def _poll(self) -> None:
        slept_us = self._interval_us()
        poll = self._retrieve(slept_us)
        losses, suffered = self._evaluate(poll)
        if self.history is not None:
            self.history.record_weights(self.learner)
        mixture = self.learner.update(losses)
        best = losses.item(losses.argmin())
        self.polls += 1
        self.expert_losses += losses
        self.mixture += mixture
        self.suffered += suffered
        self.current_best += best
        if self.history is not None:
            self.history.after((poll.slept_ms, poll.buffered_bytes, mixture, suffered, best), losses)

    def _interval_us(self) -> int:
        """Return the weighted mean of the experts' times, in whole microseconds within their range.

        Halves are rounded up, with
        :data:`~psm_sim.policies.helpers.polling_times.ROUNDING_OFFSET`.
        """
        mean_us = int(self.learner.predict(self.times_ms) * 1e3 + ROUNDING_OFFSET)
        slept_us = min(max(mean_us, self._min_us), self._max_us)
        if slept_us < self.shortest_us:
            self.shortest_us = slept_us
        if slept_us > self.longest_us:
            self.longest_us = slept_us
        return slept_us

    def _retrieve(self, slept_us: int) -> Poll:
        before_us, self.now_us = self.now_us, self.now_us + slept_us
        end = self.now_us // BIN_US
        if not self._needs_offsets:
            buffered = self.arrivals.until(end)
            self.buffered_bytes += buffered
            return Poll(slept_us / 1e3, buffered)
        bins = self.arrivals.offsets(before_us // BIN_US, end)
        buffered = self.arrivals.until(end)
        self.buffered_bytes += buffered
        offsets = tuple((((bin_ + 1) * BIN_US - before_us) / 1e3, size) for bin_, size in bins)
        return Poll(slept_us / 1e3, buffered, len(offsets), offsets)

    def _evaluate(self, poll: Poll) -> tuple[FloatArray, float]:
        """Return the losses of the experts, shape (n,), and that of the polling time used."""
        losses = self._loss(poll, self.times_ms), self._twin.at(poll, poll.slept_ms)
        if self._needs_offsets:
            self._loss.observe(poll)
            self._twin.observe(poll)
        return losses


@dataclass(frozen=True)
class ReplayedClient:
    """Replay of one client: its activity, the configuration and the outcome."""

    activity: Activity
    method: ReplayConfig
    replay: ReplayPoller
    history: ReplayHistory | None = None

    @property
    def best_expert(self) -> int:
        """Index of the expert with the minimum cumulative loss (the best fixed expert in hindsight)."""
        return int(self.replay.expert_losses.argmin())

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values. Losses and regrets are cumulative, in nats."""
        replay, times_ms, best = self.replay, self.replay.times_ms.tolist(), self.best_expert
        fixed, current = replay.expert_losses.item(best), replay.current_best
        return {
            "client": self.activity.client,
            "remark": self.activity.remark,
            "synthetic": self.activity.synthetic,
            "trace_parameters": self.activity.parameters,
            "polls": replay.polls,
            "replayed_s": replay.now_us / 1e6,
            "bytes": replay.buffered_bytes,
            "trace_bytes": self.activity.total_bytes,
            "polling_ms": {
                "mean": replay.now_us / 1e3 / replay.polls,
                "min": replay.shortest_us / 1e3,
                "max": replay.longest_us / 1e3,
            },
            "loss": {"mixture": replay.mixture, "suffered": replay.suffered},
            "best_expert": {"ms": times_ms[best], "loss": fixed},
            "current_best_loss": current,
            "expert_losses": dict(
                zip(map("{:g}".format, times_ms), replay.expert_losses.tolist(), strict=True)
            ),
            "regret": {
                name: {"best_expert": loss - fixed, "current_best": loss - current}
                for name, loss in (("mixture", replay.mixture), ("suffered", replay.suffered))
            },
        }


def replay_trace(
    trace: str | Spec = "ucb",
    method: ReplayConfig | None = None,
    *,
    pages: int = 100,
    seed: int = 1,
    nominal: NominalTransfers | None = None,
    history: bool = False,
    progress: Progress | None = None,
) -> list[ReplayedClient]:
    """Replay each client that *trace* selects, each with a new learner.

    Parameters
    ----------
    trace : str or Spec
        Bundled trace or file. A recording is replayed as it is.
    method : ReplayConfig or None
        Configuration of the replay; None uses the defaults.
    pages : int
        Number of pages, at least 1. Used if the trace is not a recording.
    seed : int
        Seed of the sampled pages. Used if the trace is not a recording.
    nominal : NominalTransfers or None
        Model of the transfer times. Used if the trace is not a recording.
    history : bool
        Whether to record the data for figures.
    progress : callable or None
        Called with the number of retrieved bytes, the total number of bytes, and the client.

    Returns
    -------
    list of ReplayedClient
        Outcome of each client.

    Raises
    ------
    InputError
        If the trace, a parameter or the selection of clients is invalid, or there is nothing to replay.

    Examples
    --------
    >>> (client,) = replay_trace("ucb", pages=5)
    >>> client.replay.buffered_bytes == client.activity.total_bytes
    True
    """
    method = method or ReplayConfig()
    activities = load_activities(trace, pages, seed, nominal or NominalTransfers())
    return [replay_activity(activity, method, history=history, progress=progress) for activity in activities]


def replay_activity(
    activity: Activity, method: ReplayConfig, *, history: bool = False, progress: Progress | None = None
) -> ReplayedClient:
    """Replay the *activity* of one client. See :func:`replay_trace` for *method*, *history* and *progress*.

    Raises
    ------
    InputError
        If the client has no transfers, or the loss fails.
    """
    if not activity.transfers:
        raise InputError(f"client {activity.client} has no requests to replay.")
    _check_length(activity, method)
    recorder = ReplayHistory(method.clock.times_ms.size) if history else None
    arrivals = BinnedArrivals(_limit_gaps(activity, method.max_gap_s))
    replay = ReplayPoller(arrivals, method.make_learner(), method.tried_loss, method.clock, recorder)
    total = activity.total_bytes
    replay.run(method.polls, (lambda done: progress(done, total, activity.client)) if progress else None)
    return ReplayedClient(activity, method, replay, recorder)


def _limit_gaps(activity: Activity, max_gap_s: float | None) -> Iterable[Transfer]:
    if max_gap_s is None:
        return activity.transfers
    return without_gaps(activity.transfers, round(max_gap_s * 1e6))


def _check_length(activity: Activity, method: ReplayConfig) -> None:
    """Reject activity that is too long to poll in reasonable time."""
    transfers = _limit_gaps(activity, method.max_gap_s)
    lasts_s = (max(transfer.end_us for transfer in transfers) - activity.transfers[0].start_us) / 1e6
    polls = lasts_s / (method.clock.times_ms[-1] / 1e3)
    if method.polls is None and polls > MAX_POLLS:
        raise InputError(
            f"client {activity.client}: {lasts_s:g} s of activity need more than {MAX_POLLS:,} polls; limit "
            "the polls, shorten idle periods with max_gap_s, or increase the polling times."
        )
