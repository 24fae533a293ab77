"""Loss interface: the cost in nats that each polling time would have had."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.poll import Poll


class Loss(ABC):
    """Loss: what each candidate polling time would have cost in the interval just slept, in nats.

    A subclass gives a ``name`` and :meth:`__call__`. Its constructor's arguments are its parameters:
    they can be set from the command line and stand in the result. A loss can adapt while it is used
    (:meth:`observe`): each run works on a copy, and :meth:`start` begins it anew.
    """

    name: str = ""

    @abstractmethod
    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), finite, >= 0, in nats.

        *poll* is what the station saw at this wake-up, *times_ms* the candidates, shape (n,), in ms. The
        answer depends on these, the parameters and what :meth:`observe` was told; asking changes nothing.
        """

    def at(self, poll: Poll, time_ms: float) -> float:
        """Return the loss of a single polling time, in nats, to the last bit as a call has it."""
        return self(poll, np.array([time_ms])).item(0)

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the losses of a doze after which nothing was held, if they are the same for each; optional.

        Shape (n,), in nats, for the candidates *times_ms*, shape (n,), in ms; None if they depend on more.
        An answer promises as well that :meth:`observe` makes nothing of such a doze, so that many of them
        can be learned from at once.
        """
        return None

    def start(self) -> None:  # noqa: B027 (an optional hook)
        """Begin a run: forget what was observed; optional."""

    def observe(self, poll: Poll) -> None:  # noqa: B027 (an optional hook)
        """Take note of a doze that is over, after its losses were asked for; optional.

        A loss that adapts does so here. It is called for every doze, also for one that an uplink packet cut
        short, from which nothing is learned.
        """

    def report(self) -> dict[str, float]:
        """Return what the loss itself measured since :meth:`start`, by name with its unit; optional."""
        return {}
