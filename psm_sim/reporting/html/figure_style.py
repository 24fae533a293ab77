"""Interactive figure in the page's common look, and as the JSON that the page draws it from."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.style import COLOURS as _PRINTED

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

COLOURS = tuple("#A6761D" if colour == "#000000" else colour for colour in _PRINTED)
"""Colours of the figures on paper, but no black, which would vanish on a dark page."""

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x", "star")
DASHES = ("solid", "dashed", "dashdot", "dotted", "dotdash", [5, 1, 1, 1], [1, 1], [7, 2])
"""A marker and a line for each colour, so that a series is never told by its colour alone."""

TOOLS = "pan,box_zoom,wheel_zoom,reset,save"
"""The tools of a figure; the wheel zooms only after a click on its tool, so that the page scrolls."""

SLOWDOWN_TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)
"""Ticks of a logarithmic axis of slowdowns."""


def make_figure(height_px: int, *, tools: str = TOOLS, **options: Any) -> Figure:
    """Return an empty figure, as wide as the page.

    Parameters
    ----------
    height_px : int
        Its height in pixels.
    tools : str
        The names of its tools, joined by commas; the wheel zooms only after a click on its tool.
    options : any
        Given to bokeh.
    """
    from bokeh.plotting import figure

    made = figure(height=height_px, tools=tools, sizing_mode="stretch_width", min_width=260, **options)
    made.toolbar.logo = None
    for axis in made.axis:
        axis.axis_label_text_font_style = "normal"
    return made


def put_legend_below(figure: Figure, most_letters: int) -> None:
    """Put the legend below the figure; a click on an entry hides or shows its series.

    Parameters
    ----------
    made : figure
        With legend labels.
    most_letters : int
        The longest label; short ones stand in two columns.
    """
    legend = figure.legend[0]
    legend.click_policy = "hide"
    legend.ncols = 2 if most_letters <= 18 else 1
    legend.label_text_font_size = "12px"
    legend.border_line_color = None
    legend.location = "left"
    figure.add_layout(legend, "below")


def to_json_item(figure: Figure) -> dict[str, Any]:
    """Return a figure as BokehJS embeds it; the same figure gives the same text.

    Bokeh numbers its models through the whole process; here each figure's begin again.
    """
    from bokeh.embed import json_item

    text = json.dumps(json_item(figure))  # type: ignore[no-untyped-call, unused-ignore]
    known: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return f'{found[1]}"f{known.setdefault(found[2], str(len(known)))}"'

    return dict(json.loads(re.sub(r'("(?:id|root_id)": )"(p\d+)"', numbered, text)))
