"""Validated configuration of a replay: learner, loss, and the experts' polling times."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any

from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MS, MAX_TIME_S
from psm_sim.common.parameters import check_all, parameter, parameters_of, values_of
from psm_sim.common.registry import Registry
from psm_sim.learning import Learner
from psm_sim.learning.factory import make_learner
from psm_sim.losses import LOSSES, Loss, check_loss, make_loss
from psm_sim.policies.helpers.polling_times import polling_times_ms

LEARNERS: Registry[Learner] = Registry(
    "learner",
    Learner,
    {
        "static-expert": "psm_sim.learning:StaticExpert",
        "fixed-share": "psm_sim.learning:FixedShare",
        "learn-alpha": "psm_sim.learning:LearnAlpha",
    },
    "psm_sim.learners",
)
"""Learners of a replay by name. LPSM has the parameter ``alpha`` instead of the first two."""


@dataclass(frozen=True)
class PollingGrid:
    """Parameters of the available polling times."""

    min_ms: float = parameter(
        100.0, "shortest polling time among the experts", unit="ms", at_least=1, at_most=MAX_MS
    )
    max_ms: float = parameter(
        1000.0, "longest polling time among the experts", unit="ms", at_least=1, at_most=MAX_MS
    )
    step_ms: float = parameter(
        100.0, "spacing of the experts' polling times", unit="ms", above=0, at_most=MAX_MS
    )

    def __post_init__(self) -> None:
        check_all(self, "experts")

    @property
    def times_ms(self) -> FloatArray:
        """Polling times of the experts in ms, shape (n,)."""
        return polling_times_ms(self.min_ms, self.max_ms, self.step_ms, "experts")

    @property
    def range_us(self) -> tuple[int, int]:
        """Shortest and longest polling time within the experts' range, in whole microseconds."""
        shortest, longest = (self.times_ms[[0, -1]] * 1e3).tolist()
        # The tolerance keeps polling times in the range despite rounding errors of the conversion.
        return max(1, ceil(shortest - 1e-9)), floor(longest + 1e-9)


THESIS_GAMMA = 1e-7
"""Latency weight gamma of the loss as stated in the thesis, in nats/(byte ms)."""


@dataclass(frozen=True)
class ReplayConfig:
    """Configuration of the learner and of the polling in a replay.

    Parameters
    ----------
    loss : str, Spec or Loss
        Loss of a polling time.
    gamma : float or None
        Latency weight of the loss; None uses 1e-7, as in the thesis.
    learner : str or Spec
        ``static-expert``, ``fixed-share:alpha=RATE``, ``learn-alpha`` or ``FILE.py:CLASS``.
    horizon : int
        Number of polls for which the switching rates of Learn-alpha are chosen.
    clock : PollingGrid
        Polling times of the experts.
    polls : int or None
        Maximum number of polls; None polls until all bytes are retrieved.
    max_gap_s : float or None
        Maximum length of an idle period, in seconds. Longer ones are shortened; None keeps them.

    Attributes
    ----------
    tried_loss : Loss
        The loss, validated on the polling times of the experts.

    Raises
    ------
    InputError
        If a parameter is invalid.
    """

    loss: str | Spec | Loss = "inverse"
    gamma: float | None = None
    learner: str | Spec = "learn-alpha"
    horizon: int = 27_000
    clock: PollingGrid = field(default_factory=PollingGrid)
    polls: int | None = None
    max_gap_s: float | None = None
    tried_loss: Loss = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.make_learner()
        loss = replay_loss(self.loss, self.gamma, self.clock.times_ms)
        object.__setattr__(self, "tried_loss", loss)
        if self.max_gap_s is not None and not 0 <= self.max_gap_s <= MAX_TIME_S:
            raise InputError(f"max_gap_s must be from 0 to {MAX_TIME_S:g} s, got {self.max_gap_s!r}.")

    def make_learner(self) -> Learner:
        """Return a new, untrained learner."""
        return make_learner(self.learner, self.clock.times_ms.size, self.horizon, LEARNERS)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters as plain values. ``gamma`` is None if the loss has none."""
        return {
            "learner": str(self.learner),
            "horizon": self.horizon if Spec.of(self.learner, "learner").name == "learn-alpha" else None,
            "loss": self.loss.name if isinstance(self.loss, Loss) else str(self.loss),
            "gamma": values_of(self.tried_loss).get("gamma"),
            **values_of(self.clock),
            "polls": self.polls,
            "max_gap_s": self.max_gap_s,
        }


def replay_loss(loss_spec: str | Spec | Loss, gamma: float | None, times_ms: FloatArray) -> Loss:
    """Return the loss of *loss_spec*, validated on *times_ms*; see :func:`~psm_sim.losses.make_loss`.

    If *gamma* is None, the gamma of *loss_spec* is used, or else 1e-7 as in the thesis.
    """
    if gamma is None and not isinstance(loss_spec, Loss) and _takes_gamma(loss_spec):
        gamma = THESIS_GAMMA
    loss = make_loss(loss_spec, gamma)
    check_loss(loss, times_ms)
    return loss


def _takes_gamma(loss_spec: str | Spec) -> bool:
    if not LOSSES.knows(str(loss_spec)):
        return True
    spec = Spec.of(loss_spec, "loss")
    return "gamma" in parameters_of(LOSSES.get(spec.name)) and "gamma" not in spec.values
