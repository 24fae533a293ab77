"""Method of a replay: learner, loss and clock, each made and checked before it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psm_sim.array_types import FloatArray
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.learning import Learner
from psm_sim.learning.factory import make_learner
from psm_sim.limits import MAX_S
from psm_sim.losses import LOSSES, Loss, check_loss, make_loss
from psm_sim.parameters import parameters_of, values_of
from psm_sim.replay.polling_clock import PollingGrid

THESIS_GAMMA = 1e-7


@dataclass(frozen=True)
class ReplayConfig:
    """Method by which activity is polled and learned from.

    Parameters
    ----------
    loss, gamma : what a polling time costs, and its weight of latency; None: 1e-7 as in the thesis.
    learner : ``static-expert``, ``fixed-share:alpha=RATE``, ``learn-alpha``, ``learn-alpha:compiled=yes`` (or
        auto) or ``FILE.py:CLASS``.
    horizon : the polls for which Learn-alpha's switching rates are chosen.
    clock : the experts and the grid of polling times.
    polls : how many polls at most; None: until every byte is fetched.
    max_gap_s : a longer silence is cut to this, in s; None: as it was.

    Attributes
    ----------
    tried_loss : the loss, made and tried on the experts.

    Raises
    ------
    InputError
        If any of them is unusable.
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
        if self.max_gap_s is not None and not 0 <= self.max_gap_s <= MAX_S:
            raise InputError(f"max_gap_s is {self.max_gap_s!r}; expected seconds from 0 to {MAX_S:g}.")

    def make_learner(self) -> Learner:
        """Return a learner that has learnt nothing."""
        return make_learner(self.learner, self.clock.times_ms.size, self.horizon)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter as a plain value; ``gamma`` is the loss's own, None if it has none."""
        return {
            "learner": str(self.learner),
            "horizon": self.horizon if Spec.of(self.learner, "learner").name == "learn-alpha" else None,
            "loss": self.loss.name if isinstance(self.loss, Loss) else str(self.loss),
            "gamma": values_of(self.tried_loss).get("gamma"),
            **values_of(self.clock),
            "polls": self.polls,
            "max_gap_s": self.max_gap_s,
        }


def replay_loss(what: str | Spec | Loss, gamma: float | None, times_ms: FloatArray) -> Loss:
    """Return a loss, tried on the experts.

    Parameters
    ----------
    what
        As for :func:`~psm_sim.losses.make_loss`.
    gamma
        Its weight of latency; ``None``: its own if *what* gives one, else the thesis's 1e-7.
    times_ms
        The experts' polling times, shape (n,), in ms.
    """
    if gamma is None and not isinstance(what, Loss) and _takes_gamma(what):
        gamma = THESIS_GAMMA
    loss = make_loss(what, gamma)
    check_loss(loss, times_ms)
    return loss


def _takes_gamma(what: str | Spec) -> bool:
    if not LOSSES.knows(str(what)):
        return True
    spec = Spec.of(what, "loss")
    return "gamma" in parameters_of(LOSSES.get(spec.name)) and "gamma" not in spec.values
