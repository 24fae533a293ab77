"""Method of a replay: learner, loss and clock, each made and checked before it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psm_sim.errors import InputError
from psm_sim.learning import Learner
from psm_sim.learning.checks import Floats
from psm_sim.learning.make import make_learner
from psm_sim.losses import LOSSES, Loss, check_loss, make_loss
from psm_sim.parameters import parameters_of, values_of
from psm_sim.registry import is_file, split_spec
from psm_sim.replay.clock import Clock

THESIS_GAMMA = 1e-7


@dataclass(frozen=True)
class Method:
    """Method by which activity is polled and learned from.

    Parameters
    ----------
    loss, gamma : what a polling time costs, and its weight of latency; None: 1e-7 as in the thesis.
    learner : ``static-expert``, ``fixed-share:alpha=RATE`` or ``learn-alpha``.
    horizon : the number of polls for which Learn-alpha's switching rates are chosen.
    clock : the experts and the grid of polling times.
    polls : the largest number of polls; None: until every byte is fetched.
    max_gap_s : seconds to which a longer silence is cut; None: silences are not cut.

    Raises
    ------
    InputError
        If any of them is unusable.
    """

    loss: str | Loss = "inverse"
    gamma: float | None = None
    learner: str = "learn-alpha"
    horizon: int = 27_000
    clock: Clock = field(default_factory=Clock)
    polls: int | None = None
    max_gap_s: float | None = None

    def __post_init__(self) -> None:
        self.make_learner()
        self.make_loss()
        if self.max_gap_s is not None and not 0 <= self.max_gap_s < 1e12:
            raise InputError(f"max_gap_s is {self.max_gap_s!r}; expected a number of seconds of at least 0.")

    def make_learner(self) -> Learner:
        """Return a learner that has learnt nothing."""
        return make_learner(self.learner, self.clock.times_ms.size, self.horizon)

    def make_loss(self) -> Loss:
        """Return the loss, tried on the experts."""
        return replay_loss(self.loss, self.gamma, self.clock.times_ms)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter as a plain value; ``gamma`` is the loss's own, None if it has none."""
        loss = self.make_loss()
        return {
            "learner": self.learner,
            "horizon": self.horizon if self.learner == "learn-alpha" else None,
            "loss": self.loss if isinstance(self.loss, str) else loss.name,
            "gamma": values_of(loss).get("gamma"),
            **values_of(self.clock),
            "polls": self.polls,
            "max_gap_s": self.max_gap_s,
        }


def replay_loss(what: str | Loss, gamma: float | None, times_ms: Floats) -> Loss:
    """Return the loss that *what* names, tried on the experts; without a gamma it has the thesis's 1e-7."""
    if gamma is None and isinstance(what, str) and _takes_gamma(what):
        gamma = THESIS_GAMMA
    loss = make_loss(what, gamma)
    check_loss(loss, times_ms)
    return loss


def _takes_gamma(what: str) -> bool:
    if what.partition(":")[0] in LOSSES.names() or is_file(what):
        name, texts = split_spec(what, "loss")
        return "gamma" in parameters_of(LOSSES.get(name)) and "gamma" not in texts
    return True
