"""Base class of losses that extend a published loss."""

from __future__ import annotations

from dataclasses import dataclass, field

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.losses.base import Loss
from psm_sim.losses.published import InverseLogLoss, InverseLoss

_PUBLISHED: dict[str, type[InverseLoss] | type[InverseLogLoss]] = {
    InverseLoss.name: InverseLoss,
    InverseLogLoss.name: InverseLogLoss,
}


@dataclass
class ExtendedLoss(Loss):
    """Loss that extends a published one, with its energy term and default ``gamma``.

    A subclass declares :attr:`gamma` again if its meaning differs.
    """

    gamma: float | None = parameter(
        None,
        "weight of a byte's waiting time against energy (none: published with the energy term)",
        unit="nats/(byte ms)",
        above=0.0,
        at_most=MAX_WEIGHT,
        optional=True,
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
        """Return the energy term, which no extension changes while no frame is buffered."""
        return self._published.idle(times_ms)

    def energy_term(self, times_ms: FloatArray) -> FloatArray:
        """Return the energy term of each candidate polling time, shape (n,), in nats."""
        return self._published.energy(times_ms)
