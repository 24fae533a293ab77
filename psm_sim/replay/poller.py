"""Poller: a learner polls network activity at its own times and learns from the bytes held.

Source: thesis, section 2.5.4, "Trace-based evaluation framework"; the algorithm is that of figure 2-4.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning import Learner
from psm_sim.losses import FormulaLoss, InverseLogLoss, InverseLoss, Loss, Poll
from psm_sim.losses.user_loss_guard import guarded_loss
from psm_sim.policies.idle_plan import HALF
from psm_sim.replay.binned_arrivals import BIN_US, BinnedArrivals
from psm_sim.replay.polling_clock import PollingGrid
from psm_sim.replay.replay_history import NullHistory

_NEWS = 20_000
_BLIND = (FormulaLoss, InverseLoss, InverseLogLoss)
"""Losses known not to look at when bytes came, nor to adapt; for any other the bins of a poll are listed."""


class ReplayPoller:
    """Replay of one client's activity by one learner; memory is constant in the number of polls.

    Each poll: sleep for the weighted mean of the experts' times, find the bytes that came meanwhile, ask
    the loss what each expert's time would have cost, learn.

    Parameters
    ----------
    arrivals : Arrivals
        The bytes of the client, by time; they are used up.
    learner : Learner
        One expert for each of the clock's polling times; it is changed.
    loss : Loss
        The loss of a polling time, in nats; a copy is used.
    clock : Clock
        The experts' polling times, and the grid of those used.
    history : NoHistory, optional
        Keeps what figures need; by default nothing is kept.

    Attributes
    ----------
    polls, now_us, buffered_bytes : int
        Polls made, time since the first transfer's bin, and bytes fetched.
    shortest_us, longest_us : int
        The extremes of the polling times used.
    expert_losses : ndarray, shape (n,)
        The cumulative loss of each expert, in nats.
    mixture, suffered, current_best : float
        Cumulative losses in nats: the mixture loss (2.1), the loss at the polling times used (2.34), and
        the least loss of any expert in each poll.
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
        # Losses remember the candidates last asked about: the polling time used is asked of a twin.
        self._loss, self._twin = (guarded_loss(copy.deepcopy(loss)) for _ in range(2))
        self._watches = not isinstance(loss, _BLIND)
        self._loss.start()
        self._twin.start()
        self._per_unit = 1e3 / clock.unit_us
        self._unit_us, (self._least, self._most) = clock.unit_us, clock.range_units

    def run(self, polls: int | None = None, told: Callable[[int], None] | None = None) -> ReplayPoller:
        """Poll until every byte is fetched, or *polls* times; *told* is called with the bytes fetched."""
        while not self.arrivals.finished and (polls is None or self.polls < polls):
            self._poll()
            if told and not self.polls % _NEWS:
                told(self.buffered_bytes)
        return self

    def _poll(self) -> None:
        slept_us = self._interval_us()
        poll = self._fetch(slept_us)
        losses, paid = self._ask(poll)
        self.history.before(self.learner)
        mixture = self.learner.update(losses)
        best = losses.item(losses.argmin())
        self.polls += 1
        self.expert_losses += losses
        self.mixture += mixture
        self.suffered += paid
        self.current_best += best
        self.history.after((poll.slept_ms, poll.buffered_bytes, mixture, paid, best), losses)

    def _interval_us(self) -> int:
        """Return the weighted mean of the experts' times, on the clock's grid and within their range.

        Halves are rounded up, also what is as near to one as :data:`~psm_sim.policies.idle_plan.HALF` says.
        """
        units = int(self.learner.predict(self.times_ms) * self._per_unit + HALF)
        slept_us = min(max(units, self._least), self._most) * self._unit_us
        if slept_us < self.shortest_us:
            self.shortest_us = slept_us
        if slept_us > self.longest_us:
            self.longest_us = slept_us
        return slept_us

    def _fetch(self, slept_us: int) -> Poll:
        before_us, self.now_us = self.now_us, self.now_us + slept_us
        end = self.now_us // BIN_US
        if not self._watches:
            buffered = self.arrivals.until(end)
            self.buffered_bytes += buffered
            return Poll(slept_us / 1e3, buffered)
        bins = self.arrivals.offsets(before_us // BIN_US, end)
        buffered = self.arrivals.until(end)
        self.buffered_bytes += buffered
        offsets = tuple((((bin_ + 1) * BIN_US - before_us) / 1e3, size) for bin_, size in bins)
        return Poll(slept_us / 1e3, buffered, len(offsets), offsets)

    def _ask(self, poll: Poll) -> tuple[FloatArray, float]:
        """Return the experts' losses, shape (n,), and that of the polling time used."""
        answers = self._loss(poll, self.times_ms), self._twin.at(poll, poll.slept_ms)
        if self._watches:
            self._loss.observe(poll)
            self._twin.observe(poll)
        return answers
