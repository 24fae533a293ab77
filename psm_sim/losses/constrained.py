"""Loss that learns gamma to minimise energy under a target delay."""

from __future__ import annotations

import math
from dataclasses import dataclass

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MS, MAX_WEIGHT
from psm_sim.common.parameters import parameter
from psm_sim.losses.extended_base import ExtendedLoss
from psm_sim.poll import Poll

_MAX_EXPONENT = 700.0
"""Limit of the exponent, to avoid an overflow."""


@dataclass
class ConstrainedLoss(ExtendedLoss):
    """Published loss, in nats, whose gamma adapts until a buffered byte waits ``target_ms`` on average.

    The thesis (section 2.5.3) interprets gamma as the Lagrange multiplier of a latency bound in an energy
    minimisation. This loss determines it by sub-gradient ascent with multiplicative steps, projected onto a
    range (Kivinen and Warmuth, "Exponentiated gradient versus gradient descent for linear predictors",
    Information and Computation 132, 1997). After a doze whose frames of b_k bytes have waited w_k ms, the
    update is

        gamma <- gamma exp(step sum_k b_k (w_k - target_ms)), clipped to gamma_min .. gamma_max.

    log(gamma) / step is a virtual queue as in drift-plus-penalty (Neely, "Stochastic network optimization",
    2010). This proves two bounds without any assumption on traffic or learner. Unless gamma_max was reached,
    the average waiting time of the B buffered bytes so far is at most target_ms + log(gamma / initial gamma)
    / (step B). Unless gamma_min was reached, it is at least this value. Additive steps (Zinkevich, ICML 2003)
    have the same guarantee. But gamma spans orders of magnitude, and additive steps leave much of a generous
    target unused.

    If gamma stays at gamma_max, the target cannot be met. If it stays at gamma_min, the target is never
    exceeded. Bytes that arrive while the station is awake do not wait and do not count.

    Examples
    --------
    >>> loss = ConstrainedLoss(target_ms=100.0, gamma=1e-5, step=1e-5)
    >>> loss.observe(Poll(slept_ms=300.0, buffered_bytes=500, buffered_frames=1, arrivals=((150.0, 500),)))
    >>> round(loss.multiplier / 1e-5, 6)  # exp(0.25): 500 bytes waited 50 ms too long
    1.284025
    """

    name = "constrained"
    gamma: float = parameter(
        1e-5,
        "initial weight of a byte's waiting time against energy",
        unit="nats/(byte ms)",
        above=0.0,
        at_most=MAX_WEIGHT,
    )
    target_ms: float = parameter(
        100.0, "target of the average waiting time of a buffered byte", unit="ms", above=0.0, at_most=MAX_MS
    )
    step: float = parameter(
        2e-7,
        "change of log gamma for each byte and ms above the target",
        unit="1/(byte ms)",
        above=0.0,
        at_most=1.0,
    )
    gamma_min: float = parameter(
        1e-9, "lower limit of gamma", unit="nats/(byte ms)", above=0.0, at_most=MAX_WEIGHT
    )
    gamma_max: float = parameter(
        0.01, "upper limit of gamma", unit="nats/(byte ms)", above=0.0, at_most=1e300
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma_max < self.gamma_min:
            raise InputError(
                f"loss constrained: gamma_max must be at least gamma_min ({self.gamma_min:g}), "
                f"got {self.gamma_max:g}."
            )
        self.start()

    @property
    def multiplier(self) -> float:
        """Current gamma. The parameter ``gamma`` is its initial value."""
        return self._published.gamma

    def start(self) -> None:
        """Reset gamma to its initial value."""
        self._published.gamma = self._clip(self.gamma)
        self._waits, self._bytes = 0.0, 0

    def observe(self, poll: Poll) -> None:
        """Update gamma by the deviation of the waiting times from the target."""
        waits_ms = sum(size * (poll.slept_ms - offset_ms) for offset_ms, size in poll.arrivals)
        buffered = sum(size for _, size in poll.arrivals)
        self._waits, self._bytes = self._waits + waits_ms, self._bytes + buffered
        excess_byte_ms = waits_ms - self.target_ms * buffered
        factor = math.exp(min(max(self.step * excess_byte_ms, -_MAX_EXPONENT), _MAX_EXPONENT))
        self._published.gamma = self._clip(self.multiplier * factor)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time at the current gamma, shape (n,), in nats."""
        return self._published(poll, times_ms)

    def report(self) -> dict[str, float]:
        """Return the average waiting time of the buffered bytes, the target, and the current gamma."""
        wait_ms = self._waits / self._bytes if self._bytes else 0.0
        return {"mean_wait_ms": wait_ms, "target_ms": self.target_ms, "gamma": self.multiplier}

    def _clip(self, gamma: float) -> float:
        return min(max(gamma, self.gamma_min), self.gamma_max)
