"""Texts for people: long ones cut, durations in words, nested values under dotted names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, AnyStr


def cut(text: AnyStr, most: int, mark: AnyStr) -> AnyStr:
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


def duration(seconds: float, unit: str = "seconds") -> str:
    """Return a duration in seconds in days, hours or minutes if it has two of them, else in *unit*."""
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} {unit}"


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested dictionaries as one; the names are joined by a dot, as ``slowdown.mean``."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found
