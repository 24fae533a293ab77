"""Report of ``psm_sim benchmark``: tables and figures of the policies, and the ranking on other seeds.

    python -m psm_lab.benchmark_report

Writes ``reports/benchmark`` from the stored results of the built-in policies and of the entries. The seeds
are split into halves, and the rankings of both halves are compared. ``docs/benchmark.md`` has the commands.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from psm_lab.reporting.pages.markdown_tables import markdown_table
from psm_sim.campaign.benchmark.cases import PRICED, PRICES, Case
from psm_sim.campaign.benchmark.ranking import (
    FIRST,
    REFERENCE_POLICY,
    Standing,
    first_ranks,
    policies_of,
    rank,
)
from psm_sim.campaign.benchmark.result import STANDING, BenchmarkResult, read_result
from psm_sim.common.array_types import FloatArray
from psm_sim.reporting.columns import plain_rows
from psm_sim.reporting.figures.canvas import add_legend, new_figure, save_picture
from psm_sim.reporting.style import policy_style, series_style
from psm_sim.reporting.terminal.benchmark import (
    EXPLANATION,
    TITLES,
    ranking_columns,
    survival,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path("reports/benchmark")
ENTRIES = Path("benchmarks/entries")
_MAX_BEHIND = 100.0  # end of the colour scale; larger ratios have the last colour
_HEADINGS = {
    "traffic": "Scores by traffic",
    "radio": "Scores by radio",
    "price": "Scores by price of delay",
}


@dataclass(frozen=True)
class Stability:
    """Stability of the order of pairs of policies over several sets of seeds.

    Attributes
    ----------
    pairs : int
        Number of pairs.
    separate : int
        Number of pairs whose intervals do not overlap in any ranking.
    reversed : list of (str, str)
        Pairs that have opposite orders in two rankings, with separate intervals in both.
    """

    pairs: int
    separate: int
    reversed: list[tuple[str, str]]


def compare_rankings(rankings: Sequence[Sequence[Standing]]) -> Stability:
    """Return the stability of the order; all *rankings* have the same policies."""
    tables = [{standing.policy: standing for standing in ranking} for ranking in rankings]
    pairs = list(combinations(tables[0], 2))
    orders = {pair: [_order(*(table[name] for name in pair)) for table in tables] for pair in pairs}
    return Stability(
        len(pairs),
        sum(0 not in order for order in orders.values()),
        [pair for pair, order in orders.items() if {-1, 1} <= set(order)],
    )


def _order(first: Standing, second: Standing) -> int:
    """Return -1 if the first policy has the lower interval, 1 if the second has, and 0 if they overlap."""
    return int(first.low > second.high) - int(first.high < second.low)


def published(result: BenchmarkResult) -> list[str]:
    """Return the policies that others have published, including those that use the price of delay."""
    own = ("anticipate", "always-on", "predict")
    return [policy for policy in policies_of(result, priced=True) if policy.split(":")[0] not in own] + [
        "predict:arrivals=false"
    ]


def targets(result: BenchmarkResult, policy: str) -> list[list[str]]:
    """Return a row for each target of *policy*: the target, the measured value, and whether it holds."""
    logs = result.log_costs(result.policies).mean(axis=2)
    best_known = result.log_best_known().mean(axis=1)
    own, reference = (logs[result.policies.index(name)] for name in (policy, REFERENCE_POLICY))
    best = logs[[result.policies.index(name) for name in published(result)]].min(axis=0)
    score, limit = (float(np.exp((each - best_known).mean())) for each in (own, best))
    above, twice = np.exp(own - reference), np.exp(own - best)

    def missed(ratios: FloatArray, most: float) -> tuple[str, str]:
        cases = [
            f"{case} ({ratio:.2f})" for case, ratio in zip(result.cases, ratios, strict=True) if ratio > most
        ]
        return f"{len(cases)} of {len(ratios)}" + (": " + "; ".join(cases) if cases else ""), _holds(
            not cases
        )

    return [
        [
            f"score below {limit:.2f}, that of the best published policy of each case, chosen with hindsight",
            f"{score:.2f}",
            _holds(score < limit),
        ],
        ["no case costs more than 1.05 times static PSM", *missed(above, 1.05)],
        ["no case costs more than twice the best published policy", *missed(twice, 2.0)],
    ]


def _holds(holds: bool) -> str:
    return "yes" if holds else "no"


def entry_rows(folder: Path = ENTRIES) -> list[list[str]]:
    """Return headings, and the policy, author, licence and paper of each entry."""
    names = ["policy", "author", "licence", "paper"]
    entries = [
        tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/entry.toml"))
    ]
    return [names] + [[entry[name] for name in names] for entry in entries]


def write_benchmark_report(stored: BenchmarkResult, folder: Path = FOLDER) -> None:
    """Write the tables, the figures and the numbers of a result to a folder."""
    half = len(stored.seeds) // 2
    sets = [stored.part(stored.seeds[:half]), stored.part(stored.seeds[half:])]
    names = policies_of(stored, priced=True)
    ranking, rankings = rank(stored, names), [rank(each, names) for each in sets]
    stability = compare_rankings(rankings)
    order, figures = [each.policy for each in ranking], folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    save_picture(_draw_scores(order, sets, rankings), figures / "scores.svg")
    save_picture(_draw_cases(_behind(stored, order), order, stored.cases), figures / "cases.svg")
    (folder / "README.md").write_text(_page(stored, sets, stability), encoding="utf-8")
    numbers = {
        "versions": stored.versions,
        "seeds": stored.seeds,
        "priced": _numbers(ranking),
        "unpriced": _numbers(rank(stored, policies_of(stored, priced=False))),
        "halves": [_numbers(each) for each in rankings],
        "stability": vars(stability),
    }
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")


_PAGE = """\
# Benchmark of power-save policies

