"""HTML page of a comparison of losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve, PageLoad
from psm_sim.reporting.html.figures import make_figure, put_legend_below
from psm_sim.reporting.html.html_document import (
    Section,
    escape_text,
    html_paragraphs,
    html_table,
    render_document,
    trade_off_section,
)
from psm_sim.reporting.marks import ENERGY, LABELS, SLOWDOWN, Mark, marks_of, short_name
from psm_sim.reporting.style import GREY, VERMILLION, series_style
from psm_sim.reporting.terminal.losses import (
    NAT,
    REGRET,
    nat_rows,
    page_load_text,
    regret_rows,
    result_rows,
    setting_lines,
)

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812


def page_of(losses: LossComparison, command: str) -> str:
    """Return the page as HTML, with the command that repeats the comparison."""
    marks = loss_marks(losses)
    headings, *rows = result_rows(losses)
    names = ", ".join(curve.name for curve in losses.curves)
    sections = [
        Section("summary", "", html_paragraphs([_INTRODUCTION]) + html_table(headings, rows)),
        _trade_off(marks, losses),
        *_sensitivity(marks, losses.curves),
        Section("nat", "Cost of a nat", html_paragraphs([NAT]) + _table(nat_rows(losses))),
        Section("regret", "Regret", html_paragraphs([REGRET]) + _table(regret_rows(losses))),
        *(
            Section(f"weights-{number}", f"Page load with {curve.name}", _page_load_html(curve), figure)
            for number, curve in enumerate(losses.curves)
            for figure in [_draw_weights(curve.examination.page_load, curve.examination.times_ms.tolist())]
        ),
        Section(
            "parameters",
            "Setting",
            html_paragraphs(setting_lines(losses)) + f"<pre><code>{escape_text(command)}</code></pre>",
        ),
    ]
    return render_document(f"Losses of LPSM: {names}", sections, {})


_INTRODUCTION = (
    "LPSM is simulated with each loss at several values of gamma, the weight of delay against energy, on the"
    " same pages as the other policies."
)


def _table(rows: Sequence[Sequence[str]]) -> str:
    return html_table(rows[0], rows[1:])


def _page_load_html(curve: LossCurve) -> str:
    return html_paragraphs([page_load_text(curve)])


_STYLES = (1, 4, 5, 6)
"""Indices of the styles of losses, whose colours differ from those of psm, bsd and anticipate."""


def loss_marks(losses: LossComparison) -> list[Mark]:
    """Return the marks of all results. Those of one loss are one series, labelled with gamma."""
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


def _trade_off(marks: Sequence[Mark], losses: LossComparison) -> Section:
    hint = "The marks of a loss are labelled with gamma. Click a legend entry to hide or show it."
    return trade_off_section(hint, marks, [(corner.slowdown, corner.energy_j) for corner in losses.frontier])


def _sensitivity(marks: Sequence[Mark], curves: Sequence[LossCurve]) -> list[Section]:
    """Return a section for energy and one for slowdown, over gamma relative to the default of the loss."""
    if not any(len(curve.runs) > 1 for curve in curves):
        return []
    return [
        Section(
            "gamma-energy", "Sensitivity of energy to gamma", "", _draw_sensitivity(marks, curves, ENERGY)
        ),
        Section(
            "gamma-slowdown",
            "Sensitivity of slowdown to gamma",
            "",
            _draw_sensitivity(marks, curves, SLOWDOWN),
        ),
    ]


def _draw_sensitivity(marks: Sequence[Mark], curves: Sequence[LossCurve], measure: str) -> Figure:
    figure = make_figure(
        320,
        x_axis_type="log",
        x_axis_label="gamma relative to the default of the loss",
        y_axis_label=LABELS[measure],
    )
    for curve in curves:
        if len(curve.runs) < 2:
            continue
        own = [mark for mark in marks if mark.label == short_name(curve.name)]
        xs = [gamma / curve.default_gamma for gamma in curve.gammas]
        ends = [mark.ends(measure) for mark in own]
        look = own[0].style
        shared: dict[str, Any] = {"color": look.colour, "legend_label": own[0].label}
        figure.segment(xs, [low for low, _ in ends], xs, [high for _, high in ends], line_width=1.5, **shared)
        ys = [mark.values[measure] for mark in own]
        figure.line(xs, ys, line_dash=look.bokeh_line, line_width=1.5, **shared)
        figure.scatter(xs, ys, marker=look.bokeh_marker, size=9, **shared)
    put_legend_below(figure, max(len(short_name(curve.name)) for curve in curves))
    return figure


def _draw_weights(load: PageLoad, times_ms: Sequence[float]) -> Figure:
    """Plot the weights of the experts as grey levels, and the polling time as a line."""
    page = load.page
    starts = [time - page["start_s"] for time in load.times_s.tolist()]
    ends = [*starts[1:], starts[-1] + 0.1]
    half_ms = (times_ms[1] - times_ms[0]) / 2
    figure = make_figure(
        340, x_axis_label="time since the request of the page (s)", y_axis_label="polling time (ms)"
    )
    figure.quad(
        left=[start for start in starts for _ in times_ms],
        right=[end for end in ends for _ in times_ms],
        bottom=[time - half_ms for _ in starts for time in times_ms],
        top=[time + half_ms for _ in starts for time in times_ms],
        fill_alpha=load.weights.ravel().tolist(),
        fill_color="#0072B2",
        line_color=None,
        legend_label="weight of the polling time",
    )
    figure.step(
        starts,
        load.polling_ms.tolist(),
        mode="after",
        color=VERMILLION,
        line_width=2,
        legend_label="polling time",
    )
    figure.segment(
        [0, page["page_time_s"]],
        [times_ms[0]] * 2,
        [0, page["page_time_s"]],
        [times_ms[-1]] * 2,
        color=GREY,
        line_dash="dashed",
        legend_label="request and end of the page",
    )
    put_legend_below(figure, 28)
    return figure
