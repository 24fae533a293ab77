"""Specs of samplers: learner, query rule and parameters."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.active import QueryRule, SelectiveSampler, make_selective
from psm_lab.active.perceptrons import Perceptron
from psm_lab.active.query_rules import (
    BernoulliQuery,
    DkmHalvingRule,
)
from psm_lab.active.sampler_specs import NAMES, sampler_parameters

from psm_sim.common.errors import InputError, PluginError


def test_the_name_of_a_sampler_sets_the_parameters_of_the_learner_and_the_rule():
    """The part that declares a parameter gets its value; the name may have its own defaults."""
    sampler = make_selective("dkm-perceptron:R=8,eta=0.1,s1=none", 3)
    assert isinstance(sampler.learner, Perceptron)
    assert isinstance(sampler.rule, DkmHalvingRule)
    assert (sampler.learner.eta, sampler.learner.start, sampler.rule.R, sampler.rule.s) == (
        0.1,
        "first",
        8,
        1.0,
    )
    assert make_selective("sop", 3).learner.ridge == 10
    assert make_selective("lasec-ss", 3).rule.b == 0.01
    assert make_selective("lasec:c=none", 3).learner.c is None
    assert make_selective("cbgz", 3).rule.b == 0.1


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_sampler_is_documented_and_can_be_set_to_its_default(name):
    for key, parameter in sampler_parameters(name).items():
        assert parameter.help, key
        text = str(parameter.default).lower()
        make_selective(f"{name}:{key}={text}", 3)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("dkn", "Unknown learner 'dkn'; expected one of .* Did you mean 'dkm'"),
        ("dkm:b=1", "learner dkm has no parameter 'b'; expected factor, R, s1, one_sided"),
        ("lasec:ridge=10,c=5", "c must be > ridge=10.0 or none, got 5.0"),
    ],
)
def test_a_wrong_name_or_parameter_is_an_error_of_one_sentence(spec, words):
    """The message has the value and the expected values."""
    with pytest.raises(InputError, match=words) as caught:
        make_selective(spec, 3)
    assert "\n" not in str(caught.value)


class Broken(QueryRule):
    """User-defined rule that returns no probability."""

    name = "broken"

    def query_probability(self, x, margin, spread):
        """Return twice what is allowed."""
        return 2.0


def test_the_error_for_a_rule_with_an_invalid_probability_names_the_rule():
    """Single rounds and runs raise the error."""
    sampler = SelectiveSampler(Perceptron(2), Broken())
    for call in (lambda: sampler.ask([1.0, 0.0]), lambda: sampler.run([[1.0, 0.0]], [1])):
        with pytest.raises(
            PluginError, match=r"broken: the query probability must be between 0 and 1, got 2.0"
        ):
            call()


def test_a_label_belongs_to_the_latest_query_even_if_the_instance_array_has_changed():
    x = np.array([1.0, 0.0])
    sampler = SelectiveSampler(Perceptron(2), BernoulliQuery(p=1.0))
    sampler.ask(x)
    x[:] = 5.0
    sampler.tell(x, -1)
    assert sampler.learner.w.tolist() == [-1.0, 0.0]
    other = np.array([0.0, 1.0])
    sampler.ask(x)
    sampler.ask(other)
    sampler.tell(x, 1)
    assert sampler.learner.w.tolist() == [4.0, 5.0]
    assert sampler.n_queries_ == 2
