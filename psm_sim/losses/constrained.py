"""Constrained loss: as little energy as a target of delay allows; gamma is learned, too."""

from __future__ import annotations

import math
from dataclasses import dataclass

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.limits import MAX_MS, MAX_WEIGHT
from psm_sim.losses.extended_base import ExtendedLoss
from psm_sim.parameters import parameter
from psm_sim.poll import Poll

_FAR = 700.0


@dataclass
class ConstrainedLoss(ExtendedLoss):
    """A published loss whose gamma is driven to where a held byte waits ``target_ms`` on average, in nats.

    The thesis (section 2.5.3) reads gamma as the Lagrange multiplier of a bound on latency in a
    minimisation of energy. Here it is found as such, by sub-gradient ascent with multiplicative steps
    (Kivinen and Warmuth, "Exponentiated gradient versus gradient descent for linear predictors", Information
    and Computation 132, 1997), projected onto a range: after a doze whose frames of b_k bytes have waited
    w_k ms,

        gamma <- gamma exp(step sum_k b_k (w_k - target_ms)), kept within gamma_min .. gamma_max.

    log(gamma) / step is a virtual queue as in drift-plus-penalty (Neely, "Stochastic network optimization",
    2010). It proves, without any assumption on traffic or learner: unless gamma_max was reached,
    the B bytes held so far have waited no more than target_ms + log(gamma / gamma at the start) / (step B) on
    average; and exactly that, unless gamma_min was reached. Additive steps (Zinkevich, ICML 2003) prove
    the same, but gamma spans orders of magnitude, and they leave much of a generous target unused.

    A gamma that stays at gamma_max says that the target cannot be met, one at gamma_min that it is never
    exceeded. A byte that finds the station awake waits for nothing and does not count.

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
        "weight of a byte's waiting time against energy at the start of a run",
        unit="nats/(byte ms)",
        above=0.0,
        at_most=MAX_WEIGHT,
    )
    target_ms: float = parameter(
        100.0, "the average time that a held byte is allowed to wait", unit="ms", above=0.0, at_most=MAX_MS
    )
    step: float = parameter(
        2e-7,
        "how far log gamma moves for each byte and ms above the target",
        unit="1/(byte ms)",
        above=0.0,
        at_most=1.0,
    )
    gamma_min: float = parameter(
        1e-9, "gamma goes no lower", unit="nats/(byte ms)", above=0.0, at_most=MAX_WEIGHT
    )
    gamma_max: float = parameter(
        0.01, "gamma goes no higher", unit="nats/(byte ms)", above=0.0, at_most=1e300
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma_max < self.gamma_min:
            raise InputError(
                f"loss constrained: gamma_max is {self.gamma_max:g}; expected at least gamma_min, which is "
                f"{self.gamma_min:g}."
            )
        self.start()

    @property
    def multiplier(self) -> float:
        """The gamma of the coming round; the parameter ``gamma`` is the one a run begins with."""
        return self._published.gamma

    def start(self) -> None:
        """Begin with the parameter's gamma."""
        self._published.gamma = self._in_range(self.gamma)
        self._waits, self._bytes = 0.0, 0

    def observe(self, poll: Poll) -> None:
        """Move gamma by how much longer than the target the held bytes have waited."""
        waits_ms = sum(size * (poll.slept_ms - offset_ms) for offset_ms, size in poll.arrivals)
        buffered = sum(size for _, size in poll.arrivals)
        self._waits, self._bytes = self._waits + waits_ms, self._bytes + buffered
        excess = waits_ms - self.target_ms * buffered
        change = math.exp(min(max(self.step * excess, -_FAR), _FAR))
        self._published.gamma = self._in_range(self.multiplier * change)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time in ms at the present gamma, shape (n,), in nats."""
        return self._published(poll, times_ms)

    def report(self) -> dict[str, float]:
        """Return the mean wait of the bytes held so far, beside the target, and the gamma reached."""
        wait_ms = self._waits / self._bytes if self._bytes else 0.0
        return {"mean_wait_ms": wait_ms, "target_ms": self.target_ms, "gamma": self.multiplier}

    def _in_range(self, gamma: float) -> float:
        return min(max(gamma, self.gamma_min), self.gamma_max)
