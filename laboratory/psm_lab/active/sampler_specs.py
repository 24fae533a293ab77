"""Named combinations of a learner and a query rule: ``NAME`` or ``NAME:key=value,...``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psm_lab.active.online_learner import OnlineLearner
from psm_lab.active.perceptrons import (
    BudgetPerceptron,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from psm_lab.active.query_rules import (
    AlwaysQuery,
    BbqNoveltyRule,
    BernoulliQuery,
    DkmHalvingRule,
    MarginQuery,
    OneSided,
    QueryRule,
    SecondOrderQuery,
)
from psm_lab.active.second_order_learners import Lasec, RidgeRegression, SecondOrderPerceptron
from psm_lab.active.selective_sampler import SelectiveSampler
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter, build, parameters_of
from psm_sim.common.registry import unknown_name_error


@dataclass(frozen=True)
class Recipe:
    """Recipe of a selective sampler.

    Attributes
    ----------
    learner, rule : type
        Classes of the learner and the query rule.
    unit : bool
        Whether instances are scaled to norm 1.
    fixed : mapping
        Parameter values that differ from the defaults of the classes.
    """

    learner: type[OnlineLearner]
    rule: type[QueryRule]
    unit: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)


NAMES: dict[str, Recipe] = {
    "perceptron": Recipe(Perceptron, AlwaysQuery),
    "modified-perceptron": Recipe(ModifiedPerceptron, AlwaysQuery),
    "shifting-perceptron": Recipe(ShiftingPerceptron, AlwaysQuery),
    "budget-perceptron": Recipe(BudgetPerceptron, AlwaysQuery),
    "dkm": Recipe(ModifiedPerceptron, DkmHalvingRule),
    "dkm-perceptron": Recipe(Perceptron, DkmHalvingRule, fixed={"start": "first"}),
    "cbgz": Recipe(Perceptron, MarginQuery),
    "cbgz-reflection": Recipe(ModifiedPerceptron, MarginQuery),
    "coin-perceptron": Recipe(Perceptron, BernoulliQuery),
    "coin-reflection": Recipe(ModifiedPerceptron, BernoulliQuery),
    "cbgz2": Recipe(SecondOrderPerceptron, SecondOrderQuery),
    "cbgz2-coin": Recipe(SecondOrderPerceptron, BernoulliQuery),
    "cbgz2-all": Recipe(SecondOrderPerceptron, AlwaysQuery),
    "lasec": Recipe(Lasec, AlwaysQuery, unit=False),
    "lasec-ss": Recipe(Lasec, MarginQuery, unit=False, fixed={"b": 0.01}),
    "lasec-coin": Recipe(Lasec, BernoulliQuery, unit=False),
    "sop": Recipe(SecondOrderPerceptron, AlwaysQuery, unit=False, fixed={"ridge": 10.0}),
    "sop-ss": Recipe(SecondOrderPerceptron, MarginQuery, unit=False, fixed={"ridge": 10.0}),
    "sop-coin": Recipe(SecondOrderPerceptron, BernoulliQuery, unit=False, fixed={"ridge": 10.0}),
    "bbq": Recipe(RidgeRegression, BbqNoveltyRule),
    "bbq-i": Recipe(SecondOrderPerceptron, BbqNoveltyRule),
}
"""Recipes by name, in the order of the sections of the specification."""

_ONE_SIDED = Parameter("one_sided", False, "labels at margins of 0 or more are free")


def make_selective(spec: str | Spec, features: int, seed: int = 1) -> SelectiveSampler:
    """Return the sampler for a spec.

    Each name accepts the parameters of its learner and its rule, and ``one_sided`` (true or false).

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
    parameters = sampler_parameters(name)
    for key in texts:
        if key not in parameters:
            raise InputError(f"{owner} has no parameter {key!r}; expected {', '.join(parameters)}.")
    learner = _build_part(recipe.learner, recipe, texts, owner, features=features)
    rule = _build_part(recipe.rule, recipe, texts, owner)
    if _ONE_SIDED.read(texts.get("one_sided", "false"), owner):
        rule = OneSided(rule)
    return SelectiveSampler(learner, rule, seed=seed, unit=recipe.unit)


def sampler_parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of a recipe by name."""
    recipe = NAMES[name]
    parameters = {**parameters_of(recipe.learner), **parameters_of(recipe.rule), _ONE_SIDED.name: _ONE_SIDED}
    return {key: parameter for key, parameter in parameters.items() if key != "features"}


def _build_part(cls: type, recipe: Recipe, texts: Mapping[str, str], owner: str, **arguments: Any) -> Any:
    """Create the learner or the rule of a recipe.

    *cls* is its class, *texts* has the values of the spec, *owner* names the recipe in error messages, and
    *arguments* has further arguments.
    """
    own = parameters_of(cls)
    fixed = {key: value for key, value in recipe.fixed.items() if key in own and key not in texts}
    return build(cls, {key: text for key, text in texts.items() if key in own}, owner, **fixed, **arguments)
