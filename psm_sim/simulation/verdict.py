"""Verdict on runs of the same traffic: which need the least energy, which have the shortest delay, and why.

The *amount* of a run is its energy, current or power, see :func:`amount_name`. Its *delay* is a slowdown or a
latency, see :func:`delay_of`. Each pair of runs is compared by a paired t-test over seeds or clients, with
Holm's correction for all pairs. Without replications, no test is possible, so every relevant difference
counts. Runs are identified by their index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from psm_sim.common.summary_stats import LEVEL, adjusted_p_values, confidence_interval
from psm_sim.simulation.result import Result
from psm_sim.simulation.table import Row, directions_of, drop_nan

RELEVANT = 5e-4
"""Largest relative difference of two means that is irrelevant: half a unit of the fourth digit of a table."""

RELEVANT_OF_ONE = 0.01
"""The same limit for single runs, whose noise is unknown: twice the largest noise measured for energies.

Over seeds 1 to 8, the ratio of the energies of any two of psm, bsd, lpsm and dynamic has a standard deviation
of at most 0.13 % on 30 pages of ``ucb``, and of 0.5 % on 10 pages of ``modern``. For slowdowns, the standard
deviation is up to 8 %, so a difference between the delays of single runs can be noise.
"""

_UNDECIDED = 1.1
"""Equal runs are undecided if their largest mean exceeds this number times their least mean (a choice)."""

_MUCH_LESS = 0.9
"""A policy delays much less than another if the ratio of the delays is below this number (a choice)."""


def amount_name(rows: Sequence[Row]) -> str:
    """Return the name of the compared value: energy for pages, otherwise current if known, else power."""
    if rows[0]["loads_pages"]:
        return "energy_per_page_j"
    has_current = all("mean_current_ma" in row for row in rows)
    return "mean_current_ma" if has_current else "mean_power_mw"


def delay_of(row: Row) -> float:
    """Return the mean slowdown of pages, or the largest 99th percentile of latencies; nan without either."""
    return float(row["slowdown.mean"]) if row["loads_pages"] else slowest(row)[0]


def limited_s(row: Row) -> float:
    """Return the delay to which a limit applies, in seconds: mean delay of pages, or largest p99 latency."""
    return float(row["mean_delay_s"]) if row["loads_pages"] else slowest(row)[0]


def slowest(row: Row) -> tuple[float, str]:
    """Return the largest 99th percentile of latency, and the direction of messages that has it."""
    by_direction = [
        (row[f"latency.{name}.latency_s.p99"], name)
        for name in directions_of(row)
        if row[f"latency.{name}.delivered"]
    ]
    return max(by_direction, default=(math.nan, ""))


class Reason(NamedTuple):
    """State in which a run saves most energy compared with another run.

    Attributes
    ----------
    state : str
        Name of the state, such as ``"awake"``, as in ``energy_by_state_per_page_j``.
    value, other : float
        Amount in this run and in the other run, per page, or per second if the runs load no pages. For
        beacons, wake-ups and frames, the amount is their number. For other states, it is the time in seconds.
    """

    state: str
    value: float
    other: float


def saving_reason(row: Row, other: Row) -> Reason | None:
    """Return the state in which a run saves most energy; None if it saves in no state except asleep."""

    def energy_j(of: Row, state: str) -> float:
        pages_per_s = float(of["pages"] / of["simulated_s"])
        return float(of.get(f"energy_by_state_per_page_j.{state}", 0.0)) * pages_per_s

    saved = {state: energy_j(other, state) - energy_j(row, state) for state in _STATES}
    state = max(saved, key=lambda name: saved[name])
    if saved[state] <= 0:
        return None
    divisor = "pages" if row["loads_pages"] else "simulated_s"
    return Reason(state, *(each.get(_STATES[state], 0.0) / each[divisor] for each in (row, other)))


_STATES = {
    "awake": "time_by_state_s.awake",
    "transmit": "time_by_state_s.transmit",
    "beacons": "usage.beacons",
    "wake_ups": "usage.wake_ups",
    "frames": "usage.frames",
}
"""States in which energy can be saved, and the value that shows the saving."""


class Equality(StrEnum):
    """Reason why runs count as equal."""

    SAME = "the same"
    CLOSE = "close"
    INSIGNIFICANT = "no significant difference"


@dataclass(frozen=True)
class Group:
    """Runs that share the smallest mean of a measure, such as the energy, because they count as equal.

    Attributes
    ----------
    members : tuple of int
        Runs in ascending order of the mean; may be empty.
    equality : Equality
        Reason why the runs count as equal.
    is_undecided : bool
        Whether the means are so different that more replications might separate the runs.
    """

    members: tuple[int, ...] = ()
    equality: Equality = Equality.SAME
    is_undecided: bool = False


class Measure:
    """Values of one measure for several runs, with tests of their differences.

    *value* returns the measure from a row, such as ``row["slowdown.mean"]``. ``p_values[i, j]`` is the
    p-value of runs i and j, from :func:`~psm_sim.common.summary_stats.adjusted_p_values`.
    """

    def __init__(self, runs: Sequence[Result], value: Callable[[Row], float]) -> None:
        self.values = [value(run.row) for run in runs]
        self._samples = np.array([[value(replicate.row) for replicate in run.replicates] for run in runs])
        self.intervals = [confidence_interval(drop_nan(row)) for row in self._samples.tolist()]
        self.p_values = adjusted_p_values(self._samples)
        self.is_single = self._samples.shape[1] == 1
        self.tolerance = RELEVANT_OF_ONE if self.is_single else RELEVANT

    def differ(self, first: int, second: int) -> bool:
        """Return whether the difference of two runs is relevant and, with replications, significant."""
        is_certain = self.is_single or bool(self.p_values[first, second] <= LEVEL)
        return is_certain and not self.is_close(first, second)

    def is_close(self, first: int, second: int) -> bool:
        """Return whether the difference of two means is too small to be relevant."""
        one, other = self.intervals[first].mean, self.intervals[second].mean
        return abs(one - other) <= self.tolerance * max(abs(one), abs(other))

    def least(self, among: Sequence[int]) -> Group:
        """Return the run with the smallest mean, and the runs that do not differ from it."""
        ordered = sorted(among, key=lambda index: self.intervals[index].mean)
        return self.group([n for n in ordered if n == ordered[0] or not self.differ(ordered[0], n)])

    def group(self, members: Sequence[int]) -> Group:
        """Return the :class:`Group` of *members*, which must be in ascending order of the mean."""
        if not members:
            return Group()
        first, *others = members
        rows = self._samples[list(members)]
        close = [self.is_close(first, index) for index in others]
        means = [self.intervals[index].mean for index in members]
        if np.array_equal(rows, np.broadcast_to(rows[0], rows.shape), equal_nan=True):
            equality = Equality.SAME
        elif all(close):
            equality = Equality.CLOSE
        else:
            equality = Equality.INSIGNIFICANT
        return Group(tuple(members), equality, not all(close) and max(means) > _UNDECIDED * min(means))

    def ratio(self, first: int, second: int) -> float:
        """Return the value of the first run divided by that of the second, averaged over replications."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self._samples[first] / self._samples[second]
        return confidence_interval(drop_nan(ratios.tolist())).mean