[The rules](../../docs/benchmark.md) define the cases, the score and the ranks. {explanation} There are
{cases} cases: {kinds} kinds of traffic, {radios} radios and {prices} prices. Seeds {seeds}. Versions:
{versions}.

```sh
python -m psm_sim benchmark
```

{rankings}
*Times the first* is the score divided by that of the first policy, with the 95 % interval over kinds of
traffic drawn with replacement. *Cases best* counts those in which no policy of the table costs less. *Cases
worse than psm* counts those in which static PSM costs less. The *worst case* has the largest ratio to the
best policy. `predict` knows when each buffered frame reached the access point, which no driver does;
`predict:arrivals=false` and all entries do not.

![Scores](figures/scores.svg)

*Score of each policy, with 95 % intervals over the seeds of each set.*

![Costs in each case](figures/cases.svg)

*Cost of each policy divided by that of the best policy of the case. The prices increase within each radio,
and the radios are in the order of the table below.*

## Targets

Those of `{policy}`. The published policies are {published}.

{targets}
{scores}
## Other seeds

The ranking was made for each half of the seeds. Of {stability.pairs} pairs of policies, the intervals of
{stability.separate} over the seeds are disjoint in both. Pairs whose order differs between the halves, with
disjoint intervals in both: {reversed}.

## Best known cost

In {below} of {runs} runs (policy, case and seed) a policy costs less than the offline optimum of the chain.
The least cost is {least} of it. The chain assumes that a late frame delays all later traffic, but frames of
several connections can wait for the same beacon. The score therefore divides by the least of the chain and
of all policies. The order does not depend on it.

## Entries

