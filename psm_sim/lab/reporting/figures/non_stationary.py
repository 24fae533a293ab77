"""Figures of the study of non-stationary traffic: energy against slowdown, regret, and polling times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OURS = "Learn-alpha"
_SHADES = {"quiet": "#FFFFFF", "busy": "#CCCCCC", "stream": "#E6E6E6", "push": "#F4F4F4"}
_BESIDE = {
    "Static-expert": (6, -3),
    "Fixed-share 0.0001": (8, 7),
    "Fixed-share 0.001": (-30, -10),
    "Fixed-share 0.01": (-4, -12),
    "Fixed-share 0.1": (-4, -12),
    "psm:listen_interval=2": (-3, 7),
    "psm:listen_interval=3": (-14, 7),
    **dict.fromkeys((f"psm:listen_interval={beacons}" for beacons in range(4, 13)), (-16, 7)),
}
"""Where the name of a point stands that has neighbours, in points from it."""


def draw_trade_off(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``group, policy, slowdown, energy_mj`` with intervals; on the right what is near Learn-alpha."""
    figure, (wide, near) = new_figure(columns=2, width_in=7.4, height_in=4.0)
    for number, (group, line) in enumerate(frame.groupby("group", sort=False)):
        for axes in (wide, near):
            _line(axes, line, number, str(group))
            for point in line.to_dict("records"):
                _name_point(axes, point, everything=axes is near)
    _scale(frame, wide, near)
    figure.legend(*wide.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, "Energy against slowdown of every policy, with 95 % intervals; right: near Learn-alpha."


def _line(axes: Axes, line: pd.DataFrame, number: int, group: str) -> None:
    axes.errorbar(
        line["slowdown"], line["energy_mj"], xerr=line["slowdown_ci95"], yerr=line["energy_mj_ci95"],
        label=group, color=COLOURS[number], marker=MARKERS[number], linestyle=LINES[number],
        linewidth=1, markersize=8 if group == _OURS else 5, zorder=3 - (group == _OURS),
    )  # fmt: skip


def _name_point(axes: Axes, point: Mapping[Any, Any], *, everything: bool) -> None:
    """Write a point's parameter beside it; that of a learner only where *everything* has room."""
    policy = str(point["policy"])
    learner = not policy.startswith(("psm", "bsd"))
    if policy == _OURS or (learner and not everything):
        return
    words = f"p = {policy.rpartition('=')[2]}"
    if "listen_interval" in policy:
        words = f"{policy.rpartition('=')[2]}00 ms"
    elif learner:
        words = "alpha = 0" if policy == "Static-expert" else policy.rpartition(" ")[2]
    axes.annotate(
        words, (point["slowdown"], point["energy_mj"]), xytext=_BESIDE.get(policy, (5, 4)),
        textcoords="offset points", fontsize=7, annotation_clip=True,
    )  # fmt: skip


def _scale(frame: pd.DataFrame, wide: Axes, near: Axes) -> None:
    """Set the axes: all of it in logarithms, and a window around Learn-alpha."""
    for axes in (wide, near):
        axes.set_xlabel("slowdown (mean of each page's own)")
        axes.set_ylabel("energy (mJ per page)")
    wide.set(xscale="log", yscale="log")
    ticks, powers = (1, 1.2, 1.5, 2, 2.5, 3), (400, 500, 600, 800, 1000, 1400)
    wide.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    wide.set_yticks(powers, [f"{power:g}" for power in powers])
    wide.minorticks_off()
    learners = ~frame["policy"].str.startswith(("psm", "bsd")) & (frame["policy"] != "Fixed-share 0.5")
    short = frame["policy"].isin(["psm:listen_interval=1", "psm:listen_interval=2"])
    slow, joules = (frame.loc[learners | short, name] for name in ("slowdown", "energy_mj"))
    near.set(xlim=(slow.min() - 0.06, slow.max() + 0.09), ylim=(joules.min() - 8, joules.max() + 9))


def draw_rate_losses(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``gamma, alpha, fixed_share, learn_alpha`` with half widths, one panel per gamma."""
    gammas = list(dict.fromkeys(frame["gamma"]))
    figure, panels = new_figure(columns=len(gammas), width_in=7.0)
    for axes, gamma in zip(panels, gammas, strict=True):
        _rates(axes, frame[frame["gamma"] == gamma])
        axes.set(xscale="log", xlabel="switching rate alpha", title=f"gamma {gamma}")
        axes.set_yscale("symlog", linthresh=50)
    panels[0].set_ylabel("regret to the best expert (nats per run)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, "Loss of Fixed-share over its switching rate on Learn-alpha's rounds, and Learn-alpha's."


def _rates(axes: Axes, curve: pd.DataFrame) -> None:
    lowest = curve["alpha"].iloc[1] / 10  # the axis is logarithmic, so a rate of 0 is drawn at its left end
    alphas, mean, half = curve["alpha"].clip(lower=lowest), curve["fixed_share"], curve["fixed_share_ci95"]
    axes.plot(alphas, mean, color=COLOURS[0], label="Fixed-share (left end: alpha = 0)")
    axes.fill_between(alphas, mean - half, mean + half, color=COLOURS[0], alpha=0.25)
    ours, width = curve["learn_alpha"].iloc[0], curve["learn_alpha_ci95"].iloc[0]
    axes.axhline(ours, color=COLOURS[1], linestyle=LINES[1], label=_OURS)
    axes.axhspan(ours - width, ours + width, color=COLOURS[1], alpha=0.25)


def draw_polling_times(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``learner, minutes, polling_ms, regime``, one panel per learner, the regimes shaded."""
    learners = list(dict.fromkeys(frame["learner"]))
    figure, panels = new_figure(rows=len(learners), width_in=7.0, height_in=5.0)
    for number, (axes, learner) in enumerate(zip(panels, learners, strict=True)):
        run = frame[frame["learner"] == learner]
        _shade(axes, run)
        axes.plot(
            run["minutes"], run["polling_ms"], color=COLOURS[number], linewidth=0.7, drawstyle="steps-post"
        )
        axes.set(ylim=(0, 1250), xlim=(0, frame["minutes"].max()), ylabel=f"{learner}\npolling time (ms)")
        axes.grid(visible=False)
    panels[-1].set_xlabel("time (minutes)")
    return figure, "Polling times of three learners, each over its own run of one round of the regimes."


def _shade(axes: Axes, run: pd.DataFrame) -> None:
    stretches = (run["regime"] != run["regime"].shift()).cumsum()
    for _, stretch in run.groupby(stretches):
        begin, end, regime = (
            stretch["minutes"].iloc[0],
            stretch["minutes"].iloc[-1],
            stretch["regime"].iloc[0],
        )
        axes.axvspan(begin, end, color=_SHADES.get(regime, "#FFFFFF"), linewidth=0)
        axes.text((begin + end) / 2, 1260, regime, ha="center", va="bottom", fontsize=7)
