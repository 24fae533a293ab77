"""Published losses of LPSM: latency plus 1/T, and latency plus 1/log T."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.losses.base import Loss
from psm_sim.poll import Poll

_GAMMA = "weight of a byte's waiting time against energy"


@dataclass
class _LatencyPlusEnergy(Loss):
    """Base class of ``gamma I Ti^2 / (2 T)`` plus an energy term that depends only on the candidate."""

    gamma: float

    def __post_init__(self) -> None:
        check_all(self, f"loss {self.name}")

    @abstractmethod
    def energy(self, times_ms: FloatArray) -> FloatArray:
        """Return the energy term of each candidate, shape (n,), in nats."""

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), in nats."""
        losses = self.energy(times_ms)
        if poll.buffered_bytes:
            losses += times_ms * times_ms * (self.gamma * poll.buffered_bytes / (2.0 * poll.slept_ms))
        return losses

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the energy term. Without buffered bytes the latency term is 0."""
        return self.energy(times_ms)


@dataclass
class InverseLoss(_LatencyPlusEnergy):
    """Latency plus 1/T: ``gamma I Ti^2 / (2 T) + 1 / Ti``, in nats.

    I is the number of buffered bytes, T the time slept in ms, and Ti the candidate in ms. See Monteleoni,
    "Online learning of non-stationary sequences", equation 2.35. The algorithm box of figure 2-4 prints T^2
    instead of Ti^2. This class follows the equation.
    """

    name = "inverse"
    gamma: float = parameter(1 / 1.2e5, _GAMMA, unit="nats/(byte ms)", above=0.0, at_most=MAX_WEIGHT)

    def at(self, poll: Poll, time_ms: float) -> float:
        """Return the loss of a single polling time, computed in the same order as by a call."""
        latency = time_ms * time_ms * (self.gamma * poll.buffered_bytes / (2.0 * poll.slept_ms))
        return latency + 1.0 / time_ms

    def energy(self, times_ms: FloatArray) -> FloatArray:
        """Return 1 / Ti."""
        return 1.0 / times_ms


@dataclass
class InverseLogLoss(_LatencyPlusEnergy):
    """Latency plus 1/log T: ``gamma I Ti^2 / (2 T) + 1 / log Ti``, in nats.

    Section 2.5.3 of the thesis has two energy terms, and 1 / log Ti is the larger one. The logarithm is
    natural, and Ti is in ms. Candidates must be longer than 1 ms.
    """

    name = "inverse-log"
    gamma: float = parameter(1 / 1.2e3, _GAMMA, unit="nats/(byte ms)", above=0.0, at_most=MAX_WEIGHT)

    def energy(self, times_ms: FloatArray) -> FloatArray:
        """Return 1 / log Ti."""
        return 1.0 / np.log(times_ms)
