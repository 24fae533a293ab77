"""Parameters: parsing, checks and descriptions from one declaration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.parameters import Condition, build, check_all, parameter, parameters_of, values_of


@dataclass
class Thing:
    """Component with declared parameters."""

    share: float = parameter(0.5, "a share", above=0, at_most=1)
    count: int = parameter(3, "how many", unit="things", at_least=1)
    quick: bool = parameter(False, "or slow")
    colour: str = parameter("red", "to paint it", choices=("red", "blue"))
    cap: float | None = parameter(9.0, "largest", unit="s", at_least=0)
    limit: float | None = parameter(None, "none there", above=0)
    label: str = parameter("x", "any text")
    derived: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        check_all(self, "thing")


class Plain:
    """User-defined component without declared parameters."""

    def __init__(self, needed, gamma=1e-9, steps=4, limit=None, *rest, **others) -> None:
        self.needed, self.gamma, self.steps, self.limit = needed, gamma, steps, limit


@pytest.mark.parametrize(
    ("texts", "name", "value"),
    [
        ({"share": "0.25"}, "share", 0.25),
        ({"count": "17"}, "count", 17),
        ({"quick": "Yes"}, "quick", True),
        ({"colour": "blue"}, "colour", "blue"),
        ({"cap": "none"}, "cap", None),
        ({"cap": "0"}, "cap", 0.0),
        ({"limit": "2"}, "limit", 2.0),
        ({"label": "none"}, "label", "none"),
    ],
)
def test_a_text_is_converted_to_the_type_of_the_default(
    texts: dict[str, str], name: str, value: object
) -> None:
    built = getattr(build(Thing, texts, "thing"), name)
    assert built == value
    assert type(built) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("share", "0", "a number > 0 and <= 1"),
        ("share", "half", "a number > 0 and <= 1"),
        ("count", "2.0", "an integer >= 1"),
        ("quick", "maybe", "true or false"),
        ("colour", "Red", "one of red, blue"),
        ("limit", "0", "a number > 0, or none"),
    ],
)
def test_the_error_for_an_invalid_value_has_the_expected_values(name: str, text: str, expected: str) -> None:
    """The line has the component, the parameter, the value and the range."""
    with pytest.raises(InputError) as caught:
        build(Thing, {name: text}, "thing")
    assert str(caught.value) == f"thing: {name} must be {expected}, got {text!r}."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("share", 0), ("share", True), ("share", "0.5"), ("share", None), ("share", math.nan),
        ("share", np.float64(2)), ("count", 2.0), ("count", 10**400), ("quick", 1), ("colour", "green"),
        ("limit", "2"), ("limit", False),
    ],
)  # fmt: skip
def test_values_from_python_are_checked(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"^thing: {name} must be "):
        Thing(**{name: value})  # type: ignore[arg-type]


def test_the_error_for_an_unknown_parameter_suggests_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no parameter 'shar'; expected one of share, .*'share'\?"):
        build(Thing, {"shar": "1"}, "thing")
    with pytest.raises(InputError, match="no parameter 'x'; expected no parameters"):
        build(type("Empty", (), {}), {"x": "1"}, "thing")
    with pytest.raises(InputError, match="no parameter 'derived'"):
        build(Thing, {"derived": "1"}, "thing")


def test_the_parameters_of_a_class_without_declarations_follow_from_its_signature() -> None:
    """Numbers are converted if the default has no type."""
    plain = build(Plain, {"needed": "2", "gamma": "3", "steps": "5", "limit": "0.5"}, "plain")
    assert (plain.needed, plain.gamma, plain.steps, plain.limit) == (2, 3.0, 5, 0.5)
    assert build(Plain, {"needed": "two", "limit": "yes"}, "plain").limit is True
    assert list(parameters_of(Plain)) == ["needed", "gamma", "steps", "limit"]


def test_a_parameter_without_a_default_is_required() -> None:
    with pytest.raises(InputError, match="plain: needed is missing; specify needed=value"):
        build(Plain, {}, "plain")
    assert build(Plain, {}, "plain", needed=1).needed == 1


def test_setting_a_value_that_has_no_effect_is_an_error_unless_the_value_is_the_default() -> None:

    @dataclass
    class Timing:
        kind: str = parameter("random", "kind", choices=("clock", "random"))
        period_s: float = parameter(1.0, "period", above=0, requires="kind=clock")

    with pytest.raises(InputError, match=r"^timing: period_s has no effect without kind=clock; add it or"):
        build(Timing, {"period_s": "2"}, "timing")
    assert build(Timing, {"period_s": "2", "kind": "clock"}, "timing").period_s == 2.0
    assert build(Timing, {}, "timing", {"period_s": "2"}).period_s == 2.0
    assert build(Timing, {"period_s": "3"}, "timing", {"period_s": "2", "kind": "clock"}).period_s == 3.0


def test_an_error_raised_by_a_constructor_is_printed_on_one_line() -> None:

    class Failing:
        def __init__(self, kind: str = "") -> None:
            raise PluginError("own words") if kind == "own" else RuntimeError("two\nlines")

    with pytest.raises(InputError, match=r"failing cannot be created with \{\}: RuntimeError: two lines"):
        build(Failing, {}, "failing")
    with pytest.raises(PluginError, match=r"^own words$"):
        build(Failing, {"kind": "own"}, "failing")


def test_a_parameter_and_its_attribute_may_have_different_names() -> None:
    """Texts, errors and results have the name of the parameter, and Python that of the attribute."""

    @dataclass
    class Renamed:
        limit_s: float = parameter(1.0, "a limit", at_least=0, name="limit")

        def __post_init__(self) -> None:
            check_all(self, "renamed")

    assert build(Renamed, {"limit": "2"}, "renamed").limit_s == 2.0
    assert values_of(Renamed(3.0)) == {"limit": 3.0}
    with pytest.raises(InputError, match="no parameter 'limit_s'; expected limit"):
        build(Renamed, {"limit_s": "2"}, "renamed")
    with pytest.raises(InputError, match="renamed: limit must be a number >= 0, got -1"):
        Renamed(-1)


def test_values_are_returned_as_json_types() -> None:
    plain = Plain(np.float64(0.5), np.int64(3), True, print)
    values = values_of(plain)
    assert values == {"needed": 0.5, "gamma": 3, "steps": True, "limit": str(print)}
    assert [type(value) for value in values.values()] == [float, int, bool, str]


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
def test_meeting_any_alternative_of_a_condition_meets_the_condition(
    text: str, values: dict[str, object], met: bool
):
    condition = Condition.parse(text)
    assert condition.is_met(values) is met
    assert str(condition) == text
