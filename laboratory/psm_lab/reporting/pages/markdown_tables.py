"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([|*<>\[\]`\\])")
_NUMBER = re.compile(
    r"([-+]?[\d.]+( ± [\d.]+)?( ?%)?( !)?|[-+]?[\d.]+ \([-+][\d.]+ %\)|[\d.]+ \(largest[^)]*\))?"
)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with right-aligned columns of numbers."""
    rows = [list(row) for row in rows]
    columns = list(zip(*rows, strict=True)) or [() for _ in headings]
    alignments = ["---:" if all(map(_NUMBER.fullmatch, column)) else "---" for column in columns]
    lines = [
        [escape_markdown(text) for text in headings],
        alignments,
        *([escape_markdown(text) for text in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_list(texts: Iterable[str]) -> str:
    """Return a list with one item per text."""
    return "".join(f"* {escape_markdown(text)}\n" for text in texts)


def escape_markdown(text: str) -> str:
    """Return *text* on one line, with the special characters of Markdown escaped."""
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))
