"""Figures of a comparison of losses: trade-off, sensitivity to gamma, and the weights during one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve
from psm_sim.campaign.offline_pareto_frontier import best_known
from psm_sim.reporting.figures.canvas import WIDTH_IN, add_legend, common_style, new_figure
from psm_sim.reporting.figures.comparison import draw_marks
from psm_sim.reporting.marks import LABELS, Mark, marks_of, short_name
from psm_sim.reporting.style import GREY, VERMILLION, series_style
from psm_sim.simulation.table import ENERGY, SLOWDOWN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = (1, 4, 5, 6)
"""Indices of the styles of losses, whose colours differ from the colours of psm, bsd and anticipate."""


def loss_marks(losses: LossComparison) -> list[Mark]:
    """Return the marks of all results. The marks of one loss are a series labelled with gamma."""
    of_run = {
        id(run): mark for run, mark in zip(losses.comparison.shown, marks_of(losses.comparison), strict=True)
    }
    marks = [of_run[id(run)] for run in losses.others]
    for number, curve in enumerate(losses.curves):
        for gamma, run in zip(curve.gammas, curve.runs, strict=True):
            value = "" if isnan(gamma) else f"{gamma:.2g}"
            mark = replace(of_run[id(run)], label=short_name(curve.name), value=value)
            marks.append(replace(mark, style=series_style(_STYLES[number % len(_STYLES)])))
    return marks


def draw_loss_trade_off(losses: LossComparison) -> Figure:
    """Plot energy against slowdown of all losses and of the other policies."""
    marks = loss_marks(losses)
    results = [(mark.values[SLOWDOWN], mark.values[ENERGY]) for mark in marks]
    return draw_marks(marks, frontier=best_known(losses.frontier, results))


def draw_sensitivities(losses: LossComparison) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of energy and slowdown against gamma, with their names; none if gamma is fixed."""
    curves = [curve for curve in losses.curves if len(curve.runs) > 1]
    if curves:
        marks = loss_marks(losses)
        yield "energy", _draw_sensitivity(marks, curves, ENERGY)
        yield "slowdown", _draw_sensitivity(marks, curves, SLOWDOWN)


def _draw_sensitivity(marks: Sequence[Mark], curves: Sequence[LossCurve], measure: str) -> Figure:
    figure, (axes,) = new_figure(width_in=WIDTH_IN, height_in=3.4)
    with common_style():
        for curve in curves:
            own = [mark for mark in marks if mark.label == short_name(curve.name)]
            values, style = np.array([mark.values[measure] for mark in own]), own[0].style
            axes.errorbar(
                [gamma / curve.default_gamma for gamma in curve.gammas],
                values,
                yerr=np.abs(np.array([mark.ends(measure) for mark in own]).T - values),
                color=style.colour,
                marker=style.marker,
                linestyle=style.line,
                capsize=2,
                label=own[0].label,
            )
        axes.set_xscale("log")
        axes.set_xlabel("gamma relative to the default of the loss")
        axes.set_ylabel(LABELS[measure])
    add_legend(figure, axes)
    return figure


def draw_weights(curve: LossCurve) -> Figure:
    """Plot the weights of the experts during one page as levels of blue, and the polling time as a line."""
    load, times_ms = curve.examination.page_load, curve.examination.times_ms
    starts_s = load.times_s - load.page["start_s"]
    ends_s = np.append(starts_s, starts_s[-1] + 0.1)
    half_ms = (times_ms[1] - times_ms[0]) / 2
    edges_ms = np.append(times_ms - half_ms, times_ms[-1] + half_ms)
    figure, (axes,) = new_figure(width_in=WIDTH_IN, height_in=3.6)
    with common_style():
        levels = axes.pcolormesh(ends_s, edges_ms, load.weights.T, cmap="Blues", vmin=0, rasterized=True)
        figure.colorbar(levels, label="weight of the polling time")
        axes.step(
            ends_s,
            np.append(load.polling_ms, load.polling_ms[-1]),
            where="post",
            color=VERMILLION,
            linewidth=1.5,
            label="polling time",
        )
        for time_s, label in ((0.0, "request and end of the page"), (load.page["page_time_s"], "")):
            axes.axvline(time_s, color=GREY, linestyle="--", linewidth=1, label=label)
        axes.set_xlabel("time since the request of the page (s)")
        axes.set_ylabel("polling time (ms)")
        axes.grid(visible=False)
    add_legend(figure, axes)
    return figure
