"""Bar charts: energy by radio state and slowdown of each policy (thesis, figures 2-6 and 2-7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import SKY, STATE_STYLES, VERMILLION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STATES = ("asleep", "awake", "beacons")
"""Radio states from bottom to top, with their energy in ``asleep_j``, ``awake_j`` and ``beacons_j``."""

_EDGE = "#222222"
_PUBLISHED = VERMILLION
_MARKER: Any = {
    "markersize": 8,
    "markerfacecolor": "none",
    "markeredgecolor": _PUBLISHED,
    "markeredgewidth": 1.6,
}
"""Style of published values: hollow, so that bars and error bars behind a marker stay visible."""

_MARKER_OFFSET = 0.41
"""Distance of the published markers from the centre of their bar, in bar positions."""


def draw_energy(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the energy per page by radio state as stacked bars.

    Returns the figure and its caption. The columns of *frame* are those of
    :func:`psm_lab.studies.published_experiment_runs.mean_energy_by_state`. The offline optimum without delay
    is a line, and published values are markers.
    """
    # The bar of always-on is omitted, because it is ten times as high. The caption states its energy.
    omitted = frame["policy"] == "always-on"
    shown = frame[~omitted]
    figure, (axes,) = new_figure(width_in=7.0, height_in=3.6)
    base = np.zeros(len(shown))
    for name in _STATES:
        (colour, hatch), heights = STATE_STYLES[name], shown[f"{name}_j"].to_numpy()
        axes.bar(
            range(len(shown)), heights, 0.62, base, label=name, color=colour, hatch=hatch, edgecolor=_EDGE
        )
        base = base + heights
    _label_bars(axes, base, base, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})
    optimum_j = frame["hindsight_j"].iloc[0]
    label = "offline optimum, no delay"
    axes.axhline(optimum_j, color=_EDGE, linestyle="--", linewidth=1, label=label)
    explanation = _plot_published_energy(axes, shown)
    axes.set_xticks(range(len(shown)), _tick_labels(shown), fontsize=7)
    axes.set_ylabel("energy (J per page)")
    axes.grid(visible=False, axis="x")
    add_legend(figure, axes)
    always_on_j = frame.loc[omitted, [f"{name}_j" for name in _STATES]].to_numpy().sum()
    note = f" (without power saving it is {always_on_j:.1f} J, not plotted)"
    return figure, f"Mean energy per page by radio state{note}.{explanation}"


def _label_bars(axes: Axes, values: Iterable[float], tops: Iterable[float], **style: Any) -> None:
    """Write the *values* of bars above their *tops*."""
    for position, (value, top) in enumerate(zip(values, tops, strict=True)):
        offset: Any = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{value:.2f}", (position, top), **offset, **style)


def _tick_labels(shown: pd.DataFrame) -> list[str]:
    """Return the names of the policies, with the parameters on a second line because bars are narrow."""
    return [policy.replace(":", ":\n", 1) for policy in shown["policy"]]


def _plot_published_energy(axes: Axes, shown: pd.DataFrame) -> str:
    """Plot the published energies or range, and return the explanation for the caption."""
    positions = np.arange(len(shown)) + _MARKER_OFFSET
    total = shown["published_j"]
    if total.notna().any():
        axes.plot(positions, total, "D", **_MARKER, label="published")
        axes.plot(positions, total - shown["published_beacons_j"], "_", **_MARKER)
        return " Diamonds: published energy. Dashes below: published energy without beacons."
    low, high = (shown[f"published_{end}_j"].to_numpy() for end in ("low", "high"))
    middle, half = (low + high) / 2, (high - low) / 2
    axes.errorbar(positions, middle, half, fmt="none", ecolor=_PUBLISHED, capsize=6, label="published range")
    return " Vertical lines: published range of savings, relative to the simulated energy of static PSM."


def draw_slowdown(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the mean slowdown as bars that start at 1, with confidence intervals.

    Returns the figure and its caption. The columns of *frame* are those of
    :func:`psm_lab.studies.published_experiment_runs.mean_slowdowns`. The second panel shows page times
    relative to static PSM; markers show the ratios that the thesis states.
    """
    shown = frame[frame["policy"] != "always-on"]
    figure, (axes, other) = new_figure(2, 1, width_in=7.0, height_in=5.6)
    _plot_ratios(axes, shown, "slowdown")
    axes.set_ylabel("slowdown")
    _plot_ratios(other, shown, "over_psm")
    other.set_ylabel("page time over static PSM")
    positions = np.arange(len(shown)) + _MARKER_OFFSET
    other.plot(positions, shown["published"], "D", **_MARKER, label="published")
    add_legend(figure, other)
    return figure, (
        "Mean page slowdown relative to no power saving, with 95 % confidence intervals. Lower panel: page"
        " times relative to static PSM; diamonds: published."
    )


def _plot_ratios(axes: Axes, shown: pd.DataFrame, column: str) -> None:
    """Plot the ratios of a *column* with their half widths as bars that start at 1, one per row."""
    tops, half_widths = (shown[name].to_numpy() for name in (column, f"{column}_half_width"))
    positions = range(len(shown))
    axes.bar(positions, tops - 1, 0.62, 1, yerr=half_widths, capsize=4, color=SKY, edgecolor=_EDGE)
    _label_bars(axes, tops, np.maximum(tops, 1.0) + half_widths)
    axes.set_xticks(positions, _tick_labels(shown), fontsize=7)
    axes.grid(visible=False, axis="x")
    axes.axhline(1, color=_EDGE, linewidth=0.8)
    axes.margins(y=0.12)
    if min(tops) >= 1:
        axes.set_ylim(bottom=1)