@dataclass(frozen=True)
class Verdict:
    """Comparison of the amounts and delays of runs on the same traffic.

    Attributes
    ----------
    runs : tuple of Result
        The compared runs.
    reference : int or None
        The reference run; None without a reference.
    amounts, delays : Measure
        Amount (energy, current or power) and delay of each run.
    has_delays : bool
        Whether there are pages or messages.
    ranked : tuple of int
        Runs that completed a page or delivered a message. Without pages and messages, all runs.
    within : tuple of int
        Ranked runs whose delay is within the limit.
    saving : tuple of int
        Runs of *within* that save power.
    least, quickest : Group
        Runs of *within* with the smallest amount, and runs of *saving* with the smallest delay.
    best : int or None
        The single run of *least*. If *least* has two runs, the run with a much shorter delay; None if there
        is no such run.
    compared : int or None
        The run with which *least* is compared: the reference or, if the reference is None or in *least*, the
        run with the next larger amount. None if the amounts do not differ.
    nearest : int or None
        If no run is within the limit, the run with the shortest delay.
    cheaper_beyond : int or None
        The run with the smallest amount, if its delay exceeds the limit; None if no such run needs less than
        *least*.
    """

    runs: tuple[Result, ...]
    reference: int | None
    amounts: Measure
    delays: Measure
    has_delays: bool
    ranked: tuple[int, ...]
    within: tuple[int, ...]
    saving: tuple[int, ...]
    least: Group
    quickest: Group
    best: int | None
    compared: int | None
    nearest: int | None
    cheaper_beyond: int | None

    @property
    def reason(self) -> Reason | None:
        """State in which *best* saves most energy compared with *compared*; None if it saves nothing."""
        if self.best is None or self.compared is None or self.amounts.ratio(self.best, self.compared) >= 1:
            return None
        return saving_reason(self.runs[self.best].row, self.runs[self.compared].row)


