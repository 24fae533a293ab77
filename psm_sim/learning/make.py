"""Learners by name, or from a user's file."""

from __future__ import annotations

from collections.abc import Mapping

from psm_sim.errors import InputError
from psm_sim.learning.learner import Learner
from psm_sim.learning.learners import FixedShare, LearnAlpha, StaticExpert
from psm_sim.learning.rates import switching_rates
from psm_sim.parameters import Parameter
from psm_sim.registry import split_spec, unknown

LEARNERS = ("static-expert", "fixed-share", "learn-alpha")


def make_learner(spec: str, experts: int, horizon: int) -> Learner:
    """Return the learner that *spec* names, for *experts* experts.

    ``static-expert``, ``fixed-share:alpha=RATE``, or ``learn-alpha`` over the switching rates for *horizon*
    polls.
    """
    name, texts = split_spec(spec, "learner")
    if name == "fixed-share":
        return FixedShare(experts, _alpha(texts))
    if name not in LEARNERS:
        raise unknown("learner", name, list(LEARNERS))
    if texts:
        raise InputError(f"learner {name} has no parameter {next(iter(texts))!r}; expected none.")
    if name == "static-expert":
        return StaticExpert(experts)
    return LearnAlpha(experts, switching_rates(horizon))


def _alpha(texts: Mapping[str, str]) -> float:
    if list(texts) != ["alpha"]:
        given = ", ".join(texts) or "no parameter"
        raise InputError(f"learner fixed-share: {given} is given; expected fixed-share:alpha=RATE.")
    rate = Parameter("alpha", 0.0, at_least=0, at_most=1).read(texts["alpha"], "learner fixed-share")
    return float(rate)
