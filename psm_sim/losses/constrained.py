"""As little energy as a target of delay allows: gamma is learned, too."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.losses.base import Floats
from psm_sim.losses.extended import Extended
from psm_sim.losses.poll import Poll
from psm_sim.parameters import parameter


@dataclass
class Constrained(Extended):
    """A published loss whose gamma is driven to where a held byte waits ``target_ms`` on average, in nats.

    The thesis (section 2.5.3) reads gamma as the Lagrange multiplier of a bound on latency in a
    minimisation of energy. Here it is found as such, by projected sub-gradient ascent (Zinkevich, "Online
    convex programming and generalized infinitesimal gradient ascent", ICML 2003, with a constant step):
    after a doze whose frames of b_k bytes have waited w_k ms,

        gamma <- min(max(gamma + step sum_k b_k (w_k - target_ms), 0), gamma_max).

    gamma / step is the virtual queue of drift-plus-penalty (Neely, "Stochastic network optimization",
    2010), which proves, without any assumption on traffic or learner: while gamma_max is not
    reached, the bytes held so far, B of them, have waited no more than target_ms + gamma / (step B) on
    average. A gamma that stays at gamma_max says that the target cannot be met. A byte that finds the
    station awake waits for nothing and does not count.

    Examples
    --------
    >>> loss = Constrained(target_ms=100.0, gamma=1e-5, step=1e-10)
    >>> loss.observe(Poll(slept_ms=300.0, held_bytes=500, held_frames=1, arrivals=((150.0, 500),)))
    >>> round(loss.multiplier, 9)  # 500 bytes waited 50 ms too long
    1.25e-05
    """

    name = "constrained"
    gamma: float = parameter(
        1e-5,
        "weight of a byte's waiting time against energy at the start of a run",
        unit="nats/(byte ms)",
        at_least=0.0,
    )
    target_ms: float = parameter(100.0, "how long a held byte may wait on average", unit="ms", above=0.0)
    step: float = parameter(
        3e-12, "how far gamma moves for each byte and ms above the target", unit="nats/(byte ms)^2", above=0.0
    )
    gamma_max: float = parameter(0.01, "gamma goes no higher", unit="nats/(byte ms)", above=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.start()

    @property
    def multiplier(self) -> float:
        """The gamma of the coming round; the parameter ``gamma`` is the one a run begins with."""
        return self._published.gamma

    def start(self) -> None:
        """Begin with the parameter's gamma."""
        self._published.gamma = min(self.gamma, self.gamma_max)

    def observe(self, poll: Poll) -> None:
        """Move gamma by how much longer than the target the held bytes have waited."""
        waits_ms = sum(size * (poll.slept_ms - offset_ms) for offset_ms, size in poll.arrivals)
        excess = waits_ms - self.target_ms * sum(size for _, size in poll.arrivals)
        self._published.gamma = min(max(self.multiplier + self.step * excess, 0.0), self.gamma_max)

    def __call__(self, poll: Poll, times_ms: Floats) -> Floats:
        """Return the loss of each candidate polling time in ms at the present gamma, shape (n,), in nats."""
        return self._published(poll, times_ms)
