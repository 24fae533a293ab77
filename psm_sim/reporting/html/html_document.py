"""Self-contained HTML document, and its tables, texts and lists. All values are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from psm_sim import __version__
from psm_sim.common.formatting import escape_unprintable
from psm_sim.reporting.columns import Column

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
"""Content security policy: the browser makes no network request, even if a name contains markup."""


def render_document(title: str, sections: Iterable[str]) -> str:
    """Return the HTML document with its *title* and *sections*, which :func:`html_section` returns."""
    head = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{head}{viewport}\n'
        f"<title>{escape_text(title)}</title><link rel=icon href=data:,>"
        f"<style>{_read_asset('page.css')}</style></head>\n"
        f"<body><main><h1>{escape_text(title)}</h1>{''.join(sections)}"
        f"<footer>psm_sim {escape_text(__version__)}</footer></main>\n"
        f"<script>{_read_asset('page.js')}</script></body></html>\n"
    )


def html_section(name: str, title: str, html: str) -> str:
    """Return the section of a report with its element id *name*, its *title* or ``""``, and its content."""
    heading = f"<h2>{escape_text(title)}</h2>" if title else ""
    return f'<section id="{name}">{heading}{html}</section>\n'


_COLOURS = {
    "#000000": "var(--ink)",
    "#222222": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#dddddd": "var(--faint)",
}
"""CSS variables that replace the colours of the common style, which suit only a light page."""


def html_figure(svg: str, text: str) -> str:
    """Return an SVG file as an element of the page, in the light or dark colours of the page.

    *text* describes the figure to readers who cannot see it.
    """
    drawing = re.sub("<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    drawing = re.sub("|".join(_COLOURS), lambda match: _COLOURS[match[0]], drawing)
    return f'<div class=figure role=img aria-label="{escape_text(text)}">{drawing}</div>'


def _read_asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def escape_text(value: Any) -> str:
    """Return a value as escaped HTML text."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(escape_unprintable(text), quote=True)


def html_table(columns: Sequence[Column]) -> str:
    """Return a table."""
    head = "".join(f"<th scope=col>{escape_text(column.heading)}</th>" for column in columns)
    cells = ([_cell(text.strip(), is_number=not each.is_text) for text in each.texts] for each in columns)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    return (
        f"<div class=wide tabindex=0><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any, *, is_number: bool = False) -> str:
    return f"<td{' class=number' if is_number else ''}>{escape_text(value)}</td>"


def html_definitions(title: str, values: Mapping[str, Any]) -> str:
    """Return names and values as a collapsible table."""
    rows = "".join(
        f"<tr><th scope=row>{escape_text(key)}</th>{_cell(value)}</tr>" for key, value in values.items()
    )
    table = f"<div class=wide><table>{rows}</table></div>"
    return f"<details><summary>{escape_text(title)}</summary>{table}</details>"


def html_command(text: str) -> str:
    """Return a command line."""
    return f"<pre><code>{escape_text(text)}</code></pre>"


def html_conclusion(text: str) -> str:
    """Return the sentences of an answer."""
    return f"<p class=conclusion>{escape_text(text)}</p>"


def html_paragraphs(lines: Sequence[str]) -> str:
    """Return lines as paragraphs."""
    return "".join(f"<p>{escape_text(line)}</p>" for line in lines)
