"""Failed pages of a run: how many, which, and why; and what a mean over the others is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.record_array import record_column
from psm_sim.summary_stats import Summary, percentiles

if TYPE_CHECKING:
    from psm_sim.simulation.result import Result


def completed_values(result: Result, name: str) -> list[float]:
    """Return one field of the pages that are complete; a single nan if none is.

    Of slowdowns, those of pages that are complete without power saving, too.
    """
    values = record_column(result.page_records, name)
    if not result.reports_failures:
        return values
    kept = [value for number, value in enumerate(values, 1) if number not in result.failures]
    return drop_nan(kept)


def drop_nan(values: Iterable[float]) -> list[float]:
    """Return the values that there are, without nan; a single nan if there is none."""
    return [value for value in values if not math.isnan(value)] or [math.nan]


def complete_slowdowns(result: Result) -> list[float]:
    """Return the slowdowns that there are, of one run or of several; a single nan if there is none."""
    return drop_nan(record_column(result.page_records, "slowdown"))


def summarize_pages(result: Result, name: str) -> Summary:
    """Summarise one field over the pages that are complete."""
    return Summary.of(completed_values(result, name))


def percentiles_of(result: Result, name: str, wanted: Sequence[int]) -> dict[str, float]:
    """Return percentiles of one field over the pages that are complete.

    Parameters
    ----------
    result
        The run.
    name
        The field of its page records.
    wanted
        The percentiles, in per cent.
    """
    return percentiles(completed_values(result, name), wanted)


def describe_failures(failures: Sequence[Mapping[str, Any]]) -> str:
    """Return reasons in words, the most frequent one first, with the number of each.

    Parameters
    ----------
    failures
        As in the JSON output; where they name stations, the number of each station's is told too.
    """
    parts = []
    for reason, count in Counter(failure["reason"] for failure in failures).most_common():
        mine = Counter(failure.get("station") for failure in failures if failure["reason"] == reason)
        whose = ", ".join(f"{station} {number}" for station, number in mine.items() if station is not None)
        parts.append(f"{count} x {reason}" + (f" ({whose})" if whose else ""))
    return "; ".join(parts)


def flatten_failures(values: dict[str, Any]) -> dict[str, Any]:
    """Return a result's values, as its ``to_dict()`` gives them, with the list of failures as one text."""
    if "failures" not in values:
        return values
    return {**values, "failures": describe_failures(values["failures"])}
