"""Learner that polls network activity and learns from the buffered bytes.

Source: thesis, section 2.5.4, "Trace-based evaluation framework". The algorithm is that of figure 2-4.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import Learner
from psm_sim.losses import FormulaLoss, InverseLogLoss, InverseLoss, Loss, Poll
from psm_sim.losses.user_loss_guard import guarded_loss
from psm_sim.policies.helpers.lpsm_doze_plan import HALF
from psm_sim.replay.binned_arrivals import BIN_US, BinnedArrivals
from psm_sim.replay.replay_config import PollingGrid
from psm_sim.replay.replay_history import NullHistory

_PROGRESS_POLLS = 20_000
"""Polls between two progress reports."""

_STATELESS = (FormulaLoss, InverseLoss, InverseLogLoss)
"""Losses that depend neither on arrival times nor on earlier polls. For other losses, bins are listed."""


class ReplayPoller:
    """Replay of the activity of one client by one learner, with memory independent of the number of polls.

    Each poll sleeps for the weighted mean of the experts' polling times, retrieves the bytes that arrived
    in the meantime, computes the loss of each expert's time, and updates the learner.

    Parameters
    ----------
    arrivals : BinnedArrivals
        The bytes of the client over time, which are consumed.
    learner : Learner
        Learner with one expert for each polling time of the clock, which is updated.
    loss : Loss
        Loss of a polling time, in nats. A copy is used.
    clock : PollingGrid
        Polling times of the experts, and the grid of the polling times used.
    history : NullHistory, optional
        Records the data for figures. By default nothing is recorded.

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
        history: NullHistory | None = None,
    ) -> None:
        self.arrivals, self.learner, self.times_ms = arrivals, learner, clock.times_ms
        self.history = history or NullHistory()
        self.polls, self.now_us, self.buffered_bytes = 0, 0, 0
        self.longest_us, self.shortest_us = 0, 2**63
        self.expert_losses: FloatArray = np.zeros(self.times_ms.size)
        self.mixture, self.suffered, self.current_best = 0.0, 0.0, 0.0
        # A loss caches its last candidates, so a second copy evaluates the polling time used.
        self._loss, self._twin = (guarded_loss(copy.deepcopy(loss)) for _ in range(2))
        self._needs_offsets = not isinstance(loss, _STATELESS)
        self._loss.start()
        self._twin.start()
        self._per_unit = 1e3 / clock.unit_us
        self._unit_us, (self._min_units, self._max_units) = clock.unit_us, clock.range_units

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
        self.history.before(self.learner)
        mixture = self.learner.update(losses)
        best = losses.item(losses.argmin())
        self.polls += 1
        self.expert_losses += losses
        self.mixture += mixture
        self.suffered += suffered
        self.current_best += best
        self.history.after((poll.slept_ms, poll.buffered_bytes, mixture, suffered, best), losses)

    def _interval_us(self) -> int:
        """Return the weighted mean of the experts' times, rounded to the grid within their range.

        Halves are rounded up, with the tolerance of :data:`~psm_sim.policies.helpers.lpsm_doze_plan.HALF`.
        """
        units = int(self.learner.predict(self.times_ms) * self._per_unit + HALF)
        slept_us = min(max(units, self._min_units), self._max_units) * self._unit_us
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
