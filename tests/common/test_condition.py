"""A condition is read, judged and written in one way."""

from __future__ import annotations

import pytest

from psm_sim.common.parameters import Condition


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
