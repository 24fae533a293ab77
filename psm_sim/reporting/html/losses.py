"""HTML page of a comparison of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve
from psm_sim.reporting.figures.canvas import svg_of
from psm_sim.reporting.figures.losses import draw_loss_trade_off, draw_sensitivities, draw_weights
from psm_sim.reporting.html.html_document import (
    Section,
    escape_text,
    html_conclusion,
    html_figure,
    html_paragraphs,
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
        Section("summary", "", summary + html_table(result_columns(losses))),
        Section("frontier", "Energy against slowdown", _trade_off(losses)),
        *(
            Section(f"gamma-{name}", title, _figure(figure, title))
            for name, figure in draw_sensitivities(losses)
            for title in [f"Sensitivity of {name} to gamma"]
        ),
        Section("nat", "Cost of a nat", html_paragraphs([NAT]) + html_table(nat_columns(losses))),
        Section("regret", "Regret", html_paragraphs([REGRET]) + html_table(regret_columns(losses))),
        *(
            Section(f"weights-{number}", f"Page load with {curve.name}", _page_load_html(curve))
            for number, curve in enumerate(losses.curves)
        ),
        Section(
            "parameters",
            "Setting",
            html_paragraphs(setting_lines(losses)) + f"<pre><code>{escape_text(command)}</code></pre>",
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


def _trade_off(losses: LossComparison) -> str:
    hint = html_paragraphs(["The ends of the curve of a loss are labelled with gamma."])
    return hint + _figure(draw_loss_trade_off(losses), "Energy against slowdown")


def _figure(figure: Figure, text: str) -> str:
    return html_figure(svg_of(figure), text)
