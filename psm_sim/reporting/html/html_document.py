"""Self-contained HTML document with its sections, figures, data, styles and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim import __version__
from psm_sim.reporting.html.figure_style import to_json_item
from psm_sim.reporting.html.markup import escape_text, json_script

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""Content security policy: the browser makes no network request, even if a name contains markup."""


class Section(NamedTuple):
    """Section of a report: its element id, title, HTML and optional figure."""

    name: str
    title: str
    html: str
    figure: Figure | None = None


def render_document(title: str, sections: Sequence[Section], values: Mapping[str, Any]) -> str:
    """Return the HTML document.

    Parameters
    ----------
    title : str
        Title, as plain text.
    sections : sequence of Section
        Sections, from top to bottom.
    values : mapping of str to plain values
        Data of the scripts, by element id.
    """
    figures = {
        section.name: to_json_item(section.figure) for section in sections if section.figure is not None
    }
    body = "".join(map(_section, sections))
    data = "".join(json_script(name, value) for name, value in {"figures": figures, **values}.items())
    head = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{head}{viewport}\n'
        f"<title>{escape_text(title)}</title><link rel=icon href=data:,>"
        f"<style>{_read_asset('page.css')}</style></head>\n"
        f"<body><main><h1>{escape_text(title)}</h1>{body}"
        f"<footer>psm_sim {escape_text(__version__)}</footer></main>\n"
        f"{data}\n<script>{_bokeh()}</script>\n"
        f"<script>{_read_asset('table.js')}</script>\n<script>{_read_asset('page.js')}</script></body></html>\n"
    )


def _section(section: Section) -> str:
    figure = f'<div class=figure id="figure-{section.name}"></div>' if section.figure is not None else ""
    heading = f"<h2>{escape_text(section.title)}</h2>" if section.title else ""
    return f'<section id="{section.name}">{heading}{section.html}{figure}</section>\n'


def _read_asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _bokeh() -> str:
    from bokeh.resources import Resources

    return "\n".join(Resources("inline", components=["bokeh"]).js_raw)
