"""Formats of numbers and durations in texts."""

from __future__ import annotations

import pytest

from psm_sim.common.formatting import (
    decimals_of,
    format_half_width,
    format_number,
    format_range,
    format_seconds,
    pluralize,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0312, "31.2 ms"),
        (0.9996, "1.00 s"),
        (119.9, "120 s"),
        (120, "2.0 minutes"),
        (9000, "2.5 hours"),
        (360_000, "4.2 days"),
    ],
)
def test_a_duration_is_in_the_largest_unit_with_a_value_of_at_least_two(seconds: float, words: str) -> None:
    """The unit is a second below two minutes, and a millisecond below one second."""
    assert format_seconds(seconds) == words


def test_an_unrounded_duration_keeps_all_of_its_digits() -> None:
    assert [format_seconds(limit_s, None) for limit_s in (1, 0.3, 0.3005)] == ["1 s", "300 ms", "300.5 ms"]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([0.5, 0.0123], ["0.500", "0.012"]),
        ([0.0123], ["0.0123"]),
        ([40.704, 3.6], ["40.70", "3.60"]),
        ([545.24, 0.0, -0.01], ["545.24", "0.00", "-0.01"]),
        ([545.24, 0.0, float("nan")], ["545.2", "0.0", "-"]),
        ([12345.6], ["12,346"]),
    ],
)
def test_all_numbers_of_a_column_have_the_same_number_of_decimals(
    values: list[float], cells: list[str]
) -> None:
    """The largest number has four digits, or five if the smallest would have fewer than three."""
    assert [format_number(value, decimals_of(values)) for value in values] == cells


@pytest.mark.parametrize(
    ("means", "widths", "texts"),
    [
        ([2.918], [0.00014], ["2.918 <0.001"]),
        ([12.04, 30.5], [23.5, 31.0], ["12.0 23.5", "30.5 31.0"]),
        ([12.04, 3.5], [23.5, 31.0], ["12.04 23.50", "3.50 31.00"]),
        ([40.704, 2.9], [0.31, 0.012], ["40.70 0.31", "2.90 0.01"]),
        ([1.0, 2.313], [0.0, 0.14], ["1.00 ", "2.31 0.14"]),
    ],
)
def test_a_mean_has_as_many_decimals_as_its_interval(
    means: list[float], widths: list[float], texts: list[str]
) -> None:
    """The smallest half-width has two digits, and the numbers have three. A width of 0 is not shown."""
    decimals = decimals_of(means, widths)
    pairs = zip(means, widths, strict=True)
    shown = [f"{format_number(mean, decimals)} {format_half_width(width, decimals)}" for mean, width in pairs]
    assert shown == texts


def test_an_interval_is_shown_with_two_digits_of_its_width() -> None:
    assert format_range(2.33, 2.77, 9.11, "mA") == "2.3 to 9.1 mA, typically 2.8"
    assert format_range(1.351, 1.42, 1.482, "mA") == "1.35 to 1.48 mA, typically 1.42"
    assert format_range(186.1, 367.2, 888.4, "days") == "190 to 890 days, typically 370"


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "page", "0 pages"),
        (1, "page", "1 page"),
        (1000, "page", "1,000 pages"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
    ],
)
def test_one_thing_is_in_the_singular(count: int, noun: str, text: str) -> None:
    assert pluralize(count, noun) == text
