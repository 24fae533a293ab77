"""A comparison as CSV: a row a policy."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from psm_sim.experiments import Comparison, Result


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write a header and a row a policy; nested names are joined by a dot, as ``slowdown.mean``."""
    rows = [{"preset": preset, **_row(comparison, run)} for run in comparison.runs]
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def write_pages(comparison: Comparison, stream: TextIO) -> None:
    """Write a header and a row for each page of each policy."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["policy", *comparison.runs[0].page_records[0]._fields])
    for run in comparison.runs:
        writer.writerows([run.policy, *record] for record in run.page_records)


def _row(comparison: Comparison, run: Result) -> dict[str, Any]:
    values = {key: value for key, value in run.to_dict().items() if key != "wall_s"}
    values["parameters"] = _joined(values["parameters"])
    return {
        "trace": comparison.trace,
        "synthetic": str(comparison.workload.synthetic).lower(),
        "topology": comparison.topology,
        "settings": _joined(comparison.settings),
        "seed": comparison.seed,
        **_flat(values),
    }


def _joined(values: dict[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items())


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
