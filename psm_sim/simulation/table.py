"""Measurements of each page, and the results computed from them.

A result is a row: a dictionary with the names of the JSON output, such as ``slowdown.mean``. :func:`measure`
returns the row of one run, and :func:`fold` combines several rows. No other module adds or averages results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.summary_stats import Summary, percentiles
from psm_sim.network import Observer, Usage
from psm_sim.policies import Policy

Row = dict[str, Any]
"""Values of a result by dotted name, such as ``slowdown.mean``."""

METER = Usage._fields
"""Columns of the energy meter."""

ENERGY, SLOWDOWN = "energy_per_page_j", "slowdown.mean"
"""Measures of every run with page views."""

MEASURES = (
    "energy_per_page_j",
    "energy_by_state_per_page_j.awake",
    "energy_by_state_per_page_j.asleep",
    "energy_by_state_per_page_j.beacons",
    "beacons_per_page",
    "page_time_s.mean",
    "slowdown.mean",
)
"""Names of the values with a confidence interval."""

PERCENTILES = (10, 50, 90, 99)
"""Reported percentiles of the page times."""

PAGE_COLUMNS = (
    "page",
    "think_s",
    "objects",
    "bytes",
    "start_s",
    "page_time_s",
    "always_on_time_s",
    "slowdown",
    "energy_j",
    "awake_j",
    "asleep_j",
    "beacons_j",
    "awake_s",
    "asleep_s",
    "beacons",
)
"""Columns of ``pages.csv`` apart from the keys. Energies, times and beacons are per page."""


@dataclass(frozen=True, eq=False)
class Block:
    """Measurements of one station in one run.

    Attributes
    ----------
    keys : dict
        Identity of the run and the station: policy, label, parameters, seed, client, station, kind,
        station_policy, the index ``number`` of the policy (-1: the run without power saving), and
        battery_mah if there is a battery.
    counts : dict
        Values at the end of the run, such as ``simulated_s``, ``events`` and ``traffic.retransmissions``.
    pages : dict of arrays
        One row per page, with the reading of the energy meter at the end of the page.
    messages : dict of str to (int, int, array)
        Messages sent, messages lost, and the latency of each delivered message in seconds, by direction.
    failures : dict of int to str
        Reason of each failed page, by its 1-based number.
    reports_failures : bool
        Whether a page can fail without ending the run.
    policy_state : Policy or None
        The policy after the run; None if the run was in another process.
    observe : callable or None
        Function that repeats the run, given observers and a number of pages (None for all).
    """

    keys: Row
    counts: Row
    pages: Mapping[str, NDArray[Any]]
    messages: Mapping[str, tuple[int, int, NDArray[np.float64]]]
    failures: Mapping[int, str]
    reports_failures: bool
    policy_state: Policy | None = None
    observe: Callable[[Sequence[Observer], int | None], None] | None = None

    def __len__(self) -> int:
        return len(self.pages["page"])

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Whether each page is complete."""
        return ~np.isin(self.pages["page"], list(self.failures))

    def page(self, number: int) -> Row:
        """Return the row of a page, by its 1-based number."""
        return {name: values[number - 1].item() for name, values in self.pages.items()}

    def page_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of ``pages.csv``: :data:`PAGE_COLUMNS`, and ``failure`` if pages can fail."""
        used = {name: np.diff(self.pages[name], prepend=0) for name in METER}
        energy_j: Any = Usage(**used).total_j  # type: ignore[arg-type]
        columns = {**self.pages, **used, "energy_j": energy_j}
        failure = [self.failures.get(page, "") for page in self.pages["page"].tolist()]
        return {
            **{name: columns[name] for name in PAGE_COLUMNS},
            **({"failure": np.array(failure, dtype=object)} if self.reports_failures else {}),
        }


def measure(block: Block) -> Row:
    """Compute the row of one run from its last meter reading, its pages and its messages."""
    count, pages, complete = len(block), block.pages, block.is_complete
    usage = Usage(*(pages[name][-1].item() for name in METER))
    states = {"awake": True, "asleep": True, "beacons": True}
    states |= {"transmit": usage.transmit_s > 0, "wake_ups": usage.wake_ups > 0, "frames": usage.frames > 0}
    joules = {state: getattr(usage, f"{state}_j") / count for state, is_used in states.items() if is_used}
    times_s, slowdowns = (drop_nan(pages[name][complete].tolist()) for name in ("page_time_s", "slowdown"))
    delayed = pages["slowdown"] > 0
    delays_s = (pages["page_time_s"] - pages["always_on_time_s"])[delayed]
    return _derive(
        {
            "pages": count,
            **block.counts,
            **{name: block.keys[name] for name in ("battery_mah",) if name in block.keys},
            **{f"usage.{name}": value for name, value in usage._asdict().items()},
            "energy_per_page_j": usage.total_j / count,
            **{f"energy_by_state_per_page_j.{state}": value for state, value in joules.items()},
            "beacons_per_page": usage.beacons / count,
            **{f"page_time_s.{name}": value for name, value in Summary.of(times_s)._asdict().items()},
            **{f"slowdown.{name}": value for name, value in Summary.of(slowdowns)._asdict().items()},
            **{f"page_time_percentiles_s.{name}": v for name, v in percentiles(times_s, PERCENTILES).items()},
            **({"failed_pages": len(block.failures)} if block.reports_failures else {}),
            **{f"messages.{direction}": value for direction, value in block.messages.items()},
            "loads_pages": bool(pages["objects"].any()),
            "delays.total_s": float(np.add.reduce(delays_s)),
            "delays.pages": len(delays_s),
        }
    )


def _derive(row: Row) -> Row:
    """Add the values that follow from the sums of a row, such as ``mean_power_mw``, and return the row."""
    usage = usage_of(row)
    times_s = {"awake": usage.awake_s - usage.transmit_s, "asleep": usage.asleep_s}
    times_s |= {"transmit": usage.transmit_s} if usage.transmit_s else {}
    row |= {f"time_by_state_s.{state}": value for state, value in times_s.items()}
    row["mean_power_mw"] = 1000 * usage.total_j / row["simulated_s"]
    if "supply_v" in row:
        row["mean_current_ma"] = row["mean_power_mw"] / row["supply_v"]
        if row["mean_current_ma"] and "battery_mah" in row:
            row["battery_days"] = row["battery_mah"] / row["mean_current_ma"] / 24
    row["mean_delay_s"] = row["delays.total_s"] / row["delays.pages"] if row["delays.pages"] else math.nan
    for name in sorted(name for name in row if name.startswith("messages.")):
        (sent, lost, latencies_s), key = row[name], f"latency{name.removeprefix('messages')}"
        finished = len(latencies_s) + lost
        row |= {f"{key}.sent": sent, f"{key}.delivered": len(latencies_s), f"{key}.lost": lost}
        row[f"{key}.loss"] = lost / finished if finished else math.nan
        row |= {f"{key}.latency_s.{each}": value for each, value in _latency_statistics(latencies_s).items()}
    return row


def _latency_statistics(values: NDArray[np.float64]) -> dict[str, float]:
    """Return mean, percentiles and maximum of latencies; nan without latencies."""
    names = ("mean", "p50", "p90", "p99", "p999", "max")
    if not values.size:
        return dict.fromkeys(names, math.nan)
    quantiles = np.quantile(values, (0.5, 0.9, 0.99, 0.999)).tolist()
    return dict(zip(names, (float(values.mean()), *quantiles, float(values.max())), strict=True))


def usage_of(row: Row) -> Usage:
    """Return the final meter reading of a row; with several runs, the sum of their final readings."""
    return Usage(*(row[f"usage.{name}"] for name in METER))


def directions_of(row: Row) -> list[str]:
    """Return the directions in which messages were sent, such as ``"down"``."""
    return [name.removeprefix("messages.") for name in row if name.startswith("messages.")]


def fold(rows: Sequence[Row]) -> Row:
    """Combine several rows into one. :data:`_RULES` selects mean, sum or maximum by the name of a value."""
    folded: Row = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        rule = next(rule for prefix, rule in _RULES if name.startswith(prefix))
        if rule is None:
            continue
        absent = sum(name not in row for row in rows) if name.startswith("energy_by_state") else 0
        folded[name] = rule([*(row[name] for row in rows if name in row), *[0.0] * absent])
    return _derive(folded)


def drop_nan(values: Iterable[float]) -> list[float]:
    """Return the values without nan, or ``[nan]`` if none is left."""
    return [value for value in values if not math.isnan(value)] or [math.nan]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(drop_nan(values)))


def _maximum(values: Sequence[float]) -> float:
    return max(drop_nan(values))


def _total(values: Sequence[float]) -> float:
    return np.add.reduce(values).item()  # type: ignore[no-any-return]  # sum() depends on the Python version


def _pool(values: Sequence[tuple[int, int, NDArray[np.float64]]]) -> tuple[int, int, NDArray[np.float64]]:
    sent, lost, latencies_s = zip(*values, strict=True)
    return sum(sent), sum(lost), np.concatenate(latencies_s)


_RULES: tuple[tuple[str, Callable[[Any], Any] | None], ...] = (
    ("page_time_s.max", _maximum),
    ("slowdown.max", _maximum),
    *((prefix, _mean) for prefix in ("energy", "beacons_per_page", "page_time", "slowdown", "policy_report")),
    ("messages", _pool),
    ("loads_pages", any),
    *((prefix, itemgetter(0)) for prefix in ("supply_v", "battery_mah")),
    *((prefix, None) for prefix in ("mean_", "battery_days", "time_by_state_s", "latency", "pushes")),
    ("", _total),  # pages, simulated_s, wall_s, events, usage, traffic, failed_pages and delays
)
"""Prefixes of column names, and the function that folds these columns; None drops a derived column.

The first prefix that matches selects the function.
"""


def nested(row: Row, names: Iterable[str]) -> Row:
    """Return the selected values as nested dictionaries, such as ``{"slowdown": {"mean": 1.2}}``."""
    result: Row = {}
    for name in names:
        for column in (each for each in row if each == name or each.startswith(f"{name}.")):
            *outer, last = column.split(".", 1 if name == "policy_report" else -1)
            inner = result
            for outer_name in outer:
                inner = inner.setdefault(outer_name, {})
            inner[last] = row[column]
    return result
