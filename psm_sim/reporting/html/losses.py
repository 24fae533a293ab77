"""HTML page of a comparison of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve
from psm_sim.reporting.figures.canvas import svg_of
from psm_sim.reporting.figures.losses import draw_loss_trade_off, draw_sensitivities, draw_weights
from psm_sim.reporting.html.html_document import (
    html_command,
    html_conclusion,
    html_figure,
    html_paragraphs,
    html_section,
    html_table,
    render_document,
)
from psm_sim.reporting.sentences import conclude_losses
from psm_sim.reporting.terminal.losses import (
    NAT,
    REGRET,
    nat_columns,
    page_load_text,
    regret_columns,
    result_columns,
    setting_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html_of_losses(losses: LossComparison, command: str) -> str:
    """Return the page as HTML, with the command that repeats the comparison."""
    names = ", ".join(curve.name for curve in losses.curves)
    summary = html_conclusion(conclude_losses(losses)) + html_paragraphs([_INTRODUCTION])
    sections = [
        html_section("summary", "", summary + html_table(result_columns(losses))),
        html_section(
            "frontier",
            "Energy against slowdown",
            html_paragraphs(["The ends of the curve of a loss are labelled with gamma."])
            + _figure(draw_loss_trade_off(losses), "Energy against slowdown"),
        ),
        *(
            html_section(f"gamma-{name}", title, _figure(figure, title))
            for name, figure in draw_sensitivities(losses)
            for title in [f"Sensitivity of {name} to gamma"]
        ),
        html_section("nat", "Cost of a nat", html_paragraphs([NAT]) + html_table(nat_columns(losses))),
        html_section("regret", "Regret", html_paragraphs([REGRET]) + html_table(regret_columns(losses))),
        *(
            html_section(f"weights-{number}", f"Page load with {curve.name}", _page_load_html(curve))
            for number, curve in enumerate(losses.curves)
        ),
        html_section(
            "parameters",
            "Setting",
            html_paragraphs(setting_lines(losses)) + html_command(command),
        ),
    ]
    return render_document(f"Losses of LPSM: {names}", sections)


_INTRODUCTION = (
    "LPSM is simulated with each loss at several values of gamma, the weight of delay against energy, on the"
    " same pages as the other policies."
)


def _page_load_html(curve: LossCurve) -> str:
    picture = _figure(draw_weights(curve), f"Weights of the polling times with {curve.name}")
    return html_paragraphs([page_load_text(curve)]) + picture


def _figure(figure: Figure, text: str) -> str:
    return html_figure(svg_of(figure), text)
