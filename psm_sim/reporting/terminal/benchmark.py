"""Tables of the benchmark: the rankings, and the energy and delay of all policies in a case."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TextIO

import numpy as np

from psm_sim.campaign.benchmark.cases import Case, radio_power
from psm_sim.campaign.benchmark.ranking import (
    FIRST,
    REFERENCE_POLICY,
    Standing,
    first_ranks,
    policies_of,
    rank,
    share_of_same_order,
)
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.common.formatting import join_names, pluralize
from psm_sim.reporting.columns import Column, number_column, text_column
from psm_sim.reporting.terminal.console import (
    console_on,
    left_out_lines,
    print_lines,
    print_table,
)

EXPLANATION = (
    "The score is the geometric mean, over the cases, of the cost of a policy divided by the best known cost."
    " The best known cost is the least cost of the offline chain and of all policies."
    " The cost is energy plus price times delay."
)

TITLES = {True: "With the price", False: "Without the price"}


def ranking_columns(standings: Sequence[Standing]) -> list[Column]:
    """Return the columns of a ranking, with one row per policy."""
    intervals = [f"{standing.behind_low:.2f} to {standing.behind_high:.2f}" for standing in standings]
    return [
        text_column("policy", [standing.policy for standing in standings]),
        Column("rank", [str(standing.rank) for standing in standings]),
        Column("score", [f"{standing.score:.2f}" for standing in standings]),
        Column("times the first", [f"{standing.behind:.2f}" for standing in standings], "mean"),
        Column("times the first", intervals, "interval"),
        Column("cases", [str(standing.best) for standing in standings], "best"),
        Column("cases", [str(standing.worse) for standing in standings], "worse than psm"),
        Column("in worst case", [f"{standing.worst:,.1f}" for standing in standings], "times the best"),
        text_column("worst case", [str(standing.worst_case) for standing in standings], rank=1),
    ]


def survival(result: BenchmarkResult, policies: Sequence[str]) -> str:
    """Return two sentences on whether the first ranks change with the measure or the sample of traffic."""
    first_by_measure = first_ranks(result, policies)
    others = [name for name, first in first_by_measure.items() if first != first_by_measure["score"]]
    text = (
        f"The first {FIRST} ranks are not the same by {join_names(others)}."
        if others
        else (f"The first {FIRST} ranks are the same by each measure.")
    )
    share = share_of_same_order(result, policies)
    return f"{text} They are the same in {share:.0%} of the draws of traffic with replacement."


def _case_columns(result: BenchmarkResult, case: Case) -> list[Column]:
    """Return the columns of a *case*: one row per policy, sorted by cost, with means over the seeds."""
    supply_v = radio_power(case.radio).supply_v
    rows = []
    for policy in result.policies:
        energy_j, delay_s, time_s = (float(np.mean(values)) for values in result.costs(policy, case))
        mah = energy_j / time_s * 24 / supply_v * 1000 if supply_v else nan
        rows.append((energy_j + case.price_w * delay_s, policy, energy_j, delay_s, mah))
    cost_j, policies, energies_j, delays_s, mah_a_day = zip(*sorted(rows), strict=True)
    return [
        text_column("policy", policies),
        number_column("energy", energies_j, unit="J"),
        number_column("delay", delays_s, unit="s"),
        *([number_column("charge", mah_a_day, unit="mAh a day")] if supply_v else []),
        number_column("cost", cost_j, unit="J"),
    ]


def write_case(result: BenchmarkResult, case: Case, stream: TextIO) -> None:
    """Write the energies and delays of all policies in a *case* to *stream*."""
    time_s = float(np.mean(result.costs(REFERENCE_POLICY, case).time_s))
    seeds = pluralize(len(result.seeds), "seed")
    text = (
        f"{case} ({case.price_w:.3g} W): means of {seeds} of about {time_s:,.0f} s."
        " The delay is the sum over all pages or messages, beyond an always-on radio."
    )
    with console_on(stream) as console:
        print_table(console, _case_columns(result, case))
        print_lines(console, ["", text])


def describe_rank(standings: Sequence[Standing], policy: str, cases: int) -> str:
    """Return sentences on the rank of a *policy*, and on the cases in which it is best or worst."""
    here = next(standing for standing in standings if standing.policy == policy)
    tied = [standing.policy for standing in standings if standing.rank == here.rank and standing is not here]
    rank = f"shares rank {here.rank} with {join_names(tied)}" if tied else f"has rank {here.rank}"
    text = f"{policy} {rank}, of {len(standings)} policies. In {here.best} of {cases} cases"
    text += f" no policy costs less, in {here.worse} it costs more than {REFERENCE_POLICY}."
    if here.worst > 1:
        text += f" In its worst case ({here.worst_case}) it costs {here.worst:,.1f} times"
        text += " as much as the best policy."
    return text


def write_rankings(result: BenchmarkResult, stream: TextIO, policies: Sequence[str] = ()) -> None:
    """Write the two rankings of a *result* to *stream*, with conclusions.

    The conclusions are about *policies*, by default the first policy of each ranking.
    """
    seeds, cases = result.seeds, len(result.cases)
    with console_on(stream) as console:
        for priced, title in TITLES.items():
            names = policies_of(result, priced)
            standings = rank(result, names)
            console.print(f"{title}:")
            _, left_out = print_table(console, ranking_columns(standings))
            for policy in [spec for spec in policies if spec in names] or [standings[0].policy]:
                print_lines(console, ["", describe_rank(standings, policy, cases)])
            print_lines(console, ["", survival(result, names), ""])
        seeds_text = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
        lines = [f"{cases} cases, {seeds_text}. {EXPLANATION} Intervals are over traffic."]
        print_lines(console, [*lines, *left_out_lines(console, left_out, "--output")])
