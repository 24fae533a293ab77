"""Text formatting: truncation, escaping, durations and flattened dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, AnyStr

MAX_VALUE, MAX_SENTENCE = 200, 4_000
"""Maximum number of characters of one value and of a whole message."""

# Quoted values, matched from left to right so that the text between two values is not taken for a value,
# or long runs without white space.
_VALUE = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\]|\\.)*\"(?!\w)|\S{200,}")


def truncate(text: AnyStr, max_length: int, ellipsis: AnyStr) -> AnyStr:
    """Truncate *text* to *max_length* characters.

    Parameters
    ----------
    text : str or bytes
        Text to shorten.
    max_length : int
        Maximum length in characters or bytes, including *ellipsis*.
    ellipsis : str or bytes
        End of a truncated text, such as ``"..."``.
    """
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


def format_duration(seconds: float, unit: str = "seconds") -> str:
    """Format a duration in days, hours or minutes if it has at least two of them, else in *unit*."""
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} {unit}"


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries; keys are joined by a dot, such as ``slowdown.mean``."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def format_pairs(values: Mapping[str, Any]) -> str:
    """Return *values* as ``key=value,...``."""
    return ",".join(f"{key}={value}" for key, value in values.items())
