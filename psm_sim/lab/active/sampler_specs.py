"""Named combinations of a learner and a query rule: ``NAME`` or ``NAME:key=value,...``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter, build, parameters_of
from psm_sim.common.registry import unknown_name_error
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.perceptrons import (
    BudgetPerceptron,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from psm_sim.lab.active.query_rules import (
    AlwaysQuery,
    BbqNoveltyRule,
    BernoulliQuery,
    DkmHalvingRule,
    MarginQuery,
    MinimumProbability,
    OneSided,
    QueryRule,
    SecondOrderQuery,
)
from psm_sim.lab.active.second_order_learners import Lasec, RidgeRegression, SecondOrderPerceptron
from psm_sim.lab.active.selective_sampler import SelectiveSampler


@dataclass(frozen=True)
class Recipe:
    """Recipe of a selective sampler.

    Attributes
    ----------
    about : str
        Short description.
    learner, rule : type
        Classes of the learner and the query rule.
    unit : bool
        Whether instances are scaled to norm 1.
    fixed : mapping
        Parameter values that differ from the defaults of the classes.
    """

    about: str
    learner: type[OnlineLearner]
    rule: type[QueryRule]
    unit: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)


NAMES: dict[str, Recipe] = {
    "perceptron": Recipe("Perceptron, every label", Perceptron, AlwaysQuery),
    "modified-perceptron": Recipe("modified Perceptron, every label", ModifiedPerceptron, AlwaysQuery),
    "shifting-perceptron": Recipe("shifting Perceptron, every label", ShiftingPerceptron, AlwaysQuery),
    "budget-perceptron": Recipe("randomized budget Perceptron, every label", BudgetPerceptron, AlwaysQuery),
    "dkm": Recipe("DKM: halving band and reflection", ModifiedPerceptron, DkmHalvingRule),
    "dkm-perceptron": Recipe(
        "halving band, Perceptron from y0 x0", Perceptron, DkmHalvingRule, fixed={"start": "first"}
    ),
    "cbgz": Recipe("CBGZ: margin rule and Perceptron", Perceptron, MarginQuery),
    "cbgz-reflection": Recipe("margin rule and reflection", ModifiedPerceptron, MarginQuery),
    "coin-perceptron": Recipe("fixed probability and Perceptron", Perceptron, BernoulliQuery),
    "coin-reflection": Recipe("fixed probability and reflection", ModifiedPerceptron, BernoulliQuery),
    "cbgz2": Recipe("second-order CBGZ", SecondOrderPerceptron, SecondOrderQuery),
    "cbgz2-coin": Recipe("second order, fixed probability", SecondOrderPerceptron, BernoulliQuery),
    "cbgz2-all": Recipe("second order, every label", SecondOrderPerceptron, AlwaysQuery),
    "lasec": Recipe("LASEC, every label", Lasec, AlwaysQuery, unit=False),
    "lasec-ss": Recipe("LASEC-SS: LASEC and margin rule", Lasec, MarginQuery, unit=False, fixed={"b": 0.01}),
    "lasec-coin": Recipe("LASEC, fixed probability", Lasec, BernoulliQuery, unit=False),
    "sop": Recipe("SOP, every label", SecondOrderPerceptron, AlwaysQuery, unit=False, fixed={"ridge": 10.0}),
    "sop-ss": Recipe(
        "SOP and margin rule", SecondOrderPerceptron, MarginQuery, unit=False, fixed={"ridge": 10.0}
    ),
    "sop-coin": Recipe(
        "SOP, fixed probability", SecondOrderPerceptron, BernoulliQuery, unit=False, fixed={"ridge": 10.0}
    ),
    "bbq": Recipe("BBQ: novelty rule and ridge regression", RidgeRegression, BbqNoveltyRule),
    "bbq-i": Recipe("BBQ-I: novelty rule, mistakes only", SecondOrderPerceptron, BbqNoveltyRule),
}
"""Recipes by name, in the order of the sections of the specification."""

_WRAPPER_PARAMETERS = {
    "floor": Parameter("floor", 0.0, "minimum query probability", at_least=0, at_most=1),
    "one_sided": Parameter("one_sided", False, "labels at margins of 0 or more are free"),
}


def make_selective(spec: str | Spec, features: int, seed: int = 1) -> SelectiveSampler:
    """Return the sampler for a spec.

    In addition to the parameters of its learner and its rule, each name accepts ``floor`` (a minimum
    probability) and ``one_sided`` (true or false).

    Parameters
    ----------
    spec : str or Spec
        ``NAME`` or ``NAME:key=value,...``, for example ``cbgz2:b=0.03``.
    features : int
        Number of features, at least 1.
    seed : int
        Seed of the Bernoulli draws.

    Raises
    ------
    InputError
        If the name or a parameter is unknown, or a value is outside its range.

    Examples
    --------
    >>> sampler = make_selective("cbgz:b=0.5", features=2)
    >>> decision = sampler.ask([3.0, 4.0])
    >>> decision.prediction, decision.probability, decision.query
    (1, 1.0, True)
    >>> sampler.tell([3.0, 4.0], -1), sampler.learner.w.tolist()
    (True, [-0.6, -0.8])
    """
    parsed = Spec.of(spec, "learner")
    name, texts = parsed.name, parsed.values
    if name not in NAMES:
        raise unknown_name_error("learner", name, list(NAMES))
    recipe, owner = NAMES[name], f"learner {name}"
    _check_parameters(name, texts)
    learner = _build_part(recipe.learner, recipe, texts, owner, features=features)
    rule = _wrap_rule(_build_part(recipe.rule, recipe, texts, owner), texts, owner)
    return SelectiveSampler(learner, rule, seed=seed, unit=recipe.unit)


def sampler_parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of a recipe by name."""
    recipe = NAMES[name]
    parameters = {**parameters_of(recipe.learner), **parameters_of(recipe.rule), **_WRAPPER_PARAMETERS}
    return {key: parameter for key, parameter in parameters.items() if key != "features"}


def _check_parameters(name: str, texts: Mapping[str, str]) -> None:
    parameters = sampler_parameters(name)
    for key in texts:
        if key not in parameters:
            raise InputError(f"learner {name} has no parameter {key!r}; expected {', '.join(parameters)}.")


def _build_part(cls: type, recipe: Recipe, texts: Mapping[str, str], owner: str, **arguments: Any) -> Any:
    """Create the learner or the rule of a recipe.

    *cls* is its class, *texts* has the values of the spec, *owner* names the recipe in error messages, and
    *arguments* has further arguments.
    """
    own = parameters_of(cls)
    fixed = {key: value for key, value in recipe.fixed.items() if key in own and key not in texts}
    return build(cls, {key: text for key, text in texts.items() if key in own}, owner, **fixed, **arguments)


def _wrap_rule(rule: QueryRule, texts: Mapping[str, str], owner: str) -> QueryRule:
    values = {
        key: _WRAPPER_PARAMETERS[key].read(texts[key], owner) for key in _WRAPPER_PARAMETERS if key in texts
    }
    rule = OneSided(rule) if values.get("one_sided") else rule
    return MinimumProbability(values["floor"], rule) if values.get("floor") else rule
