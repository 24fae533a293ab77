"""CSV output of a comparison, with one row per policy or one row per page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.csv_output import write_csv, write_csv_records
from psm_sim.common.formatting import flatten, format_pairs
from psm_sim.simulation.result import flatten_failures
from psm_sim.simulation.run_averages import Average, kinds_of, single_runs

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write a header and one row per result of a *comparison* to *stream*.

    The first column is the name of the *preset*, if any. Nested names are joined by dots, such as
    ``slowdown.mean``.
    """
    rows = [{"preset": preset, **_row(comparison, run)} for run in comparison.runs]
    write_csv_records(stream, rows)


def write_pages(comparison: Comparison, stream: TextIO) -> None:
    """Write a header and one row per page, with a column for seed, client or station if averaged.

    The labels of policies have a column if there are any.
    """
    fields = comparison.runs[0].page_records[0]._fields
    first = comparison.runs[0]
    failure = ["failure"] if first.reports_failures else []
    label = ["label"] if any(run.policy_label for run in comparison.runs) else []
    header = ["policy", *label, *kinds_of(first), *fields, *failure]
    write_csv(stream, header, _page_rows(comparison.runs, with_label=bool(label)))


def _page_rows(runs: Iterable[Result], *, with_label: bool) -> Iterator[list[Any]]:
    for run in runs:
        name = [run.policy, run.policy_label] if with_label else [run.policy]
        for names, single in single_runs(run):
            yield from ([*name, *names, *values] for values in _pages(single))


def _pages(run: Result) -> Iterable[Sequence[Any]]:
    """Return the values of each page, followed by the reason of its failure if failures are reported."""
    if not run.reports_failures:
        return run.page_records
    return (
        [*("" if value != value else value for value in record), run.failures.get(record.page, "")]
        for record in run.page_records
    )


def _row(comparison: Comparison, run: Result) -> dict[str, Any]:
    values = flatten_failures({key: value for key, value in run.to_dict().items() if key != "wall_s"})
    values["parameters"] = format_pairs(values["parameters"])
    if isinstance(run, Average):
        values[f"{run.KIND}s"] = len(run.results)
    return {
        "trace": comparison.trace,
        "synthetic": str(comparison.workload.synthetic).lower(),
        "topology": comparison.topology,
        "settings": format_pairs(comparison.settings),
        "seed": comparison.seed,
        **flatten(values),
        **flatten(comparison.difference_values(run)),
    }
