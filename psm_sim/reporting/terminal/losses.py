"""Tables of a comparison of losses, as text and as terminal output."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TextIO

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve
from psm_sim.common.formatting import pluralize
from psm_sim.reporting.columns import Column, mean_column, text_column
from psm_sim.reporting.marks import title_of
from psm_sim.reporting.sentences import conclude_losses
from psm_sim.reporting.terminal.console import console_on, print_lines, print_table


def result_columns(losses: LossComparison) -> list[Column]:
    """Return the columns of energy and slowdown: a row for each policy, and for each gamma of each loss."""
    rows = [(run.policy_name, "", run) for run in losses.others]
    for curve in losses.curves:
        for gamma, run in zip(curve.gammas, curve.runs, strict=True):
            default = " (default)" if gamma == curve.default_gamma else ""
            rows.append((curve.name, "" if isnan(gamma) else f"{gamma:.3g}{default}", run))
    names, gammas, runs = zip(*rows, strict=True)
    return [
        text_column("loss or policy", names),
        text_column("gamma", gammas),
        mean_column("energy", [run.interval("energy_per_page_j") for run in runs], unit="J per page"),
        mean_column("slowdown", [run.interval("slowdown.mean") for run in runs], "mean"),
    ]


def nat_columns(losses: LossComparison) -> list[Column]:
    """Return the columns that convert one nat (the unit of the loss) to energy and to page time."""
    nats = [curve.examination.nat for curve in losses.curves]
    return [
        _loss_column(losses),
        _column("one nat", [1000 * nat.joules for nat in nats], unit="mJ"),
        _column("or page time", [1000 * nat.seconds for nat in nats], unit="ms"),
        _column("price of delay", [nat.price_w for nat in nats], unit="W"),
        Column("R²", [f"{nat.fit:.2f}" for nat in nats], "of the fit"),
    ]


def _loss_column(losses: LossComparison) -> Column:
    return text_column("loss", [curve.name for curve in losses.curves])


def _column(measure: str, values: Sequence[float], name: str = "", unit: str = "") -> Column:
    """Return a column of numbers, each with about four significant digits."""
    return Column(measure, list(map(_number, values)), name, unit)


REGRET = (
    "Losses over the rounds of these pages at the default gamma, in nats: the mixture loss of the learner,"
    " the loss at the polling times used, which are whole beacons, and the regret of the learner"
    " to the best fixed polling time, to the best switching sequence, and to Fixed-share at the best"
    " switching rate, which Corollary 1 bounds."
)

NAT = (
    "LPSM was run with each polling time fixed on the first pages of the first seed, 40 at most. The loss per"
    " page was fitted by energy and added page time. A nat is worth the given energy, or the given time."
    " Their ratio is the price of delay that the loss implies. If R² is far below 1, the loss is no price of"
    " energy and delay."
)


def regret_columns(losses: LossComparison) -> list[Column]:
    """Return the columns of the learner's loss and regret in nats: one row per loss function."""
    regrets = [curve.examination.regret for curve in losses.curves]
    return [
        _loss_column(losses),
        _column("rounds", [regret.rounds for regret in regrets]),
        _column("loss", [regret.mixture for regret in regrets], "mixture"),
        _column("loss", [regret.used for regret in regrets], "used"),
        _column("regret to", [regret.mixture - regret.best_fixed for regret in regrets], "fixed time"),
        _column("regret to", [regret.mixture - regret.best_switching for regret in regrets], "switching"),
        _column("regret to", [regret.over_best_rate for regret in regrets], "best rate"),
        _column("bound", [regret.bound for regret in regrets]),
        _column("best", [regret.best_fixed_ms for regret in regrets], "fixed ms"),
        _column("best", [regret.switches for regret in regrets], "switches"),
    ]


def setting_lines(losses: LossComparison) -> list[str]:
    """Return the lines that state pages, seeds and topology, and the origin of the pages.

    Further lines name losses that do not depend on the polling time, and losses of whole pages.
    """
    workload = losses.comparison.workload
    settings = "".join(f", {key}={value}" for key, value in losses.comparison.scenario.settings.items())
    return [
        f"{title_of(losses.comparison)}{settings}.",
        f"{workload.name}: {workload.remark.rstrip('.')}.",
        *(
            f"{curve.name}: the loss is the same for every polling time, so LPSM learns nothing from it."
            for curve in losses.curves
            if curve.examination.is_constant
        ),
        *(
            f"{curve.name}: a loss of a page. To learn a separate polling time for idle time, run the policy"
            " with context=outstanding."
            for curve in losses.curves
            if curve.examination.is_per_page
        ),
    ]


def page_load_text(curve: LossCurve) -> str:
    """Return a sentence on the examined page of a loss: number, size and page time."""
    page = curve.examination.page_load.page
    return (
        f"Page {page['page']} of the first seed at the default gamma: {pluralize(page['objects'], 'object')},"
        f" {pluralize(page['bytes'], 'byte')}, {page['page_time_s']:.2f} s instead of"
        f" {page['always_on_time_s']:.2f} s without power saving."
    )


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def write_losses(losses: LossComparison, stream: TextIO) -> None:
    """Write the tables of results, nats and regrets to *stream*, with explanations."""
    with console_on(stream) as console:
        print_table(console, result_columns(losses))
        for text, columns in ((NAT, nat_columns(losses)), (REGRET, regret_columns(losses))):
            print_lines(console, ["", text])
            print_table(console, columns)
        print_lines(console, ["", conclude_losses(losses), "", *setting_lines(losses)])
