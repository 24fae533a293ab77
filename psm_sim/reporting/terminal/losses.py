"""Tables of a comparison of losses: their texts, also for the HTML page, and their terminal output."""

from __future__ import annotations

from math import isnan
from typing import TextIO

from psm_sim.campaign.loss_comparison import LossComparison, LossCurve
from psm_sim.reporting.marks import title_of
from psm_sim.reporting.sentences import conclude_losses
from psm_sim.reporting.terminal.console import Rows, console_on, print_lines, table_of
from psm_sim.simulation import Result


def result_rows(losses: LossComparison) -> Rows:
    """Return headings, and one row per loss and gamma and per other policy."""
    rows = [["loss or policy", "gamma", "energy (J per page)", "slowdown"]]
    rows += [[run.policy_name, "", *_cells(run)] for run in losses.others]
    for curve in losses.curves:
        for gamma, run in zip(curve.gammas, curve.runs, strict=True):
            is_default = gamma == curve.default_gamma
            text = "" if isnan(gamma) else f"{gamma:.3g}{' (default)' if is_default else ''}"
            rows.append([curve.name, text, *_cells(run)])
    return rows


def _cells(run: Result) -> list[str]:
    return [_cell(run, name) for name in ("energy_per_page_j", "slowdown.mean")]


def _cell(run: Result, name: str) -> str:
    half_width = f" ± {run.interval(name).half_width:.3f}" if run.replicate else ""
    return f"{run[name]:.3f}{half_width}"


def nat_rows(losses: LossComparison) -> Rows:
    """Return headings, and what a nat of each loss is worth."""
    rows = [["loss", "one nat, in mJ", "one nat, in ms of page time", "price of delay (W)", "R² of the fit"]]
    for curve in losses.curves:
        nat = curve.examination.nat
        values = (1000 * nat.joules, 1000 * nat.seconds, nat.price_w)
        rows.append([curve.name, *map(_number, values), f"{nat.fit:.2f}"])
    return rows


_COMPARATORS = ("best fixed time", "best switching", "best rate")

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


def regret_rows(losses: LossComparison) -> Rows:
    """Return headings, and losses and regrets of each loss in nats."""
    rows = [["loss", "rounds", "mixture loss", "loss used", *_COMPARATORS, "bound"]]
    for curve in losses.curves:
        regret = curve.examination.regret
        rows.append(
            [
                curve.name,
                f"{regret.rounds:,}",
                _number(regret.mixture),
                _number(regret.used),
                f"{_number(regret.mixture - regret.best_fixed)} ({regret.best_fixed_ms:g} ms)",
                f"{_number(regret.mixture - regret.best_switching)} ({regret.switches} switches)",
                _number(regret.over_best_rate),
                _number(regret.bound),
            ]
        )
    return rows


def setting_lines(losses: LossComparison) -> list[str]:
    """Return the lines that state pages, seeds and topology, and the origin of the pages.

    A loss that is the same for every polling time has a remark.
    """
    workload = losses.comparison.workload
    return [
        f"{title_of(losses.comparison)}.",
        f"{workload.name}: {workload.remark.rstrip('.')}.",
        *(
            f"{curve.name}: the loss is the same for every polling time, so LPSM learns nothing from it."
            for curve in losses.curves
            if curve.examination.is_constant
        ),
    ]


def page_load_text(curve: LossCurve) -> str:
    """Return the sentence that describes the page load of a loss."""
    page = curve.examination.page_load.page
    return (
        f"Page {page['page']} of the first seed at the default gamma: {page['objects']} objects,"
        f" {page['bytes']:,} bytes, {page['page_time_s']:.2f} s instead of {page['always_on_time_s']:.2f} s"
        " without power saving."
    )


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def write(losses: LossComparison, stream: TextIO) -> None:
    """Write the results, the cost of a nat and the regret to *stream*."""
    with console_on(stream) as console:
        for text, rows in (("", result_rows(losses)), (NAT, nat_rows(losses)), (REGRET, regret_rows(losses))):
            if text:
                print_lines(console, [text])
            console.print(table_of(rows))
            console.print()
        print_lines(console, [conclude_losses(losses), "", *setting_lines(losses)])
