"""Comparison of policies as CSV: one row per policy, or one row per page."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.simulation.average import Average
from psm_sim.simulation.differences import difference
from psm_sim.texts import flat, joined

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write a header and one row per policy; nested names are joined by a dot, as ``slowdown.mean``.

    Parameters
    ----------
    comparison : Comparison
        The runs to write.
    stream : text file
        Where to write.
    preset : str
        The name of the preset that was used; empty for none.
    """
    rows = [{"preset": preset, **_row(comparison, run)} for run in comparison.runs]
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def write_pages(comparison: Comparison, stream: TextIO) -> None:
    """Write a header and one row per page and policy, with the client or seed where there are several."""
    writer = csv.writer(stream, lineterminator="\n")
    fields = comparison.runs[0].page_records[0]._fields
    first = comparison.runs[0]
    writer.writerow(["policy", *([first.KIND] if isinstance(first, Average) else []), *fields])
    for run in comparison.runs:
        if isinstance(run, Average):
            for name, result in zip(run.names, run.results, strict=True):
                writer.writerows([run.policy, name, *record] for record in result.page_records)
        else:
            writer.writerows([run.policy, *record] for record in run.page_records)


def _row(comparison: Comparison, run: Result) -> dict[str, Any]:
    values = {key: value for key, value in run.to_dict().items() if key != "wall_s"}
    values["parameters"] = joined(values["parameters"])
    for several in ("clients", "seeds"):
        if several in values:
            values[several] = len(values[several])
    return {
        "trace": comparison.trace,
        "synthetic": str(comparison.workload.synthetic).lower(),
        "topology": comparison.topology,
        "settings": joined(comparison.settings),
        "seed": comparison.seed,
        **flat(values),
        **_against(comparison, run),
    }


def _against(comparison: Comparison, run: Result) -> dict[str, Any]:
    """Return the differences from the reference, as ``difference.slowdown.mean``, if there is one."""
    if comparison.reference is None:
        return {}
    values = difference(run, comparison.reference).to_dict()
    del values["policy"]
    return flat({"difference": values})
