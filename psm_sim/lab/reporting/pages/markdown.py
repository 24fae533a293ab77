"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([|*<>\[\]`\\])")
_NUMBER = re.compile(
    r"([-+]?[\d.]+( ± [\d.]+)?( ?%)?( !)?|[-+]?[\d.]+ \([-+][\d.]+ %\)|[\d.]+ \(largest[^)]*\))?"
)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; columns of numbers are aligned right."""
    rows = [list(row) for row in rows]
    columns = list(zip(*rows, strict=True)) or [() for _ in headings]
    rules = ["---:" if all(map(_NUMBER.fullmatch, column)) else "---" for column in columns]
    lines = [
        [escape_markdown(text) for text in headings],
        rules,
        *([escape_markdown(text) for text in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_list(sentences: Iterable[str]) -> str:
    """Return a list of points, one per sentence."""
    return "".join(f"* {escape_markdown(sentence)}\n" for sentence in sentences)


def escape_markdown(text: str) -> str:
    """Return *text* so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))
