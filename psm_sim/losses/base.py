"""The interface of a loss: what a polling time would have cost, in nats."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from psm_sim.losses.poll import Poll

Floats = NDArray[np.float64]


class Loss(ABC):
    """What each candidate polling time would have cost in the interval just slept.

    A subclass gives a ``name`` and :meth:`__call__`. Its constructor's arguments are its parameters:
    they can be set from the command line and stand in the result.
    """

    name: str = ""

    @abstractmethod
    def __call__(self, poll: Poll, times_ms: Floats) -> Floats:
        """Return the loss of each candidate polling time, shape (n,), finite, >= 0, in nats.

        *poll* is what the station saw at this wake-up, *times_ms* the candidates, shape (n,), in ms.
        """
