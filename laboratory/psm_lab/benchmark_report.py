"""Report of ``psm_sim benchmark``: tables and figures of the policies, and the ranking on other seeds.

    python -m psm_lab.benchmark_report RESULT.json

Writes ``reports/benchmark``. The argument is a result of the same policies on other seeds than the stored
one, which is cut into two halves. ``docs/benchmark.md`` has the commands.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from psm_lab.reporting.pages.markdown_tables import markdown_table
from psm_sim.campaign.benchmark.cells import CELLS, Cell
from psm_sim.campaign.benchmark.ranking import Standing, rank
from psm_sim.campaign.benchmark.result import STANDING, BenchmarkResult, read_result
from psm_sim.common.array_types import FloatArray
from psm_sim.reporting.figures.canvas import add_legend, new_figure, save_picture
from psm_sim.reporting.style import policy_style, series_style
from psm_sim.reporting.terminal.benchmark import EXPLANATION, ranking_rows, score_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path("reports/benchmark")
_MAX_BEHIND = 100.0
_HEADINGS = {
    "traffic": "Scores by traffic",
    "radio": "Scores by radio",
    "price_w": "Scores by price of delay",
}


@dataclass(frozen=True)
class Stability:
    """Pairs of policies in the rankings on several sets of seeds.

    Attributes
    ----------
    pairs : int
        Number of pairs.
    separate : int
        Number of those whose intervals do not overlap in any ranking.
    reversed : list of (str, str)
        Pairs whose intervals do not overlap in two rankings, with a different order.
    """

    pairs: int
    separate: int
    reversed: list[tuple[str, str]]


def compare_rankings(rankings: Sequence[Sequence[Standing]]) -> Stability:
    """Return whether the order of the same policies is equal in all *rankings*."""
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


def write_report(stored: BenchmarkResult, other: BenchmarkResult, folder: Path = FOLDER) -> None:
    """Write the tables, the figures and the numbers.

    Parameters
    ----------
    stored, other : BenchmarkResult
        Stored result, and one of other seeds.
    folder : Path
        Folder to write to.
    """
    half = len(stored.seeds) // 2
    sets = [stored.first(half), stored.first(None, half), other]
    ranking, rankings = rank(stored), [rank(each) for each in sets]
    stability = compare_rankings(rankings)
    order, figures = [each.policy for each in ranking], folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    save_picture(_draw_scores(order, sets, rankings), figures / "scores.svg")
    save_picture(_draw_cells(_behind(stored, ranking), order), figures / "cells.svg")
    (folder / "README.md").write_text(_page(stored, sets, stability), encoding="utf-8")
    numbers = {
        "versions": stored.versions,
        "all": _numbers(stored, ranking),
        "sets": list(map(_scores, sets, rankings)),
        "stability": vars(stability),
    }
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")


_PAGE = """\
# Benchmark of power-save policies

[The rules](../../docs/benchmark.md) define the cells, the score and the ranks. {explanation} The intervals
are over seeds {seeds}. Versions: {versions}.

```sh
python -m psm_sim benchmark
```

## Ranking

{ranking}
*Best in* counts the cells in which no policy costs less. *Worse than psm in* counts those in which static
PSM costs less. *Farthest behind* is the largest ratio to the best policy of a cell. There are {cells}
cells.

![Scores](figures/scores.svg)

*Score of each policy, with 95 % intervals over the seeds of each set.*

![Costs in each cell](figures/cells.svg)

*Cost of each policy divided by that of the best policy of the cell. The prices increase within each radio,
and the radios are in the order of the table below.*

{scores}
## Other seeds

The ranking was repeated on {sets} disjoint sets of seeds: {all_seeds}. Of {stability.pairs} pairs of
policies, the intervals of {stability.separate} are disjoint in every set. Pairs whose order differs between
two sets, with disjoint intervals in both: {reversed}.

## The optimum

