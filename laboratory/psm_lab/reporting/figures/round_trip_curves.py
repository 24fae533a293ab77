"""Curves of page time and energy against the round-trip time, and of sleep times (thesis, figure 2-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import BLUE, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_OPTIMUM = "hindsight, no delay"
"""Name of the offline optimum among the policies of a frame."""

_TICKS_MS = (10, 20, 40, 80, 150, 300, 600)  # for a logarithmic axis, each about twice the previous tick


def draw_round_trips(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot page time and energy against the round-trip time, one line per policy.

    Returns the figure and its caption. The columns of *frame* are ``rtt_ms, policy, time_ratio, energy_j,
    reference``. References are plotted as hollow markers.
    """
    figure, panels = new_figure(1, 2, width_in=8.4, height_in=4.2)
    labels = {"time_ratio": "mean page time over no power saving", "energy_j": "energy (J per page)"}
    for policy, line in frame[frame["policy"] != "always-on"].groupby("policy", sort=False):
        own = policy_style(str(policy))
        style: dict[str, Any] = {"color": own.colour, "linestyle": own.line, "marker": own.marker}
        style |= {"markersize": 4, "linewidth": 1.2, "label": policy}
        if policy == _OPTIMUM:
            style = {"color": "black", "linewidth": 1, "label": "offline optimum, no delay"}
        for axes, column in zip(panels, labels, strict=True):
            axes.plot(line["rtt_ms"], line[column], **style)
        known = line.dropna(subset=["reference"])
        hollow: dict[str, Any] = {"markersize": 8, "markerfacecolor": "none", "markeredgecolor": own.colour}
        references = known["reference"].astype(float)
        panels[0].plot(known["rtt_ms"], references, linestyle="none", marker=own.marker, **hollow)
    for axes, label in zip(panels, labels.values(), strict=True):
        axes.set_xscale("log")
        axes.set_xticks(_TICKS_MS, [str(tick) for tick in _TICKS_MS])
        axes.minorticks_off()
        axes.set(xlabel="round-trip time to the server (ms)", ylabel=label)
    add_legend(figure, panels[0])
    return figure, (
        "Page time and energy against the round-trip time to the server, without server delay. Large hollow"
        " markers: independent model."
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
