"""Loss that includes the energy of retrieving the buffered frames."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import parameter
from psm_sim.losses.extended_base import ExtendedLoss
from psm_sim.poll import Poll


@dataclass
class RetrievalEnergy(ExtendedLoss):
    """Published loss, in nats, with the energy term ``E(Ti) (1 + (I Ti / T) e / p)``.

    The additional factor is the energy of retrieving the buffered bytes. The published energy term E(Ti) is
    that of one poll every Ti ms, with p joules per poll. A poll that finds bytes takes longer. It retrieves I
    Ti / T bytes at e joules each, where I bytes are buffered after T ms. The latency term and the meaning of
    gamma are as published. The thesis proposes this extension in section 2.5.5.

    With E = 1/Ti the additional term is the same for every Ti, because the same bytes are retrieved at any
    polling interval. It changes the loss, but not the weights. With 1/log Ti, which charges long dozes more
    than in proportion, it favours shorter dozes if many bytes are buffered. At the default energy of a byte
    both effects are small.

    Examples
    --------
    >>> import numpy as np
    >>> seen = Poll(slept_ms=100.0, buffered_bytes=1500, buffered_frames=1, arrivals=((50.0, 1500),))
    >>> loss = RetrievalEnergy(gamma=1e-5, energy="inverse", byte_uj=1.0, poll_mj=1.5)
    >>> published = 1e-5 * 1500 * 50 + 1 / 100
    >>> round(loss(seen, np.array([100.0])).item() - published, 9)  # 1.5 mJ more: as much as a poll
    0.01
    """

    name = "retrieval-energy"
    byte_uj: float = parameter(
        1.12,
        "energy e to retrieve a byte (default: 0.70 W above sleep for 8 bits at 5 Mbit/s)",
        unit="uJ",
        at_least=0.0,
        at_most=MAX_WEIGHT,
    )
    poll_mj: float = parameter(
        1.5, "energy p of a poll without buffered frames", unit="mJ", above=0.0, at_most=MAX_WEIGHT
    )

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), in nats."""
        losses = self._published(poll, times_ms)
        if not poll.buffered_bytes:
            return losses
        polls_per_ms = poll.buffered_bytes / poll.slept_ms * (self.byte_uj / (1000.0 * self.poll_mj))
        return losses + self.energy_term(times_ms) * (times_ms * polls_per_ms)
