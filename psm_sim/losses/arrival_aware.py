"""Loss whose latency term uses the arrival time of each frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import parameter
from psm_sim.losses.extended_base import ExtendedLoss
from psm_sim.poll import Poll


@dataclass
class ArrivalAware(ExtendedLoss):
    """Loss of the waiting times of the buffered frames, ``gamma sum_k b_k w_k(Ti)``, plus energy, in nats.

    Frame k, of b_k bytes, reached the access point a_k ms after the doze began. With a poll every Ti ms, it
    waits w_k(Ti) ms until the next multiple of Ti. Neither uniform arrivals nor further frames are assumed.
    At Ti = T the sum is the actual waiting time of the doze. There, gamma has the same meaning as in the
    published losses, with I T / 2 for the sum (thesis, eq. 2.34). Bytes without an arrival time count as in
    the published losses. The thesis proposes this extension in section 2.5.5.

    The published losses estimate that a poll every Ti ms would have found I Ti / T of the I buffered bytes
    (eq. 2.35). By default this loss counts each byte once, without this factor. With ``scaled`` the bytes
    with an arrival time also count Ti / T times, as the other bytes always do.

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
        False, "whether each byte counts Ti / T times (thesis, eq. 2.35) instead of once"
    )

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), in nats."""
        losses: FloatArray = self.energy_term(times_ms)
        untimed_bytes = poll.buffered_bytes
        if poll.arrivals:
            offsets_ms, sizes = np.array(poll.arrivals, dtype=np.float64).T
            # -a mod T is the time from a to the next multiple of T, and 0 at a multiple.
            waits: FloatArray = sizes @ np.mod(-offsets_ms[:, None], times_ms)
            share = times_ms / poll.slept_ms if self.scaled else 1.0
            losses += self._published.gamma * waits * share
            untimed_bytes -= int(sizes.sum())
        if untimed_bytes > 0:
            losses += times_ms * times_ms * (self._published.gamma * untimed_bytes / (2.0 * poll.slept_ms))
        return losses
