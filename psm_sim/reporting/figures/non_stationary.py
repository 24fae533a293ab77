"""Figures of the study of non-stationary traffic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.estimates import Interval, interval
from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure, save_figure
from psm_sim.studies.non_stationary.tables import Study
from psm_sim.studies.non_stationary.task import BOUNDED, CURVE, FIXED, LEARN_ALPHA, LEARNERS, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADES = {"quiet": "#FFFFFF", "busy": "#CCCCCC", "stream": "#E6E6E6", "push": "#F4F4F4"}
_GROUPS = {
    "fixed polling time, 100 to 600 ms": FIXED[:6],
    "BSD": BOUNDED,
    "Fixed-share (alpha = 0: Static-expert)": LEARNERS[1:],
    LEARN_ALPHA: (LEARN_ALPHA,),
}
_BESIDE = {
    "Static-expert": (6, -3),
    "Fixed-share 0.0001": (8, 7),
    "Fixed-share 0.001": (-30, -10),
    "Fixed-share 0.01": (-4, -12),
    "Fixed-share 0.1": (-4, -12),
    FIXED[1]: (-3, 7),
    FIXED[2]: (-14, 7),
    **dict.fromkeys(FIXED[3:], (-16, 7)),
}
"""Where the name of a point stands that has neighbours, in points from it."""


def energy_against_slowdown(study: Study, stem: Path) -> list[Path]:
    """Draw joules and slowdown of every policy, with intervals; on the right what is near Learn-alpha."""
    figure, (wide, near) = new_figure(columns=2, width_in=7.4, height_in=4.0)
    numbers: dict[str, list[Any]] = {
        name: [] for name in ("policy", "slowdown", "slowdown_ci95", "energy_mj", "energy_mj_ci95")
    }
    for number, (title, policies) in enumerate(_GROUPS.items()):
        slowdown = [study.mean(each, "slowdown") for each in policies]
        energy = [interval(1000 * study.values(each, "energy_j")) for each in policies]
        for axes in (wide, near):
            axes.errorbar(
                [each.mean for each in slowdown], [each.mean for each in energy],
                xerr=[each.half_width for each in slowdown], yerr=[each.half_width for each in energy],
                label=title, color=COLOURS[number], marker=MARKERS[number], linestyle=LINES[number],
                linewidth=1, markersize=8 if title == LEARN_ALPHA else 5, zorder=3 - (title == LEARN_ALPHA),
            )  # fmt: skip
            _name_points(axes, policies, slowdown, energy, everything=axes is near)
        for policy, slow, joules in zip(policies, slowdown, energy, strict=True):
            row = (policy, slow.mean, slow.half_width, joules.mean, joules.half_width)
            for column, value in zip(numbers.values(), row, strict=True):
                column.append(value)
    _scale(study, wide, near)
    figure.legend(*wide.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return save_figure(figure, stem, numbers)


def _scale(study: Study, wide: Axes, near: Axes) -> None:
    """Set the axes: all of it in logarithms, and a window around Learn-alpha."""
    for axes in (wide, near):
        axes.set_xlabel("slowdown (mean of each page's own)")
    wide.set(xscale="log", yscale="log", ylabel="energy, mJ per page")
    ticks, powers = (1, 1.2, 1.5, 2, 2.5, 3), (400, 500, 600, 800, 1000, 1400)
    wide.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    wide.set_yticks(powers, [f"{power:g}" for power in powers])
    wide.minorticks_off()
    shown = (*LEARNERS[:-1], FIXED[0], FIXED[1])
    slow = [study.mean(each, "slowdown").mean for each in shown]
    joules = [1000 * study.mean(each, "energy_j").mean for each in shown]
    near.set(xlim=(min(slow) - 0.06, max(slow) + 0.09), ylim=(min(joules) - 8, max(joules) + 9))


def _name_points(
    axes: Axes, policies: Sequence[str], x: Sequence[Interval], y: Sequence[Interval], *, everything: bool
) -> None:
    """Write the parameter of each point beside it; those of the learners only where *everything* has room."""
    for number, policy in enumerate(policies):
        learner = policy in LEARNERS
        if policy == LEARN_ALPHA or (learner and not everything):
            continue
        words = f"p = {policy.rpartition('=')[2]}"
        if "listen_interval" in policy:
            words = f"{policy.rpartition('=')[2]}00 ms"
        elif learner:
            words = "alpha = 0" if policy == "Static-expert" else policy.rpartition(" ")[2]
        axes.annotate(
            words, (x[number].mean, y[number].mean), xytext=_BESIDE.get(policy, (5, 4)),
            textcoords="offset points", fontsize=7, annotation_clip=True,
        )  # fmt: skip


def loss_of_each_rate(study: Study, gammas: Sequence[str], stem: Path) -> list[Path]:
    """Draw the loss of Fixed-share over its rate, on Learn-alpha's rounds, with Learn-alpha's own.

    Parameters
    ----------
    study
        The rows of all seeds.
    gammas
        One panel each.
    stem
        Where the figure is written, without the ending.
    """
    figure, panels = new_figure(columns=len(gammas), width_in=7.0)
    numbers: dict[str, Sequence[Any]] = {"alpha": CURVE}
    lowest = CURVE[1] / 10
    for axes, gamma in zip(panels, gammas, strict=True):
        hindsight = study.rows[(study.rows["policy"] == "hindsight") & (study.rows["gamma"] == gamma)]
        found = [interval(values) for values in np.array(hindsight["curve"].tolist()).T]
        ours = interval(
            study.values(LEARN_ALPHA, "common", gamma) - study.values("hindsight", "best_expert", gamma)
        )
        alphas = [lowest, *CURVE[1:]]
        axes.plot(
            alphas, [each.mean for each in found], color=COLOURS[0], label="Fixed-share (left end: alpha = 0)"
        )
        axes.fill_between(
            alphas, [each.low for each in found], [each.high for each in found], color=COLOURS[0], alpha=0.25
        )
        axes.axhline(ours.mean, color=COLOURS[1], linestyle=LINES[1], label=LEARN_ALPHA)
        axes.axhspan(ours.low, ours.high, color=COLOURS[1], alpha=0.25)
        axes.set(xscale="log", xlabel="switching rate alpha", title=f"gamma {gamma}")
        axes.set_yscale("symlog", linthresh=50)
        numbers |= {
            f"fixed_share_{gamma}": [each.mean for each in found],
            f"fixed_share_{gamma}_ci95": [each.half_width for each in found],
            f"learn_alpha_{gamma}": [ours.mean],
            f"learn_alpha_{gamma}_ci95": [ours.half_width],
        }
    panels[0].set_ylabel("regret to the best expert, nats per run")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return save_figure(figure, stem, numbers)


def polling_times(found: Sequence[Timeline], stem: Path) -> list[Path]:
    """Draw the polling time of some learners, each over its own run, the regimes shaded."""
    figure, panels = new_figure(rows=len(found), width_in=7.0, height_in=5.0)
    numbers: dict[str, list[str]] = {}
    last_s = max(each.regimes[-1][2] for each in found)
    for number, (axes, one) in enumerate(zip(panels, found, strict=True)):
        for regime, begin_s, end_s in one.regimes:
            axes.axvspan(begin_s / 60, end_s / 60, color=_SHADES.get(regime, "#FFFFFF"), linewidth=0)
            axes.text((begin_s + end_s) / 120, 1260, regime, ha="center", va="bottom", fontsize=7)
        minutes, polling_ms = [now_s / 60 for now_s, _ in one.polling], [value for _, value in one.polling]
        axes.plot(minutes, polling_ms, color=COLOURS[number], linewidth=0.7, drawstyle="steps-post")
        axes.set(ylim=(0, 1250), xlim=(0, last_s / 60), ylabel=f"{one.learner}\npolling time, ms")
        axes.grid(visible=False)
        numbers[f"{one.learner} minutes"] = [f"{value:.3f}" for value in minutes]
        numbers[f"{one.learner} ms"] = [f"{value:.0f}" for value in polling_ms]
    panels[-1].set_xlabel("time, minutes")
    return save_figure(figure, stem, numbers)
