"""Arrival-aware loss: latency from the time at which each frame reached the access point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.losses.extended_base import ExtendedLoss
from psm_sim.parameters import parameter
from psm_sim.poll import Poll


@dataclass
class ArrivalAware(ExtendedLoss):
    """Waiting time of the frames seen, from their arrivals: ``gamma sum_k b_k w_k(Ti)`` plus energy, in nats.

    Frame k, of b_k bytes, reached the access point a_k ms after the doze began. Polled every Ti ms from
    then on, it waits w_k(Ti) ms until the next multiple of Ti: no uniform arrivals are assumed, and none
    beyond those seen. At Ti = T the sum is the waiting that the doze did cost; there, gamma weighs what it
    weighs in the published losses (equation 2.34, with I T / 2 for the sum). Bytes whose arrival
    time is not known count as in the published losses. Proposed as an extension in the thesis, section 2.5.5.

    The published losses estimate that a poll every Ti ms would have found I Ti / T of the I bytes held
    (equation 2.35). This loss drops that scaling by default: it counts the bytes seen, each once.
    ``scaled`` keeps it: the bytes with a known arrival then count Ti / T times, as the others always do.

    Examples
    --------
    >>> loss = ArrivalAware(gamma=1e-3)
    >>> seen = Poll(slept_ms=300.0, buffered_bytes=500, buffered_frames=1, arrivals=((250.0, 500),))
    >>> times_ms = np.array([100.0, 200.0, 300.0, 400.0])
    >>> waits_ms = (loss(seen, times_ms) - 1 / np.log(times_ms)) / (1e-3 * 500)
    >>> waits_ms.round(6).tolist()
    [50.0, 150.0, 50.0, 150.0]
    """

    name = "arrival-aware"
    scaled: bool = parameter(
        False, "count the bytes seen Ti / T times, as equation 2.35 does; false: each once"
    )

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time in ms, shape (n,), in nats."""
        losses: FloatArray = self.energy_term(times_ms)
        untimed = poll.buffered_bytes
        if poll.arrivals:
            offsets_ms, sizes = np.array(poll.arrivals, dtype=np.float64).T
            # -a mod T is the time from a to the next multiple of T, and 0 on a multiple.
            waits: FloatArray = sizes @ np.mod(-offsets_ms[:, None], times_ms)
            share = times_ms / poll.slept_ms if self.scaled else 1.0
            losses += self._published.gamma * waits * share
            untimed -= int(sizes.sum())
        if untimed > 0:
            losses += times_ms * times_ms * (self._published.gamma * untimed / (2.0 * poll.slept_ms))
        return losses
