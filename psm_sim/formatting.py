"""Texts for people: long ones cut, signs that do not print escaped, durations in words, dotted names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, AnyStr

MAX_VALUE, MAX_SENTENCE = 200, 4_000
"""Characters of a value, and of a whole sentence, that people are shown."""

# Quoted values in their order, so that what stands between two of them is none; or words without a blank.
_VALUE = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\]|\\.)*\"(?!\w)|\S{200,}")


def truncate(text: AnyStr, most: int, mark: AnyStr) -> AnyStr:
    """Return *text* if it has at most *most* characters, else its beginning and *mark*, *most* in all.

    Parameters
    ----------
    text
        What is to be shown.
    most
        The length allowed, in characters or bytes, the mark included.
    mark
        What stands at the cut, such as ``"..."``.
    """
    return text if len(text) <= most else text[: most - len(mark)] + mark


def escape_unprintable(text: str) -> str:
    """Return *text* with all that does not print escaped: control characters, marks of direction, ESC."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line_message(text: str) -> str:
    """Return a message as one line that any terminal shows: escaped, and long values in it cut."""
    line = _VALUE.sub(lambda found: truncate(found[0], MAX_VALUE, "..."), " ".join(text.split()))
    return truncate(escape_unprintable(line), MAX_SENTENCE, "...")


def format_duration(seconds: float, unit: str = "seconds") -> str:
    """Return a duration in seconds in days, hours or minutes if it has two of them, else in *unit*."""
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} {unit}"


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested dictionaries as one; the names are joined by a dot, as ``slowdown.mean``."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def format_pairs(values: Mapping[str, Any]) -> str:
    """Return values as one text, ``key=value,...``."""
    return ",".join(f"{key}={value}" for key, value in values.items())
