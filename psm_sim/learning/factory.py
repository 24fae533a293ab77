"""Learners by name, or from a user's file."""

from __future__ import annotations

from typing import Any

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.learning.learner import Learner
from psm_sim.learning.switching_rates import switching_rates
from psm_sim.limits import MAX_WEIGHTS
from psm_sim.parameters import parameters_of
from psm_sim.registry import Registry

LEARNERS: Registry[Learner] = Registry(
    "learner",
    Learner,
    {
        "static-expert": "psm_sim.learning.learners:StaticExpert",
        "fixed-share": "psm_sim.learning.learners:FixedShare",
        "learn-alpha": "psm_sim.learning.learners:LearnAlpha",
    },
    "psm_sim.learners",
)
"""The learners that have a name; a new learner is one more line here."""


def make_learner(what: str | Spec, experts: int, horizon: int) -> Learner:
    """Return the learner that a text or spec names, its weights uniform.

    Parameters
    ----------
    what
        ``static-expert``, ``fixed-share:alpha=RATE``, ``learn-alpha`` or ``FILE.py:CLASS``.
    experts
        The number of experts, at least 1; given to the constructor as ``n_experts``.
    horizon
        The number of polls for which ``rates`` are chosen, where the constructor takes them.

    Raises
    ------
    InputError
        If there is no such learner, or a number or parameter cannot be used.
    """
    spec = Spec.of(what, "learner")
    wanted = parameters_of(LEARNERS.get(spec.name))
    given: dict[str, Any] = {"n_experts": experts}
    if "rates" in wanted:
        given["rates"] = switching_rates(horizon)
        if experts * given["rates"].size > MAX_WEIGHTS:
            raise InputError(
                f"learner {spec.name}: {experts} experts with {given['rates'].size} switching rates for "
                f"{horizon} polls are over {MAX_WEIGHTS:,} weights; give a shorter horizon or fewer experts."
            )
    return LEARNERS.create(spec, **given)
