"""Tables of the benchmark: the ranking, and the scores by traffic, radio and price."""

from __future__ import annotations

from typing import TextIO

from psm_sim.campaign.benchmark.cells import CELLS, Cell
from psm_sim.campaign.benchmark.ranking import mean_scores, rank
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.reporting.terminal.console import console_on
from psm_sim.reporting.terminal.losses import Rows, table_of

EXPLANATION = (
    "The score is the geometric mean over the cells of the cost of a policy divided by that of the offline"
    " optimum. The cost is energy plus price times delay."
)


def ranking_rows(result: BenchmarkResult) -> Rows:
    """Return headings, and one row per policy."""
    headings = ["policy", "rank", "score", "95 % interval", "best in", "worse than psm in", "farthest behind"]
    return [headings] + [
        [
            each.policy,
            str(each.rank),
            f"{each.score:.2f}",
            f"{each.low:.2f} to {each.high:.2f}",
            str(each.best),
            str(each.worse),
            f"{each.worst:,.1f} times ({each.worst_cell})",
        ]
        for each in rank(result)
    ]


def score_rows(result: BenchmarkResult, field: str) -> Rows:
    """Return headings, and the scores of each policy by the values of a *field* of the cells."""
    scores, order = mean_scores(result, field), [each.policy for each in rank(result)]
    values = list(scores[order[0]])
    heads = [f"{float(value):g} W" for value in values] if field == "price_w" else values
    return [["policy", *heads]] + [
        [policy, *(f"{scores[policy][value]:,.2f}" for value in values)] for policy in order
    ]


def write(result: BenchmarkResult, stream: TextIO) -> None:
    """Write the ranking and the scores of a result to *stream*."""
    seeds = result.seeds
    with console_on(stream) as console:
        for rows in (ranking_rows(result), *(score_rows(result, field) for field in Cell._fields)):
            console.print(table_of(rows))
            console.print()
        console.print(f"{len(CELLS)} cells, seeds {seeds[0]} to {seeds[-1]}. {EXPLANATION}")