In {below} of {runs} runs (policy, cell and seed) a policy costs less than the offline optimum. The least
cost is {least} of it. All these runs are on {traffic}. The optimum assumes that a late frame delays all
later traffic, but frames of several connections can wait for the same beacon. The order of the policies
does not depend on it.
"""


def _page(first: BenchmarkResult, results: Sequence[BenchmarkResult], stability: Stability) -> str:
    logs = first.log_ratios()
    below = logs < 0
    tables = [f"## {_HEADINGS[field]}\n\n{_table(score_rows(first, field))}" for field in Cell._fields]
    return _PAGE.format(
        explanation=EXPLANATION,
        seeds=_seeds(first),
        versions=", ".join(f"{name} {version}" for name, version in first.versions.items()),
        ranking=_table(ranking_rows(first)),
        cells=len(CELLS),
        scores="\n".join(tables),
        sets=len(results),
        all_seeds=", ".join(map(_seeds, results)),
        stability=stability,
        reversed=", ".join(f"{one} and {other}" for one, other in stability.reversed) or "none",
        below=f"{below.sum():,}",
        runs=f"{below.size:,}",
        least=f"{np.exp(logs.min()):.2f}",
        traffic=_traffic_of(below),
    )


def _traffic_of(below: NDArray[np.bool_]) -> str:
    names = [
        cell.traffic
        for cell, found in zip(CELLS, np.atleast_1d(below.any(axis=(0, 2))), strict=True)
        if found
    ]
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _seeds(result: BenchmarkResult) -> str:
    return f"{result.seeds[0]} to {result.seeds[-1]}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    headings, *others = rows
    return markdown_table(headings, others)


def _numbers(result: BenchmarkResult, ranking: Sequence[Standing]) -> dict[str, object]:
    rows = [{**vars(each), "worst_cell": str(each.worst_cell)} for each in ranking]
    return {"seeds": result.seeds, "ranking": rows}


def _scores(result: BenchmarkResult, ranking: Sequence[Standing]) -> dict[str, object]:
    rows = [
        {"policy": each.policy, "score": each.score, "low": each.low, "high": each.high} for each in ranking
    ]
    return {"seeds": result.seeds, "scores": rows}


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
    axes.set(xscale="log", xlabel="cost relative to the offline optimum (geometric mean over the cells)")
    axes.axvline(1.0, color="black", linestyle=":", linewidth=1)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_color(policy_style(name).colour)
    add_legend(figure, axes)
    return figure


def _behind(result: BenchmarkResult, ranking: Sequence[Standing]) -> FloatArray:
    """Return the ratio of the cost of each policy to the least one, shape (policies, cells)."""
    means = result.log_ratios().mean(axis=2)
    order = [result.policies.index(each.policy) for each in ranking]
    return np.asarray(np.exp(means - means.min(axis=0))[order])


def _draw_cells(behind: FloatArray, names: Sequence[str]) -> Figure:
    """Plot the ratios as a map of policies and cells."""
    from matplotlib.colors import LogNorm

    figure, (axes,) = new_figure(width_in=9.0, height_in=4.2)
    image = axes.imshow(
        behind, aspect="auto", cmap="cividis_r", norm=LogNorm(1, _MAX_BEHIND), interpolation="nearest"
    )
    axes.set_yticks(range(len(names)), names)
    groups = [(name, len(list(cells))) for name, cells in groupby(CELLS, lambda cell: cell.traffic)]
    ends = np.cumsum([count for _, count in groups])
    starts = ends - [count for _, count in groups]
    axes.set_xticks((starts + ends - 1) / 2, [name for name, _ in groups])
    for end in ends[:-1]:
        axes.axvline(end - 0.5, color="white", linewidth=1.5)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="cost / least cost of the cell", extend="max")
    return figure


if __name__ == "__main__":
    write_report(read_result(STANDING), read_result(Path(sys.argv[1])))
