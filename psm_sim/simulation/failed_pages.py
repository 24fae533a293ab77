"""Numbers and reasons of failed pages, and statistics over the completed ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.common.record_array import record_column
from psm_sim.common.summary_stats import Summary, percentiles

if TYPE_CHECKING:
    from psm_sim.simulation.result import Result


def completed_values(result: Result, name: str) -> list[float]:
    """Return one field of the completed pages, or a single nan if there are none.

    Slowdowns also require that the page completed without power saving.
    """
    values = record_column(result.page_records, name)
    if not result.reports_failures:
        return values
    completed = [value for number, value in enumerate(values, 1) if number not in result.failures]
    return drop_nan(completed)


def drop_nan(values: Iterable[float]) -> list[float]:
    """Return the values without nan, or a single nan if there are none."""
    return [value for value in values if not math.isnan(value)] or [math.nan]


def complete_slowdowns(result: Result) -> list[float]:
    """Return the defined slowdowns of one or several runs, or a single nan if there are none."""
    return drop_nan(record_column(result.page_records, "slowdown"))


def summarize_pages(result: Result, name: str) -> Summary:
    """Return the summary of one field over the completed pages."""
    return Summary.of(completed_values(result, name))


def percentiles_of(result: Result, name: str, percents: Sequence[int]) -> dict[str, float]:
    """Return percentiles of one field over the completed pages.

    Parameters
    ----------
    result
        The run.
    name
        Field of its page records.
    percents
        The percentiles, from 0 to 100.
    """
    return percentiles(completed_values(result, name), percents)


def describe_failures(failures: Sequence[Mapping[str, Any]]) -> str:
    """Format the reasons with their counts, the most frequent one first.

    Parameters
    ----------
    failures
        Failures as in the JSON output. If they name stations, the counts of each station are added.
    """
    parts = []
    for reason, count in Counter(failure["reason"] for failure in failures).most_common():
        by_station = Counter(failure.get("station") for failure in failures if failure["reason"] == reason)
        counts = ", ".join(f"{name} {number}" for name, number in by_station.items() if name is not None)
        parts.append(f"{count} x {reason}" + (f" ({counts})" if counts else ""))
    return "; ".join(parts)


def flatten_failures(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a result's ``to_dict()`` with the list of failures as one string."""
    if "failures" not in values:
        return values
    return {**values, "failures": describe_failures(values["failures"])}
