"""Style of each policy in all figures: colour, marker and line, for matplotlib and bokeh.

The built-in policies have fixed styles. The variants of a policy have its colour, and a marker and a line
that follow from their parameters. The colours are from the palette of Okabe and Ito, which is distinguishable
with any colour vision, and visible on light and dark backgrounds.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import Any, NamedTuple

from psm_sim.common.component_spec import class_file, name_of, split_commas

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY = COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#999999",
)
"""Palette without black, which is invisible on a dark background."""

_BOKEH_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "v": "inverted_triangle",
    "P": "plus",
    "X": "x",
    "*": "star",
    "h": "hex",
}
MARKERS = tuple(_BOKEH_MARKERS)
"""Markers of matplotlib."""

DASHES = ((), (5, 2), (5, 2, 1, 2), (1, 1.5), (5, 1, 1, 1, 1, 1), (8, 2), (3, 1), (2, 3))
"""Lengths of the dashes and gaps of each line, in line widths. No dashes make a solid line."""


class Style(NamedTuple):
    """Colour, marker and line of a series.

    Attributes
    ----------
    colour : str
        Colour, as ``#RRGGBB``.
    marker : str
        Marker of matplotlib.
    dashes : tuple of float
        Lengths of dashes and gaps, in line widths. Empty for a solid line.
    """

    colour: str
    marker: str
    dashes: tuple[float, ...]

    @property
    def line(self) -> Any:
        """Line style of matplotlib."""
        return (0, self.dashes) if self.dashes else "-"

    @property
    def bokeh_marker(self) -> str:
        """Marker of bokeh."""
        return _BOKEH_MARKERS[self.marker]

    @property
    def bokeh_line(self) -> list[int]:
        """Dash pattern of bokeh in pixels, for lines of a width of 2."""
        return [round(2 * length) for length in self.dashes]


_POLICIES = {
    "always-on": Style(GREY, "X", DASHES[3]),
    "psm": Style(BLUE, "o", DASHES[0]),
    "bsd": Style(GREEN, "^", DASHES[2]),
    "lpsm": Style(VERMILLION, "s", DASHES[1]),
    "anticipate": Style(PURPLE, "D", DASHES[0]),
    "dynamic": Style(ORANGE, "s", DASHES[1]),
    "predict": Style(GREEN, "*", DASHES[6]),
    "stpm": Style(PURPLE, "P", DASHES[2]),
    "uapsd": Style(VERMILLION, "v", DASHES[5]),
    "twt": Style(BLUE, "D", DASHES[4]),
}


def policy_style(policy: str, station: str = "") -> Style:
    """Return the style of a policy, which follows from its spec and its stations alone.

    Variants of a policy have its colour. Their marker and line follow from a hash of their parameters. Each
    kind of stations is a variant.
    """
    name, parameters = _split(policy)
    style = _POLICIES.get(name) or _hashed(name)
    variant = ",".join([*parameters, *filter(None, [station])])
    return _hashed(variant)._replace(colour=style.colour) if variant else style


def series_style(index: int) -> Style:
    """Return the style of a series that is no policy, such as a chip or a learner, by its index."""
    colours, markers, lines = len(COLOURS), len(MARKERS), len(DASHES)
    return Style(
        COLOURS[index % colours], MARKERS[(index + index // colours) % markers], DASHES[index % lines]
    )


def variant_of(policy: str) -> str:
    """Return the parameters of a policy spec as a short text, such as ``p=0.5``."""
    return ", ".join(_split(policy)[1])


def _split(policy: str) -> tuple[str, list[str]]:
    """Return the name and the sorted parameters. A class in a file is named without its path."""
    name = name_of(policy, "policy")
    texts = (text.strip() for text in split_commas(policy.strip()[len(name) :].lstrip(":")))
    path_and_class = class_file(name)
    return path_and_class[1] if path_and_class else name, sorted(filter(None, texts))


_SALT = b"8829"
"""Salt for which the variants that the documents compare have different markers."""


def _hashed(text: str) -> Style:
    number, marker = divmod(int(blake2s(text.encode(), salt=_SALT).hexdigest(), 16), len(MARKERS))
    number, line = divmod(number, len(DASHES))
    return Style(COLOURS[number % len(COLOURS)], MARKERS[marker], DASHES[line])


OPTIMUM_COLOUR = "#777777"
"""Colour of the offline optimum, visible on light and dark backgrounds."""

STATES = {
    "asleep": (SKY, ""),
    "awake": (BLUE, "///"),
    "beacons": (ORANGE, "..."),
    "transmit": (VERMILLION, "xxx"),
    "wake_ups": (PURPLE, "---"),
    "frames": (GREEN, "\\\\\\"),
}
"""Colour and hatch of the energy in each radio state, in the order of stacked bars."""

EVENT_COLOURS = {
    "radio awake": BLUE,
    "beacon received": PURPLE,
    "frame buffered": ORANGE,
    "uplink frame": VERMILLION,
    "downlink frame": GREEN,
}
"""Colours of the timelines."""
