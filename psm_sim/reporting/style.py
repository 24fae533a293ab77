"""Style of each policy in all figures: colour, marker and line.

The built-in policies have fixed styles. A policy with parameters has the colour of the policy, and a marker
and a line that depend on the parameters. If a comparison has a policy several times, the colours differ. The
colours are from the palette of Okabe and Ito, which is distinguishable with any colour vision, and visible on
light and dark backgrounds.
"""

from __future__ import annotations

from collections.abc import Sequence
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

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
"""Markers of matplotlib."""

_DASHES = ((5, 2), (5, 2, 1, 2), (1, 1.5), (5, 1, 1, 1, 1, 1), (8, 2), (3, 1), (2, 3))
_LINES: tuple[Any, ...] = ("-", *((0, lengths) for lengths in _DASHES))
"""Line styles of matplotlib: a solid line, and lines with these lengths of dashes and gaps in line widths."""


class Style(NamedTuple):
    """Colour, marker and line of a series.

    Attributes
    ----------
    colour : str
        Colour, as ``#RRGGBB``.
    marker : str
        Marker of matplotlib.
    line : str or tuple
        Line style of matplotlib.
    """

    colour: str
    marker: str
    line: Any


# Policies outnumber the colours. Policies of one colour differ in their markers. If a comparison has several,
# the first of them in this table keeps the colour.
_POLICIES = {
    "always-on": Style(GREY, "X", _LINES[3]),
    "psm": Style(BLUE, "o", _LINES[0]),
    "bsd": Style(GREEN, "^", _LINES[2]),
    "lpsm": Style(VERMILLION, "s", _LINES[1]),
    "anticipate": Style(PURPLE, "D", _LINES[0]),
    "dynamic": Style(ORANGE, "s", _LINES[1]),
    "adaptive": Style(SKY, "s", _LINES[1]),
    "predict": Style(GREEN, "*", _LINES[6]),
    "stpm": Style(PURPLE, "P", _LINES[2]),
    "share-timeout": Style(ORANGE, "X", _LINES[7]),
    "smart": Style(GREEN, "h", _LINES[4]),
    "uapsd": Style(VERMILLION, "v", _LINES[5]),
    "twt": Style(BLUE, "D", _LINES[4]),
}


def policy_style(policy: str, station: str = "") -> Style:
    """Return the style of a policy, which does not depend on other policies.

    A policy with parameters or a *station* name has the colour of the policy, and a marker and a line from a
    hash of the parameters and the name.
    """
    name, parameters = _split(policy)
    style = _POLICIES.get(name) or _hashed(name)
    variant = ",".join([*parameters, *filter(None, [station])])
    return _hashed(variant)._replace(colour=style.colour) if variant else style


def distinct_styles(variants: Sequence[tuple[str, str]]) -> list[Style]:
    """Return a style for each variant of a comparison, with different colours until the palette is used up.

    *variants* are pairs of a policy, and the name of its stations or its label, which can be empty. Their
    order does not change the styles, and user-defined classes do not change the styles of built-in policies.
    A built-in policy without parameters has its own style, unless another one has that colour.
    """
    styles = [policy_style(policy, name) for policy, name in variants]
    names: set[str] = set()
    colours: list[str] = []
    markers: list[str] = []
    for index in sorted(range(len(variants)), key=lambda index: _precedence(*variants[index])):
        name, _ = _split(variants[index][0])
        style = styles[index] if name in names else policy_style(name)
        if style.colour in colours:
            style = style._replace(colour=_first_free(COLOURS, colours) or style.colour)
        if style.marker in markers and name not in _POLICIES:
            style = style._replace(marker=_first_free(MARKERS, markers) or style.marker)
        styles[index] = style
        names.add(name)
        colours.append(style.colour)
        markers.append(style.marker)
    return styles


def series_style(index: int) -> Style:
    """Return the style with this *index*, for series that are not policies, such as chips."""
    colours, markers, lines = len(COLOURS), len(MARKERS), len(_LINES)
    return Style(
        COLOURS[index % colours], MARKERS[(index + index // colours) % markers], _LINES[index % lines]
    )


def _precedence(policy: str, station: str) -> tuple[bool, bool, int, str, str]:
    """Return the sort key: first built-in policies, then their variants, then user-defined classes."""
    name, parameters = _split(policy)
    built_in = name in _POLICIES
    return not built_in, bool(parameters), [*_POLICIES, name].index(name), policy, station


def _first_free(values: Sequence[str], used: Sequence[str]) -> str | None:
    """Return the first of the values that is not used, or None."""
    return next((value for value in values if value not in used), None)


def _split(policy: str) -> tuple[str, list[str]]:
    """Return the name, or ``:CLASS`` for a class in a file, and the sorted parameters."""
    name = name_of(policy, "policy")
    texts = (text.strip() for text in split_commas(policy.strip()[len(name) :].lstrip(":")))
    path_and_class = class_file(name)
    return f":{path_and_class[1]}" if path_and_class else name, sorted(filter(None, texts))


_SALT = b"8829"
"""Salt of the hash, chosen so that the variants in the documents have different markers."""


def _hashed(text: str) -> Style:
    number, marker = divmod(int(blake2s(text.encode(), salt=_SALT).hexdigest(), 16), len(MARKERS))
    number, line = divmod(number, len(_LINES))
    return Style(COLOURS[number % len(COLOURS)], MARKERS[marker], _LINES[line])


OPTIMUM_COLOUR = "#777777"
"""Colour of the best known schedule, visible on light and dark backgrounds."""

STATE_STYLES = {
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
