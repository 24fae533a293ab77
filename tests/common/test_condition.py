"""A condition is read, judged and written in one way."""

from __future__ import annotations

import pytest

from psm_sim.common.condition import Condition


@pytest.mark.parametrize(
    ("text", "values", "met"),
    [
        ("loss", {"loss": 0.1}, True),
        ("loss", {"loss": 0.0}, False),
        ("loss", {"loss": None}, False),
        ("on", {"on": False}, False),
        ("kind=clock", {"kind": "clock"}, True),
        ("kind=clock", {"kind": "poisson"}, False),
        ("p=none", {"p": None}, True),
        ("kind=clock or kind=shift", {"kind": "shift"}, True),
        ("loss or kind=shift", {"loss": 0, "kind": "clock"}, False),
    ],
)
def test_a_condition_is_met_by_one_of_its_alternatives(text: str, values: dict[str, object], met: bool):
    condition = Condition.parse(text)
    assert condition.is_met(values) is met
    assert str(condition) == text


def test_names_get_the_section_that_they_lack() -> None:
    condition = Condition.parse("loss or access_point.group_per_s").within("beacon")
    assert str(condition) == "beacon.loss or access_point.group_per_s"


def test_the_error_names_the_parameter_and_the_condition() -> None:
    error = Condition.parse("p=none").error("policy anticipate", "trust")
    assert str(error) == "policy anticipate: trust has no effect without p=none; add it or remove trust."
