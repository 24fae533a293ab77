"""Tables of the benchmark: the rankings, and the energy and delay of all policies in a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

import numpy as np

from psm_sim.campaign.benchmark.cells import Cell, radio_power
from psm_sim.campaign.benchmark.ranking import (
    FIRST,
    REFERENCE,
    Standing,
    first_ranks,
    mean_scores,
    policies_of,
    rank,
    share_of_same_order,
)
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.common.formatting import join_names
from psm_sim.reporting.terminal.console import Rows, console_on, table_of

EXPLANATION = (
    "The score is the geometric mean over the cells of the cost of a policy divided by the best known one:"
    " the least of the offline chain and of all policies. The cost is energy plus price times delay."
)

TITLES = {True: "Told the price", False: "Not told the price"}


def ranking_rows(standings: Sequence[Standing]) -> Rows:
    """Return headings, and one row per policy."""
    headings = [
        "policy",
        "rank",
        "score",
        "times the first",
        "best in",
        "worse than psm in",
        "farthest behind",
    ]
    return [headings] + [
        [
            each.policy,
            str(each.rank),
            f"{each.score:.2f}",
            f"{each.behind:.2f} ({each.behind_low:.2f} to {each.behind_high:.2f})",
            str(each.best),
            str(each.worse),
            f"{each.worst:,.1f} times ({each.worst_cell})",
        ]
        for each in standings
    ]


def score_rows(result: BenchmarkResult, field: str, policies: Sequence[str]) -> Rows:
    """Return headings, and the scores of *policies* by the values of a *field* of the cells."""
    scores = mean_scores(result, field, policies)
    values = list(scores[policies[0]])
    heads = [f"price {float(value):g}" for value in values] if field == "price" else values
    return [["policy", *heads]] + [
        [policy, *(f"{scores[policy][value]:,.2f}" for value in values)] for policy in policies
    ]


def order_rows(result: BenchmarkResult, policies: Sequence[str]) -> Rows:
    """Return headings, and the first policies by each measure."""
    found = first_ranks(result, policies)
    return [["measure", *map(str, range(1, 1 + FIRST)), "as by the score"]] + [
        [name, *first, "yes" if first == found["score"] else "no"] for name, first in found.items()
    ]


def survival(result: BenchmarkResult, policies: Sequence[str]) -> str:
    """Return whether the first ranks are the same by other measures, in two sentences."""
    found = first_ranks(result, policies)
    others = [name for name, first in found.items() if first != found["score"]]
    text = (
        f"The first {FIRST} ranks do not survive by {join_names(others)}."
        if others
        else (f"The first {FIRST} ranks are the same by each measure.")
    )
    share = share_of_same_order(result, policies)
    return f"{text} They are in {share:.0%} of the draws of traffic with replacement."


def cell_rows(result: BenchmarkResult, cell: Cell) -> Rows:
    """Return headings, and the means over the seeds of each policy in a *cell*, by ascending cost."""
    supply_v = radio_power(cell.radio).supply_v
    rows = []
    for policy in result.policies:
        energy_j, delay_s, time_s = (float(np.mean(values)) for values in result.costs(policy, cell))
        a_day = f"{energy_j / time_s * 24 / supply_v * 1000:,.4g}" if supply_v else "-"
        cost_j = energy_j + cell.price_w * delay_s
        rows.append((cost_j, [policy, f"{energy_j:.4g}", f"{delay_s:.4g}", a_day, f"{cost_j:.4g}"]))
    return [["policy", "energy J", "delay s", "mAh a day", "cost J"]] + [row for _, row in sorted(rows)]


def write_cell(result: BenchmarkResult, cell: Cell, stream: TextIO) -> None:
    """Write the energies and delays of all policies in a *cell* to *stream*."""
    time_s = float(np.mean(result.costs(REFERENCE, cell).time_s))
    with console_on(stream) as console:
        console.print(table_of(cell_rows(result, cell)))
        console.print()
        console.print(
            f"{cell} ({cell.price_w:.3g} W): means of {len(result.seeds)} seeds of about {time_s:,.0f} s."
            " The delay is the sum of those of all pages or messages, beyond an always-on radio."
        )


def conclude(standings: Sequence[Standing], policy: str, cells: int) -> str:
    """Return the rank of a *policy*, and where it is good and bad, in at most three sentences."""
    here = next(each for each in standings if each.policy == policy)
    tied = [each.policy for each in standings if each.rank == here.rank and each is not here]
    place = f"shares rank {here.rank} with {join_names(tied)}" if tied else f"has rank {here.rank}"
    text = f"{policy} {place}, of {len(standings)} policies. In {here.best} of {cells} cells"
    text += f" no policy costs less, in {here.worse} it costs more than {REFERENCE}."
    if here.worst > 1:
        text += f" In its worst cell ({here.worst_cell}) it costs {here.worst:,.1f} times"
        text += " as much as the best policy."
    return text


def write(result: BenchmarkResult, stream: TextIO, policies: Sequence[str] = ()) -> None:
    """Write the two rankings of a *result* to *stream*, with conclusions.

    The conclusions are about *policies*, by default the first one of each ranking.
    """
    seeds, cells = result.seeds, len(result.cells)
    with console_on(stream) as console:
        for told, title in TITLES.items():
            names = policies_of(result, told)
            standings = rank(result, names)
            console.print(f"{title}:")
            console.print(table_of(ranking_rows(standings)))
            console.print()
            for policy in [each for each in policies if each in names] or [standings[0].policy]:
                console.print(conclude(standings, policy, cells))
                console.print()
            console.print(survival(result, names))
            console.print()
        console.print(
            f"{cells} cells, seeds {seeds[0]} to {seeds[-1]}. {EXPLANATION} Intervals are over traffic."
        )
