"""Names of selective samplers: ``NAME`` or ``NAME:key=value,...`` makes a learner and its query rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.perceptrons import (
    BudgetPerceptron,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from psm_sim.lab.active.query_rule_wrappers import MinimumProbability, OneSided
from psm_sim.lab.active.query_rules import AlwaysQuery, BernoulliQuery, MarginCoin, QueryRule, SecondOrderCoin
from psm_sim.lab.active.second_order_learners import Lasec, RidgeRegression, SecondOrderPerceptron
from psm_sim.lab.active.selective import SelectiveSampler
from psm_sim.lab.active.threshold_query_rules import BbqNoveltyRule, DkmHalvingRule
from psm_sim.parameter_values import Parameter
from psm_sim.parameters import build, parameters_of
from psm_sim.registry import unknown_name_error


@dataclass(frozen=True)
class Recipe:
    """Recipe of a sampler: learner, rule, whether rows are scaled, and values that are not the defaults."""

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
    "cbgz": Recipe("CBGZ: margin coin and Perceptron", Perceptron, MarginCoin),
    "cbgz-reflection": Recipe("margin coin and reflection", ModifiedPerceptron, MarginCoin),
    "coin-perceptron": Recipe("fair coin and Perceptron", Perceptron, BernoulliQuery),
    "coin-reflection": Recipe("fair coin and reflection", ModifiedPerceptron, BernoulliQuery),
    "cbgz2": Recipe("second-order CBGZ", SecondOrderPerceptron, SecondOrderCoin),
    "cbgz2-coin": Recipe("second order, fixed bias", SecondOrderPerceptron, BernoulliQuery),
    "cbgz2-all": Recipe("second order, every label", SecondOrderPerceptron, AlwaysQuery),
    "lasec": Recipe("LASEC, every label", Lasec, AlwaysQuery, unit=False),
    "lasec-ss": Recipe("LASEC-SS: LASEC and margin coin", Lasec, MarginCoin, unit=False, fixed={"b": 0.01}),
    "lasec-coin": Recipe("LASEC and a coin", Lasec, BernoulliQuery, unit=False),
    "sop": Recipe("SOP, every label", SecondOrderPerceptron, AlwaysQuery, unit=False, fixed={"ridge": 10.0}),
    "sop-ss": Recipe(
        "SOP and margin coin", SecondOrderPerceptron, MarginCoin, unit=False, fixed={"ridge": 10.0}
    ),
    "sop-coin": Recipe(
        "SOP and a coin", SecondOrderPerceptron, BernoulliQuery, unit=False, fixed={"ridge": 10.0}
    ),
    "bbq": Recipe("BBQ: novelty rule and ridge regression", RidgeRegression, BbqNoveltyRule),
    "bbq-i": Recipe("BBQ-I: novelty rule, mistakes only", SecondOrderPerceptron, BbqNoveltyRule),
}
"""Every name, in the order of the specification's sections."""

_AROUND = {
    "floor": Parameter("floor", 0.0, "least query probability", at_least=0, at_most=1),
    "one_sided": Parameter("one_sided", False, "labels come by themselves at margins of 0 or more"),
}


def make_selective(
    spec: str | Spec, features: int, seed: int = 1, rng: np.random.Generator | None = None
) -> SelectiveSampler:
    """Return the sampler that *spec* names.

    Besides the parameters of its learner and its rule, each name takes ``floor`` (a least probability)
    and ``one_sided`` (true or false).

    Parameters
    ----------
    spec : str or Spec
        ``NAME`` or ``NAME:key=value,...``, such as ``cbgz2:b=0.03``.
    features : int
        The number of features, at least 1.
    seed : int
        Of the coin, where no *rng* is given.
    rng : numpy.random.Generator, optional
        The coin.

    Raises
    ------
    InputError
        If the name or a parameter is unknown, or a value lies outside its range.

    Examples
    --------
    >>> sampler = make_selective("cbgz:b=0.5", features=2)
    >>> decision = sampler.ask([3.0, 4.0])
    >>> decision.prediction, decision.probability, decision.query
    (1, 1.0, True)
    >>> sampler.tell([3.0, 4.0], -1), sampler.learner.w.tolist()
    (True, [-0.6, -0.8])
    """
    found = Spec.of(spec, "learner")
    name, texts = found.name, found.values
    if name not in NAMES:
        raise unknown_name_error("learner", name, list(NAMES))
    recipe, owner = NAMES[name], f"learner {name}"
    _check_known(name, texts)
    learner = _made(recipe.learner, recipe, texts, owner, features=features)
    rule = _around(_made(recipe.rule, recipe, texts, owner), texts, owner)
    return SelectiveSampler(learner, rule, seed=seed, rng=rng, unit=recipe.unit)


def sampler_parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters that a name takes, by their names."""
    recipe = NAMES[name]
    known = {**parameters_of(recipe.learner), **parameters_of(recipe.rule), **_AROUND}
    return {key: found for key, found in known.items() if key != "features"}


def _check_known(name: str, texts: Mapping[str, str]) -> None:
    known = sampler_parameters(name)
    for key in texts:
        if key not in known:
            raise InputError(f"learner {name} has no parameter {key!r}; expected {', '.join(known)}.")


def _made(cls: type, recipe: Recipe, texts: Mapping[str, str], owner: str, **given: Any) -> Any:
    """Make the learner or the rule from those texts and fixed values that are its own."""
    own = parameters_of(cls)
    fixed = {key: value for key, value in recipe.fixed.items() if key in own and key not in texts}
    return build(cls, {key: text for key, text in texts.items() if key in own}, owner, **fixed, **given)


def _around(rule: QueryRule, texts: Mapping[str, str], owner: str) -> QueryRule:
    values = {key: _AROUND[key].read(texts[key], owner) for key in _AROUND if key in texts}
    rule = OneSided(rule) if values.get("one_sided") else rule
    return MinimumProbability(values["floor"], rule) if values.get("floor") else rule
