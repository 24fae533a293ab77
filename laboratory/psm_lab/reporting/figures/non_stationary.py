"""Figures of the study of non-stationary traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import COLOURS, ORANGE, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEARN_ALPHA = "Learn-alpha"
_STYLES = {
    "fixed polling time": policy_style("psm"),
    "BSD": policy_style("bsd"),
    "Fixed-share": policy_style("lpsm")._replace(colour=ORANGE, marker="v"),
    _LEARN_ALPHA: policy_style("lpsm"),
}
"""Styles of the groups, by the beginning of their name. LPSM learns with Learn-alpha."""

_SHADES = {"quiet": "#FFFFFF", "busy": "#CCCCCC", "stream": "#E6E6E6", "push": "#F4F4F4"}
_LABEL_OFFSETS = {
    "Static-expert": (6, -3),
    "Fixed-share 0.0001": (8, 7),
    "Fixed-share 0.001": (-30, -10),
    "Fixed-share 0.01": (-4, -12),
    "Fixed-share 0.1": (-4, -12),
    "psm:listen_interval=2": (-3, 7),
    "psm:listen_interval=3": (-14, 7),
    **dict.fromkeys((f"psm:listen_interval={beacons}" for beacons in range(4, 13)), (-16, 7)),
}
"""Offsets of the labels of points with close neighbours, in typographic points."""


def draw_trade_off(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot energy against slowdown, with a second panel that zooms in on Learn-alpha.

    Returns the figure and its caption. The columns of *frame* are ``group, policy, slowdown, energy_mj``, and
    the half-widths of the confidence intervals.
    """
    figure, (wide, near) = new_figure(columns=2, width_in=7.4, height_in=4.0)
    for group, line in frame.groupby("group", sort=False):
        is_learn_alpha = group == _LEARN_ALPHA
        style = next(style for name, style in _STYLES.items() if str(group).startswith(name))
        for axes in (wide, near):
            axes.errorbar(
                line["slowdown"],
                line["energy_mj"],
                xerr=line["slowdown_ci95"],
                yerr=line["energy_mj_ci95"],
                label=group,
                color=style.colour,
                marker=style.marker,
                linestyle=style.line,
                linewidth=1,
                markersize=8 if is_learn_alpha else 5,
                zorder=3 - is_learn_alpha,
            )
            if not is_learn_alpha and (axes is near or not str(group).startswith("Fixed-share")):
                for policy, *point in line[["policy", "slowdown", "energy_mj"]].to_numpy():
                    _label_point(axes, policy, (point[0], point[1]))
    for axes in (wide, near):
        axes.set(xlabel="slowdown (mean over pages)", ylabel="energy (mJ per page)")
    wide.set(xscale="log", yscale="log")
    slowdowns, energies = (1, 1.2, 1.5, 2, 2.5, 3), (400, 500, 600, 800, 1000, 1400)
    wide.set_xticks(slowdowns, [f"{tick:g}" for tick in slowdowns])
    wide.set_yticks(energies, [f"{tick:g}" for tick in energies])
    wide.minorticks_off()
    learners = ~frame["policy"].str.startswith(("psm", "bsd")) & (frame["policy"] != "Fixed-share 0.5")
    short = frame["policy"].isin(["psm:listen_interval=1", "psm:listen_interval=2"])
    slow, joules = (frame.loc[learners | short, name] for name in ("slowdown", "energy_mj"))
    near.set(xlim=(slow.min() - 0.06, slow.max() + 0.09), ylim=(joules.min() - 8, joules.max() + 9))
    add_legend(figure, wide)
    return figure, (
        "Energy against slowdown of every policy, with 95 % confidence intervals. The right panel zooms in on"
        " Learn-alpha."
    )


def _label_point(axes: Axes, policy: str, point: tuple[float, float]) -> None:
    """Label the point of a policy with its parameter."""
    name, _, value = policy.rpartition("=")
    label = f"{value}00 ms" if name.startswith("psm") else f"p = {value}"
    if not name:
        label = "alpha = 0" if policy == "Static-expert" else policy.rpartition(" ")[2]
    offset = _LABEL_OFFSETS.get(policy, (5, 4))
    axes.annotate(label, point, xytext=offset, textcoords="offset points", fontsize=7, annotation_clip=True)


def draw_rate_losses(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the regret of Fixed-share against its switching rate, one panel per gamma.

    Returns the figure and its caption. The columns of *frame* are ``gamma, alpha, fixed_share, learn_alpha``,
    and the half-widths of the confidence intervals.
    """
    gammas = list(dict.fromkeys(frame["gamma"]))
    figure, panels = new_figure(columns=len(gammas), width_in=7.0)
    for axes, gamma in zip(panels, gammas, strict=True):
        _plot_regret(axes, frame[frame["gamma"] == gamma])
        axes.set(xscale="log", xlabel="switching rate alpha", title=f"gamma {gamma}")
        axes.set_yscale("symlog", linthresh=50)
    panels[0].set_ylabel("regret to the best expert (nats per run)")
    add_legend(figure, panels[0])
    return figure, (
        "Regret of Fixed-share against its switching rate, and of Learn-alpha, on the rounds of Learn-alpha."
    )


def _plot_regret(axes: Axes, curve: pd.DataFrame) -> None:
    lowest = curve["alpha"].iloc[1] / 10  # the axis is logarithmic, so a rate of 0 is plotted at its left end
    alphas, mean, half = curve["alpha"].clip(lower=lowest), curve["fixed_share"], curve["fixed_share_ci95"]
    axes.plot(alphas, mean, color=COLOURS[0], label="Fixed-share (left end: alpha = 0)")
    axes.fill_between(alphas, mean - half, mean + half, color=COLOURS[0], alpha=0.25)
    regret, half_width = curve["learn_alpha"].iloc[0], curve["learn_alpha_ci95"].iloc[0]
    axes.axhline(regret, color=COLOURS[1], linestyle="--", label=_LEARN_ALPHA)
    axes.axhspan(regret - half_width, regret + half_width, color=COLOURS[1], alpha=0.25)


def draw_polling_times(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the polling times of each learner in its own panel, with the traffic regimes shaded.

    Returns the figure and its caption. The columns of *frame* are ``learner, minutes, polling_ms, regime``.
    """
    learners = list(dict.fromkeys(frame["learner"]))
    figure, panels = new_figure(rows=len(learners), width_in=7.0, height_in=5.0)
    for index, (axes, learner) in enumerate(zip(panels, learners, strict=True)):
        run = frame[frame["learner"] == learner]
        _shade_regimes(axes, run)
        axes.plot(
            run["minutes"], run["polling_ms"], color=COLOURS[index], linewidth=0.7, drawstyle="steps-post"
        )
        axes.set(ylim=(0, 1250), xlim=(0, frame["minutes"].max()), ylabel=f"{learner}\npolling time (ms)")
        axes.grid(visible=False)
    panels[-1].set_xlabel("time (minutes)")
    return figure, "Polling times of three learners, each in its own run through one cycle of the regimes."


def _shade_regimes(axes: Axes, run: pd.DataFrame) -> None:
    for _, period in run.groupby((run["regime"] != run["regime"].shift()).cumsum()):
        start, end = period["minutes"].iloc[[0, -1]]
        regime = period["regime"].iloc[0]
        axes.axvspan(start, end, color=_SHADES[regime], linewidth=0)
        axes.text((start + end) / 2, 1260, regime, ha="center", va="bottom", fontsize=7)
