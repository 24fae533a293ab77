"""Bar charts: energy by radio state and slowdown of each policy (thesis, figures 2-6 and 2-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import SKY, STATES, VERMILLION

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
_MARKER_OFFSET = 0.41
"""Distance of the published markers from the centre of their bar, in bar positions."""
_LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


def draw_energy(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the energy per page by radio state as stacked bars.

    Returns the figure and its caption. The columns of *frame* are ``policy, awake_j, asleep_j, beacons_j``.
    The optional column ``hindsight_j``, the offline optimum without delay, is plotted as a line. Published
    values, in the columns of :func:`psm_lab.studies.bar_chart_numbers.mean_energy_by_state`, are plotted
    as markers.
    """
    # Always-on needs ten times the energy, so its bar would flatten the others. The caption states it.
    omitted = frame["policy"] == "always-on"
    shown = frame[~omitted]
    figure, (axes,) = new_figure(width_in=7.0, height_in=3.6)
    base = [0.0] * len(shown)
    for name in _STATES:
        (colour, hatch), heights = STATES[name], shown[f"{name}_j"].tolist()
        axes.bar(
            range(len(shown)), heights, 0.62, base, label=name, color=colour, hatch=hatch, edgecolor=_EDGE
        )
        base = [below + height for below, height in zip(base, heights, strict=True)]
    for position, total in enumerate(base):
        axes.annotate(
            f"{total:.2f}",
            (position, total),
            (0, 3),
            textcoords="offset points",
            ha="center",
            bbox=_LABEL_BOX,
        )
    if "hindsight_j" in frame:
        axes.axhline(
            frame["hindsight_j"].iloc[0],
            color=_EDGE,
            linestyle="--",
            linewidth=1,
            label="offline optimum, no delay",
        )
    explanation = _plot_published_energy(axes, shown)
    axes.set_xticks(range(len(shown)), _tick_labels(shown), fontsize=7)
    axes.set_ylabel("energy (J per page)")
    axes.grid(visible=False, axis="x")
    add_legend(figure, axes)
    energy = frame[omitted][[f"{name}_j" for name in _STATES]].sum(axis=1)
    note = f" (without power saving it is {energy.iloc[0]:.1f} J, not plotted)" if len(energy) else ""
    return figure, f"Mean energy per page by radio state{note}.{explanation}"


def _tick_labels(shown: pd.DataFrame) -> list[str]:
    """Return the policies with their parameters in a second line, for narrow bars."""
    return [policy.replace(":", ":\n", 1) for policy in shown["policy"]]


def _plot_published_energy(axes: Axes, shown: pd.DataFrame) -> str:
    """Plot the published energies, and return their explanation for the caption."""
    if "published_j" not in shown:
        return ""
    positions = np.arange(len(shown)) + _MARKER_OFFSET
    total = shown["published_j"].to_numpy(float)
    if np.isfinite(total).any():
        axes.plot(positions, total, "D", **_MARKER, label="published")
        axes.plot(positions, total - shown["published_beacons_j"], "_", **_MARKER)
        return " Diamonds: published energy. Dashes below: published energy without beacons."
    low, high = (shown[f"published_{end}_j"].to_numpy(float) for end in ("low", "high"))
    if not np.isfinite(low).any():
        return ""
    middle, half = (low + high) / 2, (high - low) / 2
    axes.errorbar(positions, middle, half, fmt="none", ecolor=_PUBLISHED, capsize=6, label="published range")
    return " Vertical lines: published range of savings, relative to the simulated energy of static PSM."


def draw_slowdown(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the mean slowdown as bars that start at 1, with confidence intervals.

    Returns the figure and its caption. The columns of *frame* are ``policy, slowdown, half_width``. With the
    columns ``over_psm``, ``over_psm_half_width`` and ``published``, a second panel shows the page times
    relative to static PSM, as stated in the thesis, with the published ones as markers.
    """
    shown = frame[frame["policy"] != "always-on"]
    caption = "Mean page slowdown relative to no power saving, with 95 % confidence intervals."
    if "over_psm" not in shown:
        figure, (axes,) = new_figure(width_in=7.0, height_in=3.2)
        _plot_ratios(axes, shown, ("slowdown", "half_width"), "slowdown")
        return figure, caption
    figure, (axes, other) = new_figure(2, 1, width_in=7.0, height_in=5.6)
    _plot_ratios(axes, shown, ("slowdown", "half_width"), "slowdown")
    _plot_ratios(other, shown, ("over_psm", "over_psm_half_width"), "page time over static PSM")
    positions = np.arange(len(shown)) + _MARKER_OFFSET
    other.plot(positions, shown["published"], "D", **_MARKER, label="published")
    add_legend(figure, other)
    return figure, f"{caption} Lower panel: page times relative to static PSM; diamonds: published."


def _plot_ratios(axes: Axes, shown: pd.DataFrame, columns: tuple[str, str], label: str) -> None:
    """Plot ratios as bars that start at 1.

    Parameters
    ----------
    axes : Axes
        Panel to plot to.
    shown : DataFrame
        One row per bar.
    columns : (str, str)
        Columns of the ratio and of the half-width of its confidence interval.
    label : str
        Label of the axis.
    """
    tops, half_widths = (shown[column].to_numpy(float) for column in columns)
    positions = range(len(shown))
    axes.bar(positions, tops - 1, 0.62, 1, yerr=half_widths, capsize=4, color=SKY, edgecolor=_EDGE)
    for position, top, half_width in zip(positions, tops, half_widths, strict=True):
        end = max(top, 1.0) + half_width
        axes.annotate(f"{top:.2f}", (position, end), (0, 3), textcoords="offset points", ha="center")
    axes.set_xticks(positions, _tick_labels(shown), fontsize=7)
    axes.set_ylabel(label)
    axes.grid(visible=False, axis="x")
    axes.axhline(1, color=_EDGE, linewidth=0.8)
    axes.margins(y=0.12)
    if min(tops) >= 1:
        axes.set_ylim(bottom=1)
