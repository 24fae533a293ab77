"""Registry of the learners."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, cast

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.input_limits import MAX_WEIGHTS
from psm_sim.common.parameters import parameters_of
from psm_sim.common.registry import Registry
from psm_sim.common.user_code_guards import Guard, WrongResultError, component_name
from psm_sim.learning.learner import Learner
from psm_sim.learning.switching_rates import switching_rates

LEARNERS: Registry[Learner] = Registry(
    "learner",
    Learner,
    {"learn-alpha": "psm_sim.learning.learn_alpha:LearnAlpha"},
    "psm_sim.learners",
)
"""Built-in learners by name. A new learner needs one line here."""


def make_learner(
    learner: str | Spec, experts: int, horizon: int, registry: Registry[Learner] = LEARNERS
) -> Learner:
    """Return the learner that a text or spec describes, with uniform weights.

    Parameters
    ----------
    learner : str or Spec
        ``learn-alpha``, the name of an installed package, or ``FILE.py:CLASS``.
    experts : int
        Number of experts, at least 1, passed to the constructor as ``n_experts``.
    horizon : int
        Number of rounds for which ``rates`` are optimised, if the constructor has this parameter.
    registry : Registry
        Learners by name.

    Raises
    ------
    InputError
        If the learner is unknown, or a number or parameter is invalid.
    """
    spec = Spec.of(learner, "learner")
    parameters = parameters_of(registry.get(spec.name))
    arguments: dict[str, Any] = {"n_experts": experts}
    if "rates" in parameters:
        arguments["rates"] = switching_rates(horizon)
        if experts * arguments["rates"].size > MAX_WEIGHTS:
            raise InputError(
                f"learner {spec.name}: {experts} experts with {arguments['rates'].size} switching rates for "
                f"{horizon} polls exceed {MAX_WEIGHTS:,} weights; use a shorter horizon or fewer experts."
            )
    return registry.create(spec, **arguments)


def guarded_learner(learner: Learner) -> Learner:
    """Return a built-in learner unchanged, and a guard of a user-defined learner."""
    if type(learner).__module__.startswith("psm_sim."):
        return learner
    checks = {"update": _checked_number, "predict": _checked_number}
    return cast(Learner, Guard(learner, f"Learner {component_name(learner)}", checks))


def _checked_number(value: Any, *_: Any) -> float:
    if not isinstance(value, Real) or math.isnan(value):
        raise WrongResultError(f"{safe_repr(value)}; expected a number")
    return float(value)
