"""Curves of page time and energy against the round-trip time, and of sleep times (thesis, figure 2-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import BLUE, Style, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OPTIMUM = "hindsight, no delay"
"""Name of the offline optimum among the policies of a frame."""

_TICKS_MS = (10, 20, 40, 80, 150, 300, 600)


def draw_round_trips(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot page time and energy against the round-trip time, one line per policy.

    Returns the figure and its caption. The columns of *frame* are ``rtt_ms, policy, time_ratio, energy_j``.
    The optional column ``reference`` is plotted as hollow markers.
    """
    shown = frame[frame["policy"] != "always-on"]
    figure, panels = new_figure(1, 2, width_in=8.4, height_in=4.2)
    for policy, line in shown.groupby("policy", sort=False):
        for axes, column in zip(panels, ("time_ratio", "energy_j"), strict=True):
            _plot_line(axes, line, str(policy), column)
        if "reference" in line:
            _plot_reference(panels[0], line, policy_style(str(policy)))
    for axes, label in zip(
        panels, ("mean page time over no power saving", "energy (J per page)"), strict=True
    ):
        axes.set_xscale("log")
        axes.set_xticks(_TICKS_MS, [str(tick) for tick in _TICKS_MS])
        axes.minorticks_off()
        axes.set_xlabel("round-trip time to the server (ms)")
        axes.set_ylabel(label)
    add_legend(figure, panels[0])
    note = " Large hollow markers: independent model." if "reference" in shown else ""
    return (
        figure,
        f"Page time and energy against the round-trip time to the server, without server delay.{note}",
    )


def _plot_line(axes: Axes, line: pd.DataFrame, policy: str, column: str) -> None:
    """Plot one column of a policy against the round-trip time.

    Parameters
    ----------
    axes : Axes
        Panel to plot to.
    line : DataFrame
        Rows of the policy.
    policy : str
        Policy spec.
    column : str
        Name of the column.
    """
    if policy == _OPTIMUM:
        axes.plot(line["rtt_ms"], line[column], color="black", linewidth=1, label="offline optimum, no delay")
        return
    style = policy_style(policy)
    axes.plot(
        line["rtt_ms"],
        line[column],
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markersize=4,
        linewidth=1.2,
        label=policy,
    )


def _plot_reference(axes: Axes, line: pd.DataFrame, style: Style) -> None:
    """Plot the reference values of a policy.

    Parameters
    ----------
    axes : Axes
        Panel to plot to.
    line : DataFrame
        Rows of the policy.
    style : Style
        Style of the policy.
    """
    points = line.dropna(subset=["reference"])
    axes.plot(
        points["rtt_ms"],
        points["reference"].astype(float),
        linestyle="none",
        marker=style.marker,
        markersize=8,
        markerfacecolor="none",
        markeredgecolor=style.colour,
    )


def draw_sleep_times(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the sleep times of LPSM as steps, one panel per loss.

    Returns the figure and its caption. The columns of *frame* are ``loss, time_s, sleep_ms``.
    """
    losses = list(dict.fromkeys(frame["loss"]))
    figure, panels = new_figure(len(losses), 1, width_in=6.8, height_in=1.0 + 1.7 * len(losses))
    for axes, loss in zip(panels, losses, strict=True):
        steps = frame[frame["loss"] == loss]
        axes.step(steps["time_s"], steps["sleep_ms"], where="post", color=BLUE, linewidth=0.8)
        axes.set_title(f"lpsm:loss={loss}", loc="left", fontsize=9)
        axes.set_ylabel("sleep time (ms)")
        axes.set_ylim(0, 1250)
        axes.margins(x=0.01)
        axes.sharex(panels[0])
    panels[-1].set_xlabel("time (s)")
    return figure, "Sleep times of LPSM over a part of a run, under each loss."
