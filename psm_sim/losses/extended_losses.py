"""Losses that extend a published loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MS, MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.losses.base import Loss
from psm_sim.losses.published_losses import InverseLogLoss, InverseLoss
from psm_sim.poll import Poll

_PUBLISHED: dict[str, type[InverseLoss] | type[InverseLogLoss]] = {
    InverseLoss.name: InverseLoss,
    InverseLogLoss.name: InverseLogLoss,
}


@dataclass
class ExtendedLoss(Loss):
    """Base class of losses that use the energy term and the default ``gamma`` of a published loss."""

    gamma: float | None = parameter(
        None,
        "weight of a byte's waiting time against energy (none: published value for the energy term)",
        unit="nats/(byte ms)",
        above=0.0,
        at_most=MAX_WEIGHT,
    )
    energy: str = parameter(
        InverseLogLoss.name, "energy term, 1/Ti or 1/log Ti with Ti in ms", choices=tuple(_PUBLISHED)
    )
    _published: InverseLoss | InverseLogLoss = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_all(self, f"loss {self.name}")
        self._published = _PUBLISHED[self.energy]()
        if self.gamma is None:
            self.gamma = self._published.gamma
        self._published.gamma = self.gamma

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the energy term, which is the whole loss while no frame is buffered."""
        return self._published.idle(times_ms)

    def energy_term(self, times_ms: FloatArray) -> FloatArray:
        """Return the energy term of each candidate polling time, shape (n,), in nats."""
        return self._published.energy(times_ms)


@dataclass
class ArrivalAware(ExtendedLoss):
    """Loss from the arrival times of the frames: ``gamma sum_k b_k w_k(Ti)`` plus an energy term, in nats.

    Frame k, of b_k bytes, reached the access point a_k ms after the doze began. With a poll every Ti ms, the
    frame waits w_k(Ti) ms until the next multiple of Ti. If Ti is the time slept, T, the sum is the waiting
    time that the frames actually had. The published losses assume uniform arrivals and thus a sum of I T / 2
    (thesis, eq. 2.34), so gamma has the same meaning here. They are used for bytes without an arrival time.
    The thesis proposes this extension in section 2.5.5.

    The published losses multiply the number of buffered bytes by Ti / T, the share of a single poll (eq.
    2.35). This loss counts each byte with an arrival time once, or Ti / T times with ``scaled``.

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


@dataclass
class RetrievalEnergy(ExtendedLoss):
    """Published loss, in nats, with the energy term ``E(Ti) (1 + (I Ti / T) e / p)``.

    The published energy term E(Ti) describes polls of p joules. To retrieve a byte takes another e joules. If
    I bytes arrive in T ms, each of the polls at intervals of Ti ms retrieves I Ti / T bytes on average. The
    latency term and the meaning of gamma are as published. The thesis proposes this extension in section
    2.5.5.

    With E = 1/Ti the additional term is the same for every Ti, so it does not change the weights. With E =
    1/log Ti the additional term grows with Ti, so it favours shorter dozes if many bytes are buffered. With
    the default e it is small.

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


_MAX_EXPONENT = 700.0
"""Limit of the exponent, to avoid an overflow."""


@dataclass
class ConstrainedLoss(ExtendedLoss):
    """Published loss, in nats, whose gamma adapts until a buffered byte waits ``target_ms`` on average.

    The thesis (section 2.5.3) interprets gamma as the Lagrange multiplier of a latency bound in an energy
    minimisation. This loss determines gamma by sub-gradient ascent with multiplicative steps, projected onto
    a range (Kivinen and Warmuth, "Exponentiated gradient versus gradient descent for linear predictors",
    Information and Computation 132, 1997). After a doze whose frames of b_k bytes have waited w_k ms, the
    update is

        gamma <- gamma exp(step sum_k b_k (w_k - target_ms)), clipped to gamma_min .. gamma_max.

    log(gamma) / step is a virtual queue as in drift-plus-penalty (Neely, "Stochastic network optimization",
    2010). This proves two bounds without any assumption on traffic or learner. Let w be the average waiting
    time of the B bytes buffered so far, and b = target_ms + log(gamma / initial gamma) / (step B). If gamma
    has never reached gamma_max, w <= b. If it has never reached gamma_min, w >= b. Additive steps (Zinkevich,
    ICML 2003) have the same guarantee. But gamma spans orders of magnitude, and additive steps leave much of
    a generous target unused.

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
        if not self.gamma_min <= self.gamma <= self.gamma_max:
            raise InputError(
                f"loss constrained: gamma must be from gamma_min = {self.gamma_min:g} to gamma_max = "
                f"{self.gamma_max:g}, got {self.gamma:g}."
            )
        self.start()

    @property
    def multiplier(self) -> float:
        """Current gamma. The parameter ``gamma`` is its initial value."""
        return self._published.gamma

    def start(self) -> None:
        """Reset gamma to its initial value."""
        self._published.gamma = self.gamma
        self._waits, self._bytes = 0.0, 0

    def observe(self, poll: Poll) -> None:
        """Update gamma by the deviation of the waiting times from the target."""
        waits_ms = sum(size * (poll.slept_ms - offset_ms) for offset_ms, size in poll.arrivals)
        buffered = sum(size for _, size in poll.arrivals)
        self._waits, self._bytes = self._waits + waits_ms, self._bytes + buffered
        excess_byte_ms = waits_ms - self.target_ms * buffered
        factor = math.exp(min(max(self.step * excess_byte_ms, -_MAX_EXPONENT), _MAX_EXPONENT))
        self._published.gamma = min(max(self.multiplier * factor, self.gamma_min), self.gamma_max)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time at the current gamma, shape (n,), in nats."""
        return self._published(poll, times_ms)

    def report(self) -> dict[str, float]:
        """Return the average waiting time of the buffered bytes, the target, and the current gamma."""
        wait_ms = self._waits / self._bytes if self._bytes else 0.0
        return {"mean_wait_ms": wait_ms, "target_ms": self.target_ms, "gamma": self.multiplier}
