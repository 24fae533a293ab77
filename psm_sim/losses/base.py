"""Interface of losses, in nats, of candidate polling times."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.poll import Poll


class Loss(ABC):
    """Base class of losses. A loss computes a cost of each candidate polling time for the last doze.

    A subclass defines a ``name`` and :meth:`__call__`. The arguments of its constructor are its parameters,
    which can be set from the command line and appear in the result. All other methods are optional hooks. A
    loss may adapt during a run (:meth:`observe`). A third argument ``context=Context()`` of :meth:`__call__`
    receives the :class:`~psm_sim.losses.Context` of the doze. Each run uses a copy of the loss, and
    :meth:`start` resets the copy.

    Examples
    --------
    >>> class PerByte(Loss):
    ...     name = "per-byte"
    ...
    ...     def __call__(self, poll, times_ms):
    ...         return 1e-6 * poll.buffered_bytes * times_ms + 1 / times_ms
    >>> PerByte()(Poll(100.0, buffered_bytes=1500), np.array([100.0, 200.0])).round(3).tolist()
    [0.16, 0.305]
    """

    name: str = ""
    """Name of the loss in results."""
    per: str = "doze"
    """``"doze"`` or ``"page"``: whether a round is a doze, or a page and the idle time after it.

    A page is a period of activity, as the station observes it. LPSM calls the loss of a page when the next
    page begins. The poll then describes the page and the idle time after it, with the total time slept and
    all frames. The context has the delay that each candidate would have added.
    """

    @abstractmethod
    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, in nats.

        The result must depend only on the arguments, the parameters and the dozes that :meth:`observe` has
        received. A call must not change the loss.

        Parameters
        ----------
        poll : Poll
            Observation at the wake-up.
        times_ms : ndarray, shape (n,)
            Candidate polling times, in ms. Must not be modified.

        Returns
        -------
        ndarray, shape (n,)
            Finite losses, 0 or more.
        """

    def at(self, poll: Poll, time_ms: float) -> float:
        """Return the loss of a single polling time in nats, bit-for-bit equal to the result of a call.

        Parameters
        ----------
        poll : Poll
            Observation at the wake-up.
        time_ms : float
            Polling time, in ms.
        """
        return self(poll, np.array([time_ms])).item(0)

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the losses of every doze without buffered frames, or None if they vary (optional hook).

        A policy then learns many such dozes at once, in a fraction of the time. A loss that returns an array
        guarantees that a call returns this array for every doze without buffered frames, and that
        :meth:`observe` ignores such dozes. For a user-defined loss, the array is compared with the results of
        20 calls.

        Parameters
        ----------
        times_ms : ndarray, shape (n,)
            Candidate polling times, in ms.

        Returns
        -------
        ndarray, shape (n,), or None
            Losses in nats; None if they depend on anything but *times_ms*.
        """
        return None

    def start(self) -> None:  # noqa: B027 (an optional hook)
        """Handle the start of a run: forget all observations (optional hook)."""

    def observe(self, poll: Poll) -> None:  # noqa: B027 (an optional hook)
        """Handle the end of a doze (optional hook).

        Called after the losses of the doze have been computed. Also called for a doze that an uplink packet
        interrupted, from which LPSM does not learn by default.

        Parameters
        ----------
        poll : Poll
            Observation at the end of the doze.
        """

    def report(self) -> dict[str, float]:
        """Return the loss's own measurements since :meth:`start`, by name with unit (optional hook)."""
        return {}
