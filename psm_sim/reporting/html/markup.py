"""Words of a page: tables and texts as HTML, in which all that comes from outside is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite
from typing import Any

from psm_sim.formatting import escape_unprintable


def escape_text(value: Any) -> str:
    """Return a value as text in HTML."""
    words = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(escape_unprintable(words), quote=True)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table; all but the first column stand at the right."""
    head = "".join(f"<th scope=col>{escape_text(head)}</th>" for head in heads)
    body = "".join(f"<tr>{_cell(row[0])}{''.join(map(_number, row[1:]))}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(value: Any) -> str:
    return f"<td>{escape_text(value)}</td>"


def _number(value: Any) -> str:
    return f"<td class=number>{escape_text(value)}</td>"


def html_definitions(title: str, values: Mapping[str, Any]) -> str:
    """Return names and values as a table that can be folded."""
    rows = "".join(
        f"<tr><th scope=row>{escape_text(key)}</th>{_cell(value)}</tr>" for key, value in values.items()
    )
    inside = f"<div class=wide><table>{rows}</table></div>"
    return f"<details><summary>{escape_text(title)}</summary>{inside}</details>"


def html_paragraphs(lines: Sequence[str]) -> str:
    """Return lines as paragraphs."""
    return "".join(f"<p>{escape_text(line)}</p>" for line in lines)


def html_select(name: str, label: str, options: Mapping[str, str], chosen: str = "") -> str:
    """Return a list to choose from.

    Parameters
    ----------
    name : str
        What the page's program calls it.
    label : str
        What stands before it.
    options : mapping of str to str
        Each value and how it is called.
    chosen : str
        The value that is chosen at first; empty: the first one.
    """
    marks = {value: " selected" if value == chosen else "" for value in options}
    inside = "".join(
        f'<option value="{escape_text(value)}"{marks[value]}>{escape_text(called)}</option>'
        for value, called in options.items()
    )
    return f'<label>{escape_text(label)} <select id="{escape_text(name)}">{inside}</select></label>'


def plain_text(value: Any) -> Any:
    """Return a value of a table as JSON has it: five digits, and None for what is not finite."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)


def json_script(name: str, value: Any) -> str:
    """Return plain values as JSON for the page's program; what HTML could read as a tag is escaped."""
    written = json.dumps(value, allow_nan=False, separators=(",", ":"))
    safe = re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", written)
    return f'<script type="application/json" id="{escape_text(name)}">{safe}</script>'
