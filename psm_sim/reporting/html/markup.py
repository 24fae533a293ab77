"""HTML tables, texts and lists. All values are escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite
from typing import Any

from psm_sim.common.formatting import escape_unprintable


def escape_text(value: Any) -> str:
    """Return a value as escaped HTML text."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(escape_unprintable(text), quote=True)


def html_table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table. All columns except the first are right-aligned."""
    head = "".join(f"<th scope=col>{escape_text(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{_cell(row[0])}{''.join(map(_number, row[1:]))}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(value: Any) -> str:
    return f"<td>{escape_text(value)}</td>"


def _number(value: Any) -> str:
    return f"<td class=number>{escape_text(value)}</td>"


def html_definitions(title: str, values: Mapping[str, Any]) -> str:
    """Return names and values as a collapsible table."""
    rows = "".join(
        f"<tr><th scope=row>{escape_text(key)}</th>{_cell(value)}</tr>" for key, value in values.items()
    )
    table = f"<div class=wide><table>{rows}</table></div>"
    return f"<details><summary>{escape_text(title)}</summary>{table}</details>"


def html_paragraphs(lines: Sequence[str]) -> str:
    """Return lines as paragraphs."""
    return "".join(f"<p>{escape_text(line)}</p>" for line in lines)


def html_select(name: str, label: str, options: Mapping[str, str], selected: str = "") -> str:
    """Return a drop-down list with a label.

    Parameters
    ----------
    name : str
        Element id.
    label : str
        Label before the list.
    options : mapping of str to str
        Text of each option, by value.
    selected : str
        Value that is selected initially. An empty string selects the first one.
    """
    marks = {value: " selected" if value == selected else "" for value in options}
    items = "".join(
        f'<option value="{escape_text(value)}"{marks[value]}>{escape_text(text)}</option>'
        for value, text in options.items()
    )
    return f'<label>{escape_text(label)} <select id="{escape_text(name)}">{items}</select></label>'


def plain_text(value: Any) -> Any:
    """Return a table value for JSON: floats with five digits, and None instead of infinities and NaN."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)


def json_script(name: str, value: Any) -> str:
    """Return plain values as a JSON script element. Characters that could form a tag are escaped."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    safe = re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)
    return f'<script type="application/json" id="{escape_text(name)}">{safe}</script>'
