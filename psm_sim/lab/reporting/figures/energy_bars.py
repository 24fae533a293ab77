"""Bar charts: energy by radio state and slowdown of each policy (thesis, figures 2-6 and 2-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.reporting.figures.policy_names import two_line_name
from psm_sim.reporting.figures.style import new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STATES = (
    ("asleep_j", "asleep", "#56B4E9", ""),
    ("awake_j", "awake", "#0072B2", "///"),
    ("beacons_j", "beacons", "#E69F00", "..."),
)
"""Column, name, colour and hatch of each radio state, from the bottom."""

_EDGE = "#222222"
_PUBLISHED = "#D55E00"
_MARKER: Any = {
    "markersize": 8,
    "markerfacecolor": "none",
    "markeredgecolor": _PUBLISHED,
    "markeredgewidth": 1.6,
}
_BESIDE = 0.41
"""Distance of the published markers from the middle of their bar, just beside it."""
_PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


def draw_energy(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``policy, awake_j, asleep_j, beacons_j`` as stacked bars, in joules per page.

    A column ``hindsight_j`` is drawn as a line: the best schedule without delay. Published values, in the
    columns of :func:`psm_sim.lab.studies.bar_chart_numbers.mean_energy_by_state`, are drawn as markers.
    """
    # No power saving takes ten times the energy: its bar would flatten all others, so the caption tells it.
    dwarfing = frame["policy"] == "always-on"
    shown = frame[~dwarfing]
    figure, (axes,) = new_figure(width_in=6.4, height_in=3.6)
    base = [0.0] * len(shown)
    for column, name, colour, hatch in STATES:
        heights = shown[column].tolist()
        axes.bar(
            range(len(shown)), heights, 0.62, base, label=name, color=colour, hatch=hatch, edgecolor=_EDGE
        )
        base = [below + height for below, height in zip(base, heights, strict=True)]
    for place, total in enumerate(base):
        axes.annotate(
            f"{total:.2f}", (place, total), (0, 3), textcoords="offset points", ha="center", bbox=_PLATE
        )
    if "hindsight_j" in frame:
        axes.axhline(
            frame["hindsight_j"].iloc[0],
            color=_EDGE,
            linestyle="--",
            linewidth=1,
            label="hindsight, no delay",
        )
    drawn = _published_energy(axes, shown)
    axes.set_xticks(range(len(shown)), [two_line_name(policy) for policy in shown["policy"]])
    axes.set_ylabel("energy (J per page)")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside lower center", ncols=len(STATES) + 1, frameon=False, reverse=True)
    away = frame[dwarfing][[column for column, *_ in STATES]].sum(axis=1)
    told = f"; without power saving it is {away.iloc[0]:.1f} J, not drawn" if len(away) else ""
    return figure, f"Mean energy per page by radio state{told}.{drawn}"


def _published_energy(axes: Axes, shown: pd.DataFrame) -> str:
    """Draw what was published of the bars; return what the caption says of it."""
    if "published_j" not in shown:
        return ""
    places = np.arange(len(shown)) + _BESIDE
    total = shown["published_j"].to_numpy(float)
    if np.isfinite(total).any():
        axes.plot(places, total, "D", **_MARKER, label="published")
        axes.plot(places, total - shown["published_beacons_j"], "_", **_MARKER)
        return " Diamonds: published energy; the stroke below: published energy without beacons."
    low, high = (shown[f"published_{end}_j"].to_numpy(float) for end in ("low", "high"))
    if not np.isfinite(low).any():
        return ""
    middle, half = (low + high) / 2, (high - low) / 2
    axes.errorbar(places, middle, half, fmt="none", ecolor=_PUBLISHED, capsize=6, label="published range")
    return " Vertical lines: the published range of savings, from our static PSM's energy."


def draw_slowdown(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``policy, slowdown, half_width`` as bars from 1, with confidence intervals.

    With the columns ``over_psm``, ``over_psm_half_width`` and ``published``, a second panel shows the page
    times over static PSM's, as the thesis states them, with the published ones as markers.
    """
    shown = frame[frame["policy"] != "always-on"]
    caption = "Mean slowdown of a page over no power saving, with 95 % confidence intervals."
    if "over_psm" not in shown:
        figure, (axes,) = new_figure(width_in=6.4, height_in=3.2)
        _from_one(axes, shown, ("slowdown", "half_width"), "slowdown")
        return figure, caption
    figure, (axes, other) = new_figure(2, 1, width_in=6.4, height_in=5.6)
    _from_one(axes, shown, ("slowdown", "half_width"), "slowdown")
    _from_one(other, shown, ("over_psm", "over_psm_half_width"), "page time over static PSM's")
    other.plot(range(len(shown)), shown["published"], "D", **_MARKER, label="published")
    figure.legend(loc="outside lower center", frameon=False)
    return figure, f"{caption} Below: page times over static PSM's; diamonds: published."


def _from_one(axes: Axes, shown: pd.DataFrame, columns: tuple[str, str], label: str) -> None:
    tops, widths = (shown[column].to_numpy(float) for column in columns)
    places = range(len(shown))
    axes.bar(places, tops - 1, 0.62, 1, yerr=widths, capsize=4, color="#56B4E9", edgecolor=_EDGE)
    for place, top, width in zip(places, tops, widths, strict=True):
        end = max(top, 1.0) + width
        axes.annotate(f"{top:.2f}", (place, end), (0, 3), textcoords="offset points", ha="center")
    axes.set_xticks(places, [two_line_name(policy) for policy in shown["policy"]])
    axes.set_ylabel(label)
    axes.grid(visible=False, axis="x")
    axes.axhline(1, color=_EDGE, linewidth=0.8)
    axes.margins(y=0.12)
    if min(tops) >= 1:
        axes.set_ylim(bottom=1)
