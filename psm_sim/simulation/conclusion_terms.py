"""Measures and words of a conclusion, for pages and for messages."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from psm_sim.common.record_array import record_column
from psm_sim.simulation.result import Result

RELEVANT = 5e-4
"""Relative difference of two means below which policies count as equal, even if it is significant."""

RELEVANT_OF_ONE = 0.01
"""The same for single runs, whose noise is unknown."""


def format_digits(value: float, digits: int = 3) -> str:
    """Return a number with significant digits, without an exponent."""
    magnitude = math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0
    return f"{value:.{max(0, digits - 1 - magnitude)}f}"


def format_seconds(seconds: float) -> str:
    """Return a duration in milliseconds, or in seconds from one second on."""
    return f"{format_digits(seconds)} s" if seconds >= 1 else f"{format_digits(1000 * seconds)} ms"


def format_range(texts: Sequence[str]) -> str:
    """Return the first and the last of several texts, or the text if they are equal."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def join_names(texts: Sequence[str]) -> str:
    """Join texts by commas and a final *and*."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


class Terms(ABC):
    """Measures and words for one kind of traffic.

    Attributes
    ----------
    noun, unit, verbs
        Name and unit of what is used, and the verb in singular and plural.
    delay_name, no_delay
        Name of the delay in ratios, and the value of :meth:`delay` without any.
    limit
        Words for a limit of the delay, with a placeholder.
    finished
        Verb and noun for traffic that arrived.
    """

    noun: str
    unit: str
    verbs: tuple[str, str] = ("uses", "use")
    delay_name: str
    no_delay: float
    limit: str
    finished: tuple[str, str]

    @abstractmethod
    def amount(self, run: Result) -> float:
        """Return the energy, power or current of a run."""

    @abstractmethod
    def delay(self, run: Result) -> float:
        """Return the delay of a run, nan if it has none."""

    @abstractmethod
    def describe_delays(self, runs: Sequence[Result]) -> str:
        """Return a clause with the delays of runs, in ascending order."""

    def limited_s(self, run: Result) -> float:
        """Return the delay to which a limit applies, in seconds."""
        return self.delay(run)

    def describe_limited(self, run: Result) -> str:
        """Return a clause with the delay to which a limit applies."""
        return self.describe_delays([run])

    @abstractmethod
    def losses(self, run: Result) -> str:
        """Return which part of the traffic was lost, if any."""


class _PageTerms(Terms):
    """Energy per page and slowdown."""

    noun, unit = "energy", "J per page"
    delay_name, no_delay = "added delay", 1.0
    limit = "with pages delayed by at most {} on average"
    finished = "completed", "page"

    def amount(self, run: Result) -> float:
        return run.energy_per_page_j

    def delay(self, run: Result) -> float:
        return run.slowdown.mean

    def limited_s(self, run: Result) -> float:
        columns = (record_column(run.page_records, name) for name in _TIMES)
        added_s = [own_s - other_s for own_s, other_s, slowdown in zip(*columns, strict=True) if slowdown > 0]
        return sum(added_s) / len(added_s) if added_s else math.nan

    def describe_delays(self, runs: Sequence[Result]) -> str:
        slowdowns = [self.delay(run) for run in runs]
        longer = slowdowns[-1] - 1
        if longer < RELEVANT:
            return "pages take no longer than without power saving"
        if longer < _MAX_PERCENT:
            at_most = "at most " if len(runs) > 1 else ""
            return f"pages take {at_most}{format_digits(100 * longer, 2)} % longer than without power saving"
        factors = format_range([format_digits(slowdown) for slowdown in slowdowns])
        return f"pages take {factors} times as long as without power saving"

    def describe_limited(self, run: Result) -> str:
        return f"pages are delayed by {format_seconds(self.limited_s(run))} on average"

    def losses(self, run: Result) -> str:
        return f"{run.failed_pages} of {len(run.page_records)} pages failed" if run.failed_pages else ""


_TIMES = ("page_time_s", "always_on_time_s", "slowdown")

_MAX_PERCENT = 0.01
"""Relative delay of pages below which it is given in per cent instead of as a factor."""


class _MessageTerms(Terms):
    """Mean power or current, and latency of messages."""

    noun, unit = "power", "mW"
    delay_name, no_delay = "latency", 0.0
    limit = "with 99 % of the messages delivered within {}"
    finished = "delivered", "message"

    def amount(self, run: Result) -> float:
        return 1000 * run.usage.total_j / run.simulated_s

    def delay(self, run: Result) -> float:
        return self._slowest(run)[0]

    def describe_delays(self, runs: Sequence[Result]) -> str:
        direction = self._slowest(runs[-1])[1]
        durations = [format_seconds(self.delay(run)) for run in runs]
        return f"99 % of the {_MESSAGES[direction]} arrive within {format_range(durations)}"

    def losses(self, run: Result) -> str:
        lost = sum(each.lost for each in run.latency.values())
        finished = lost + sum(each.delivered for each in run.latency.values())
        return f"{format_digits(100 * lost / finished, 2)} % of the messages were lost" if lost else ""

    def _slowest(self, run: Result) -> tuple[float, str]:
        """Return the largest 99th percentile of the latency over the directions, and its direction."""
        by_direction = [(each.latency_s.p99, name) for name, each in run.latency.items() if each.delivered]
        return max(by_direction, default=(math.nan, ""))


class _CurrentTerms(_MessageTerms):
    """Mean current of a chip, and latency of messages."""

    noun, unit, verbs = "current", "mA", ("draws", "draw")

    def amount(self, run: Result) -> float:
        return run.mean_current_ma or 0.0


_MESSAGES = {
    "down": "downlink messages",
    "up": "uplink messages",
    "round_trip_down": "replies to downlink messages",
    "round_trip_up": "replies",
}


def terms_of(runs: Sequence[Result]) -> Terms:
    """Return the terms for runs with the same traffic."""
    if runs[0].loads_pages:
        return _PageTerms()
    return _MessageTerms() if any(run.mean_current_ma is None for run in runs) else _CurrentTerms()