{entries}
"""


def _page(stored: BenchmarkResult, halves: Sequence[BenchmarkResult], stability: Stability) -> str:
    chain = np.log([stored.chain_j[case] for case in stored.cases])
    logs = stored.log_costs(stored.policies) - chain
    names, policy = policies_of(stored, priced=True), PRICED["anticipate"]
    order = [each.policy for each in rank(stored, names)]
    tables = [
        f"## {head}\n\n{_table(_score_rows(stored, field, order))}" for field, head in _HEADINGS.items()
    ]
    return _PAGE.format(
        explanation=EXPLANATION,
        cases=len(stored.cases),
        kinds=len({case.traffic for case in stored.cases}),
        radios=len({case.radio for case in stored.cases}),
        prices=len(PRICES),
        seeds=_seeds(stored),
        versions=", ".join(f"{name} {version}" for name, version in stored.versions.items()),
        rankings="\n".join(_ranking(stored, priced) for priced in TITLES),
        policy=policy,
        published=", ".join(f"`{each}`" for each in published(stored)),
        targets=_table([["target", "measured", "holds"], *targets(stored, policy)]),
        scores="\n".join(tables),
        stability=stability,
        reversed=", ".join(f"{one} and {other}" for one, other in stability.reversed) or "none",
        below=f"{(logs < 0).sum():,}",
        runs=f"{logs.size:,}",
        least=f"{np.exp(logs.min()):.2f}",
        entries=_table(entry_rows()),
    )


def _ranking(stored: BenchmarkResult, priced: bool) -> str:
    names = policies_of(stored, priced)
    ranking = _table(plain_rows(ranking_columns(rank(stored, names))))
    return (
        f"## {TITLES[priced]}\n\n{ranking}\n{survival(stored, names)}\n\n"
        f"{_table(_first_rank_rows(stored, names))}"
    )


def _score_rows(result: BenchmarkResult, field: str, policies: Sequence[str]) -> list[list[str]]:
    """Return the scores of *policies*, with a column for each value of a *field* of the cases."""
    means = (result.log_costs(policies) - result.log_best_known()).mean(axis=2)
    values = np.array([getattr(case, field) for case in result.cases])
    distinct = list(dict.fromkeys(values.tolist()))
    heads = [f"price {value:g}" if field == "price" else value for value in distinct]
    rows = [
        [policy, *(f"{np.exp(row[values == value].mean()):,.2f}" for value in distinct)]
        for policy, row in zip(policies, means, strict=True)
    ]
    return [["policy", *heads], *rows]


def _first_rank_rows(result: BenchmarkResult, policies: Sequence[str]) -> list[list[str]]:
    """Return the policies in the first ranks, with a row for each measure."""
    first = first_ranks(result, policies)
    rows = [[measure, *names, "yes" if names == first["score"] else "no"] for measure, names in first.items()]
    return [["measure", *map(str, range(1, FIRST + 1)), "as by the score"], *rows]


def _seeds(result: BenchmarkResult) -> str:
    return f"{result.seeds[0]} to {result.seeds[-1]}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    headings, *others = rows
    return markdown_table(headings, others)


def _numbers(ranking: Sequence[Standing]) -> list[dict[str, object]]:
    return [{**vars(each), "worst_case": str(each.worst_case)} for each in ranking]


def _draw_scores(
    names: Sequence[str], results: Sequence[BenchmarkResult], rankings: Sequence[Sequence[Standing]]
) -> Figure:
    """Plot the scores with their intervals, a row per policy and a marker per set of seeds."""
    figure, (axes,) = new_figure(height_in=4.6)
    for number, (result, ranking) in enumerate(zip(results, rankings, strict=True)):
        each = {standing.policy: standing for standing in ranking}
        shown = [each[name] for name in names]
        style = series_style(number)
        axes.errorbar(
            [one.score for one in shown],
            np.arange(len(names)) + 0.22 * (number - (len(results) - 1) / 2),
            xerr=[[one.score - one.low for one in shown], [one.high - one.score for one in shown]],
            fmt=style.marker,
            color=style.colour,
            markersize=4,
            linewidth=1,
            capsize=2,
            label=f"seeds {_seeds(result)}",
        )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="cost relative to the best known one (geometric mean over the cases)")
    axes.axvline(1.0, color="black", linestyle=":", linewidth=1)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_color(policy_style(name).colour)
    add_legend(figure, axes)
    return figure


def _behind(result: BenchmarkResult, policies: Sequence[str]) -> FloatArray:
    """Return the cost of each policy relative to the least cost in the case, shape (policies, cases)."""
    means = result.log_costs(policies).mean(axis=2)
    return np.asarray(np.exp(means - means.min(axis=0)))


def _draw_cases(behind: FloatArray, names: Sequence[str], cases: Sequence[Case]) -> Figure:
    """Plot the cost ratios as a heat map of policies and cases."""
    from matplotlib.colors import LogNorm

    figure, (axes,) = new_figure(width_in=9.0, height_in=4.2)
    image = axes.imshow(
        behind, aspect="auto", cmap="cividis_r", norm=LogNorm(1, _MAX_BEHIND), interpolation="nearest"
    )
    axes.set_yticks(range(len(names)), names)
    groups = [(name, len(list(each))) for name, each in groupby(cases, lambda case: case.traffic)]
    ends = np.cumsum([count for _, count in groups])
    starts = ends - [count for _, count in groups]
    axes.set_xticks((starts + ends - 1) / 2, [name for name, _ in groups], rotation=60, ha="right")
    for end in ends[:-1]:
        axes.axvline(end - 0.5, color="white", linewidth=1.5)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="cost / least cost of the case", extend="max")
    return figure


def stored_result() -> BenchmarkResult:
    """Return the stored results of the built-in policies and of all entries."""
    result = read_result(STANDING)
    for path in sorted(ENTRIES.glob("*/result.json")):
        result = result.joined(read_result(path))
    return result


if __name__ == "__main__":
    write_benchmark_report(stored_result())
