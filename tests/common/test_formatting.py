"""Texts for people, and the words that errors have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import describe_error, did_you_mean
from psm_sim.common.formatting import flatten, format_duration, truncate


@given(st.text(), st.integers(3, 80))
def test_a_cut_text_is_never_longer_than_allowed(text: str, most: int) -> None:
    """It is the text itself where that fits, else its beginning and the mark."""
    shown = truncate(text, most, "...")
    assert len(shown) <= most
    assert shown == text or (shown.endswith("...") and text.startswith(shown[:-3]))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3.25, "3.2 seconds"), (119.9, "119.9 seconds"), (120, "2.0 minutes"), (9000, "2.5 hours")],
)
def test_a_duration_has_the_largest_unit_of_which_there_are_two(seconds: float, words: str) -> None:
    """Below two minutes it is given in seconds."""
    assert format_duration(seconds) == words


def test_a_short_duration_takes_the_word_it_is_given() -> None:
    """As tables abbreviate it."""
    assert format_duration(1.0, "s") == "1.0 s"
    assert format_duration(200_000, "s") == "2.3 days"


def test_nested_values_have_dotted_names() -> None:
    """At any depth, in their order."""
    assert list(flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3}).items()) == [
        ("a.b", 1),
        ("a.c.d", 2),
        ("e", 3),
    ]


def test_the_reason_of_an_error_is_one_line() -> None:
    """Its type and message, line breaks and runs of spaces folded."""
    assert describe_error(RuntimeError("two\n  lines")) == "RuntimeError: two lines"


def test_the_nearest_word_is_offered_if_one_is_near() -> None:
    """Else nothing is."""
    assert did_you_mean("invers", ["psm", "inverse"]) == " Did you mean 'inverse'?"
    assert did_you_mean("xyz", ["psm", "inverse"]) == ""
