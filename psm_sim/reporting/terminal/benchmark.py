"""Tables of the benchmark: the ranking, and the scores by traffic, radio and price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from psm_sim.campaign.benchmark.cells import CELLS, Cell
from psm_sim.campaign.benchmark.ranking import REFERENCE, Standing, mean_scores, rank
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.reporting.terminal.console import Rows, console_on, table_of
from psm_sim.simulation.sentences import join_names

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


def conclude(standings: Sequence[Standing], policy: str) -> str:
    """Return the rank of a *policy*, and where it is good and bad, in at most three sentences."""
    here = next(each for each in standings if each.policy == policy)
    tied = [each.policy for each in standings if each.rank == here.rank and each is not here]
    place = f"shares rank {here.rank} with {join_names(tied)}" if tied else f"has rank {here.rank}"
    text = f"{policy} {place}, of {len(standings)} policies. In {here.best} of {len(CELLS)} cells"
    text += f" no policy costs less, in {here.worse} it costs more than {REFERENCE}."
    if here.worst > 1:
        text += f" In its worst cell ({here.worst_cell}) it costs {here.worst:,.1f} times"
        text += " as much as the best policy."
    return text


def write(result: BenchmarkResult, stream: TextIO, policies: Sequence[str] = ()) -> None:
    """Write the ranking of a *result* to *stream*, conclusions, and the scores by traffic, radio and price.

    The conclusions are about *policies*, by default the first one of the ranking.
    """
    seeds, standings = result.seeds, rank(result)
    with console_on(stream) as console:
        console.print(table_of(ranking_rows(result)))
        console.print()
        for policy in policies or [standings[0].policy]:
            console.print(conclude(standings, policy))
            console.print()
        for field in Cell._fields:
            console.print(table_of(score_rows(result, field)))
            console.print()
        console.print(f"{len(CELLS)} cells, seeds {seeds[0]} to {seeds[-1]}. {EXPLANATION}")
