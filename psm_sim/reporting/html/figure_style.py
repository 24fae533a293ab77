"""Layout and JSON serialization of the interactive figures."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

TOOLS = "pan,box_zoom,wheel_zoom,reset,save"
"""Tools of a figure. Wheel zoom must be selected first, so that the wheel scrolls the page by default."""


def make_figure(height_px: int, *, tools: str = TOOLS, **options: Any) -> Figure:
    """Return an empty figure of the width of the page.

    Parameters
    ----------
    height_px : int
        Height in pixels.
    tools : str
        Names of the tools, separated by commas.
    **options
        Further arguments of :func:`bokeh.plotting.figure`.
    """
    from bokeh.plotting import figure

    empty = figure(height=height_px, tools=tools, sizing_mode="stretch_width", min_width=260, **options)
    empty.toolbar.logo = None
    for axis in empty.axis:
        axis.axis_label_text_font_style = "normal"
    return empty


def put_legend_below(figure: Figure, max_length: int) -> None:
    """Put the legend below the figure. Clicking an entry hides or shows its series.

    Parameters
    ----------
    figure : bokeh.plotting.figure
        Figure with legend labels.
    max_length : int
        Length of the longest label, in characters. Short labels are arranged in two columns.
    """
    legend = figure.legend[0]
    legend.click_policy = "hide"
    legend.ncols = 2 if max_length <= 18 else 1
    legend.label_text_font_size = "12px"
    legend.border_line_color = None
    legend.location = "left"
    figure.add_layout(legend, "below")


def to_json_item(figure: Figure) -> dict[str, Any]:
    """Return the JSON from which BokehJS embeds a figure. Equal figures have equal JSON.

    Bokeh numbers the models of a whole process. Here the numbers restart with each figure.
    """
    from bokeh import __version__
    from bokeh.document import Document

    document = Document()
    document.add_root(figure)
    # As bokeh.embed.json_item, which takes twice as long.
    item = {
        "target_id": None,
        "root_id": figure.id,
        "doc": document.to_json(deferred=False),
        "version": __version__,
    }
    text = json.dumps(item)
    numbers: dict[str, str] = {}

    def renumber(match: re.Match[str]) -> str:
        return f'{match[1]}"f{numbers.setdefault(match[2], str(len(numbers)))}"'

    return dict(json.loads(re.sub(r'("(?:id|root_id)": )"(p\d+)"', renumber, text)))
