"""Text formatting: truncation, escaping, numbers, durations and flattened dictionaries."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, AnyStr

MAX_VALUE, MAX_SENTENCE = 200, 4_000
"""Maximum number of characters of one value and of a whole message."""

# Quoted values, or runs of 200 characters without white space. Quotes are matched from left to right, so that
# the text between two values is not taken for a value.
_VALUE = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\]|\\.)*\"(?!\w)|\S{200,}")


def truncate(text: AnyStr, max_length: int, ellipsis: AnyStr) -> AnyStr:
    """Truncate *text* to *max_length* characters or bytes, including *ellipsis* at its end."""
    return text if len(text) <= max_length else text[: max_length - len(ellipsis)] + ellipsis


def escape_unprintable(text: str) -> str:
    """Escape the unprintable characters of *text*, such as control and bidirectional characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line_message(text: str) -> str:
    """Return a message as one printable line, with long values truncated."""
    line = _VALUE.sub(lambda match: truncate(match[0], MAX_VALUE, "..."), " ".join(text.split()))
    return truncate(escape_unprintable(line), MAX_SENTENCE, "...")


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries; keys are joined by a dot, such as ``slowdown.mean``."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def parameter_text(value: Any) -> str:
    """Return the value of a parameter as text, as on the command line."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def format_parameter(value: Any) -> str:
    """Return the same text as :func:`parameter_text`, but with a float rounded to six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else parameter_text(value)


def format_pairs(values: Mapping[str, Any]) -> str:
    """Return *values* as ``key=value,...``."""
    return ",".join(f"{key}={value}" for key, value in values.items())


_MAX_DECIMALS = 6  # microjoules and microseconds


def decimals_of(values: Sequence[float], half_widths: Sequence[float] = ()) -> int:
    """Return the number of decimals for all numbers of a column.

    The largest number has four significant digits, or five if the smallest nonzero number would have fewer
    than three. With *half_widths*, there are no more decimals than two digits of the smallest half-width and
    three digits of every number require.
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    widths = [width for width in half_widths if math.isfinite(width) and width > 0]
    if not sizes:
        return 1
    smallest = _decimals(min(sizes), 3)
    decimals = max(_decimals(max(sizes), 4), min(smallest, _decimals(max(sizes), 5)))
    return min(decimals, max(smallest, _decimals(min(widths), 2))) if widths else decimals


def _decimals(value: float, digits: int) -> int:
    """Return the number of decimals that shows *digits* significant digits of *value*.

    A value below 1 has at most three significant digits.
    """
    exponent = math.floor(math.log10(value))
    return min(max(min(digits, 3 if exponent < 0 else digits) - 1 - exponent, 0), _MAX_DECIMALS)


def format_number(value: float, decimals: int) -> str:
    """Return a number with *decimals* decimals and without a negative zero; nan is ``"-"``."""
    if math.isnan(value):
        return "-"
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def format_half_width(value: float, decimals: int) -> str:
    """Format half the width of an interval like :func:`format_number`. A width of 0 or nan is ``""``."""
    if not value or math.isnan(value):
        return ""
    text = format_number(value, decimals)
    smallest = format_number(10**-decimals, decimals)
    return text if text.strip("0.") else f"<{smallest}"


def format_digits(value: float, digits: int = 3) -> str:
    """Return a number with at least *digits* significant digits, and without an exponent."""
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2]) if math.isfinite(value) else 0
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def format_percent(value: float) -> str:
    """Return a percentage with two significant digits, three from 99 % on, or ``"less than 0.01 %"``."""
    if 0 < abs(value) < 0.01:
        return "less than 0.01 %"
    return f"{format_digits(value, 2 if abs(value) < 99 else 3)} %"


def format_range(low: float, typical: float, high: float, unit: str) -> str:
    """Return ``"LOW to HIGH UNIT, typically X"``, rounded to two significant digits of HIGH - LOW."""
    decimals = 0 if high <= low else 1 - math.floor(math.log10(high - low))
    texts = [f"{round(value, decimals):.{max(0, decimals)}f}" for value in (low, high, typical)]
    return f"{texts[0]} to {texts[1]} {unit}, typically {texts[2]}"


def format_seconds(seconds: float, digits: int | None = 3) -> str:
    """Return a duration with three significant digits in ms or s, or with one decimal in larger units.

    Durations of at least 2 minutes, 2 hours or 2 days are shown in minutes, hours or days. Without *digits*,
    all digits of milliseconds and seconds are shown.
    """
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    value, unit = (seconds, "s") if seconds >= 0.9995 else (1000 * seconds, "ms")
    return f"{f'{value:g}' if digits is None else format_digits(value, digits)} {unit}"


def pluralize(count: int, noun: str) -> str:
    """Return a count with its *noun*, such as ``"1 page"``, ``"2 entries"`` or ``"1,000 pages"``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def join_names(texts: Sequence[str]) -> str:
    """Join texts by commas and a final *and*."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
