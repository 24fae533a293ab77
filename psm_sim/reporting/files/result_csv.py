"""CSV output of a comparison, with one row per policy or one row per page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.csv_output import write_csv, write_csv_records
from psm_sim.common.formatting import flatten, format_pairs
from psm_sim.simulation.result import flatten_failures
from psm_sim.simulation.table import Block

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result


def write(comparison: Comparison, stream: TextIO) -> None:
    """Write a header and one row per result of a *comparison* to *stream*.

    The first column is the name of the preset, which can be empty. Nested names are joined by dots, such as
    ``slowdown.mean``.
    """
    rows = [{"preset": comparison.preset, **_row(comparison, run)} for run in comparison.runs]
    write_csv_records(stream, rows)


def write_pages(comparison: Comparison, stream: TextIO) -> None:
    """Write a header and one row per page of a *comparison* to *stream*.

    There is a column for labels if a policy has one, and for seeds, clients or stations if there are several.
    """
    label = ["label"] if any(run.policy_label for run in comparison.runs) else []
    keys = ["policy", *label, *comparison.levels]
    blocks = [block for run in comparison.runs for block in run.blocks]
    write_csv(stream, [*keys, *blocks[0].page_columns()], _page_rows(blocks, keys))


def _page_rows(blocks: Iterable[Block], keys: Sequence[str]) -> Iterator[list[Any]]:
    for block in blocks:
        first = [block.keys[key] for key in keys]
        for row in zip(*(values.tolist() for values in block.page_columns().values()), strict=True):
            yield [
                *first,
                *(("" if value != value else value for value in row) if block.reports_failures else row),
            ]


def _row(comparison: Comparison, run: Result) -> dict[str, Any]:
    values = flatten_failures({key: value for key, value in run.to_dict().items() if key != "wall_s"})
    values["parameters"] = format_pairs(values["parameters"])
    for level in run.levels[:1]:
        values[f"{level}s"] = len(run.parts)
    difference = comparison.difference(run)
    return {
        "trace": comparison.scenario.trace_name,
        "synthetic": str(comparison.workload.synthetic).lower(),
        "topology": comparison.scenario.topology_name,
        "settings": format_pairs(comparison.scenario.settings),
        "seed": comparison.scenario.seed,
        **flatten(values),
        **flatten({"difference": difference} if difference else {}),
    }
