"""What several subcommands read from their options."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.commands.shared_options import integer_between, parse_settings
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.policies.factory import with_loss


@given(st.integers())
def test_a_whole_number_is_read_or_refused_by_its_range(value: int) -> None:
    """Both ends included."""
    read = integer_between(1, 10)
    if 1 <= value <= 10:
        assert read(str(value)) == value
    else:
        with pytest.raises(ArgumentTypeError, match="must be an integer from 1 to 10"):
            read(str(value))


def test_settings_may_have_an_equals_sign_in_the_value() -> None:
    """Only the first one divides."""
    assert parse_settings(["a.b = 1", "c=x=y"]) == {"a.b": "1", "c": "x=y"}


@pytest.mark.parametrize("pair", ["a", "=1", "", " = "])
def test_what_is_no_setting_is_refused(pair: str) -> None:
    """With an example of one."""
    with pytest.raises(
        InputError, match=r"--set: invalid setting .*; expected key=value, e\.g\. links\.wired\.latency_ms=80"
    ):
        parse_settings([pair])


@pytest.mark.parametrize(
    ("policy", "loss", "expected"),
    [
        ("lpsm", "inverse", "lpsm:loss=inverse"),
        ("lpsm:", "inverse", "lpsm:loss=inverse"),
        ("lpsm:gamma=1", "1/Ti", "lpsm:gamma=1,loss=1/Ti"),
        ("lpsm", "max(1/Ti, 2)", "lpsm:loss=max(1/Ti, 2)"),
        ("lpsm", "my.py:Mine:a=1,b=2", "lpsm:loss=(my.py:Mine:a=1,b=2)"),
        ("psm", "inverse", "psm"),
    ],
)
def test_the_loss_is_written_into_every_lpsm(policy: str, loss: str, expected: str) -> None:
    """So that the result says what was run."""
    given = [Spec.parse(text, "policy") for text in (policy, "lpsm")]
    assert str(with_loss(given, loss)[0]) == expected