def judge(
    runs: Sequence[Result], references: Sequence[Result] = (), max_latency_s: float | None = None
) -> Verdict:
    """Return the verdict on runs of the same traffic, with delays limited to *max_latency_s*.

    The reference is the first of *runs* that is also in *references*.
    """
    rows = [run.row for run in runs]
    name = amount_name(rows)
    amounts, delays = Measure(runs, lambda row: float(row[name])), Measure(runs, delay_of)
    reference = next((n for n, run in enumerate(runs) if any(run is each for each in references)), None)
    has_delays = rows[0]["loads_pages"] or any(directions_of(row) for row in rows)
    ranked = [n for n in range(len(runs)) if not (has_delays and math.isnan(delays.values[n]))]
    has_limit = has_delays and max_latency_s is not None
    within = [n for n in ranked if not has_limit or limited_s(rows[n]) <= (max_latency_s or 0.0)]
    saving = [n for n in within if saves_power(runs[n])]
    least = amounts.least(within)
    best = _best(runs, least, amounts, delays) if has_delays else _sole(least)
    cheapest = amounts.least(ranked).members[:1]
    beyond = [
        n
        for n in cheapest
        if within and n not in least.members and n not in within and amounts.differ(n, least.members[0])
    ]
    return Verdict(
        tuple(runs),
        reference,
        amounts,
        delays,
        has_delays,
        tuple(ranked),
        tuple(within),
        tuple(saving),
        least,
        delays.least(saving) if has_delays else Group(),
        best,
        _compared(amounts, least, within, reference),
        None if within or not ranked else min(ranked, key=lambda n: limited_s(rows[n])),
        beyond[0] if beyond else None,
    )


def saves_power(run: Result) -> bool:
    """Return whether a policy saves power."""
    return run.policy.partition(":")[0] != "always-on"


def _sole(least: Group) -> int | None:
    return least.members[0] if len(least.members) == 1 else None


def _best(runs: Sequence[Result], least: Group, amounts: Measure, delays: Measure) -> int | None:
    """Return :attr:`Verdict.best`."""
    if len(least.members) != 2 or least.is_undecided:
        return _sole(least)
    quickest = delays.least([n for n in least.members if saves_power(runs[n])]).members
    if len(quickest) != 1 or not all(saves_power(runs[n]) for n in least.members):
        return None
    (other,) = set(least.members) - set(quickest)
    return quickest[0] if relative_delay(runs, delays, quickest[0], other) < _MUCH_LESS else None


def relative_delay(runs: Sequence[Result], delays: Measure, index: int, other: int) -> float:
    """Return the delay of run *index* divided by the longer delay of run *other*."""
    none = 1.0 if runs[0]["loads_pages"] else 0.0
    return max(0.0, delays.values[index] - none) / (delays.values[other] - none)


def _compared(amounts: Measure, least: Group, within: Sequence[int], reference: int | None) -> int | None:
    """Return :attr:`Verdict.compared`."""
    others = [n for n in within if n not in least.members]
    if reference is None or reference in least.members:
        reference = amounts.least(others).members[0] if others and len(least.members) == 1 else None
    if reference is None or not all(amounts.differ(n, reference) for n in least.members):
        return None
    return reference
