"""Conclusion of a comparison: which policies use the least energy and which delay least, in sentences.

Policies are compared over seeds or clients, by paired t-tests of all pairs with Holm's correction. Every
difference that the sentences state is significant, except with a single run, which they then say.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from psm_sim.common.summary_stats import confidence_interval, significant_differences
from psm_sim.simulation.result import Result
from psm_sim.simulation.table import Row, directions_of, drop_nan

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
    def amount(self, row: Row) -> float:
        """Return the energy, power or current of a row."""

    @abstractmethod
    def delay(self, row: Row) -> float:
        """Return the delay of a row, nan if it has none."""

    @abstractmethod
    def describe_delays(self, rows: Sequence[Row]) -> str:
        """Return a clause with the delays of rows, in ascending order."""

    def limited_s(self, row: Row) -> float:
        """Return the delay to which a limit applies, in seconds."""
        return self.delay(row)

    def describe_limited(self, row: Row) -> str:
        """Return a clause with the delay to which a limit applies."""
        return self.describe_delays([row])

    @abstractmethod
    def losses(self, row: Row) -> str:
        """Return which part of the traffic was lost, if any."""


class _PageTerms(Terms):
    """Energy per page and slowdown."""

    noun, unit = "energy", "J per page"
    delay_name, no_delay = "added delay", 1.0
    limit = "with pages delayed by at most {} on average"
    finished = "completed", "page"

    def amount(self, row: Row) -> float:
        return float(row["energy_per_page_j"])

    def delay(self, row: Row) -> float:
        return float(row["slowdown.mean"])

    def limited_s(self, row: Row) -> float:
        return float(row["mean_delay_s"])

    def describe_delays(self, rows: Sequence[Row]) -> str:
        slowdowns = list(map(self.delay, rows))
        longer = slowdowns[-1] - 1
        if longer < RELEVANT:
            return "pages take no longer than without power saving"
        if longer < _MAX_PERCENT:
            at_most = "at most " if len(rows) > 1 else ""
            return f"pages take {at_most}{format_digits(100 * longer, 2)} % longer than without power saving"
        factors = format_range([format_digits(slowdown) for slowdown in slowdowns])
        return f"pages take {factors} times as long as without power saving"

    def describe_limited(self, row: Row) -> str:
        return f"pages are delayed by {format_seconds(self.limited_s(row))} on average"

    def losses(self, row: Row) -> str:
        failed = row.get("failed_pages")
        return f"{failed} of {row['pages']} pages failed" if failed else ""


_MAX_PERCENT = 0.01
"""Relative delay of pages below which it is given in per cent instead of as a factor."""


class _MessageTerms(Terms):
    """Mean power or current, and latency of messages."""

    noun, unit = "power", "mW"
    delay_name, no_delay = "latency", 0.0
    limit = "with 99 % of the messages delivered within {}"
    finished = "delivered", "message"

    def amount(self, row: Row) -> float:
        return float(row["mean_power_mw"])

    def delay(self, row: Row) -> float:
        return self._slowest(row)[0]

    def describe_delays(self, rows: Sequence[Row]) -> str:
        direction = self._slowest(rows[-1])[1]
        durations = [format_seconds(self.delay(row)) for row in rows]
        return f"99 % of the {_MESSAGES[direction]} arrive within {format_range(durations)}"

    def losses(self, row: Row) -> str:
        lost, delivered = (
            sum(row[f"latency.{name}.{count}"] for name in directions_of(row))
            for count in ("lost", "delivered")
        )
        finished = lost + delivered
        return f"{format_digits(100 * lost / finished, 2)} % of the messages were lost" if lost else ""

    def _slowest(self, row: Row) -> tuple[float, str]:
        """Return the largest 99th percentile of the latency over the directions, and its direction."""
        by_direction = [
            (row[f"latency.{name}.latency_s.p99"], name)
            for name in directions_of(row)
            if row[f"latency.{name}.delivered"]
        ]
        return max(by_direction, default=(math.nan, ""))


class _CurrentTerms(_MessageTerms):
    """Mean current of a chip, and latency of messages."""

    noun, unit, verbs = "current", "mA", ("draws", "draw")

    def amount(self, row: Row) -> float:
        return float(row["mean_current_ma"])


_MESSAGES = {
    "down": "downlink messages",
    "up": "uplink messages",
    "round_trip_down": "replies to downlink messages",
    "round_trip_up": "replies",
}


def terms_of(rows: Sequence[Row]) -> Terms:
    """Return the terms for rows with the same traffic."""
    if rows[0]["loads_pages"]:
        return _PageTerms()
    return _MessageTerms() if any("mean_current_ma" not in row for row in rows) else _CurrentTerms()


_SEED_HINT = "One seed cannot tell a difference from noise; add --replications 10."
_RECORDING_HINT = "One recording cannot tell a difference from noise."


def conclude(
    runs: Sequence[Result],
    references: Sequence[Result] = (),
    *,
    max_latency_s: float | None = None,
    is_partial: bool = False,
    is_synthetic: bool = True,
) -> str:
    """Return the sentences that state which policies are best.

    Parameters
    ----------
    runs
        Results of the compared policies on the same traffic. With several kinds of stations, each kind has
        its own results and its own sentence.
    references
        Results that energy is compared with, one for each kind of stations. They need not be among *runs*.
    max_latency_s
        Maximum mean delay of a page, or maximum 99th percentile of the latency of messages, in seconds. Only
        policies within this limit can be best. None means no limit.
    is_partial
        Whether policies, seeds or clients are missing.
    is_synthetic
        Whether the traffic is generated, so that further seeds give further replications.
    """
    is_single = len(runs[0].replicates) == 1
    scopes = ["in this partial result"] if is_partial else ["in this run"] if is_single else []
    sentences: list[str] = []
    for station in dict.fromkeys(run.station for run in runs if not run.station_policy):
        shown = [run for run in runs if run.station == station]
        reference = next((each for each in references if each.station == station), None)
        ranking = _Ranking(shown, reference, max_latency_s)
        if station:
            sentences += ranking.sentences([*([] if sentences else scopes), f"for {station}"])[:1]
        else:
            sentences += ranking.sentences(scopes)
    hint = _SEED_HINT if is_synthetic else _RECORDING_HINT
    return " ".join([*sentences, *([hint] if sentences and is_single else [])])


class _Measure:
    """One measure of several runs on the same traffic, and which of its means differ.

    *value* is a function from the row of a run, or of one of its replicates, to the measure.
    """

    def __init__(self, runs: Sequence[Result], value: Callable[[Row], float]) -> None:
        self.values = [value(run.row) for run in runs]
        self._samples = np.array([[value(each.row) for each in run.replicates] for run in runs])
        self._intervals = [confidence_interval(drop_nan(row)) for row in self._samples.tolist()]
        self._significant = significant_differences(self._samples)
        count, first = self._samples.shape[1], runs[0]
        self.replications = f"{count} {first.replicate}s" if count > 1 else ""
        self._tolerance = RELEVANT if self.replications else RELEVANT_OF_ONE

    def differ(self, first: int, second: int) -> bool:
        """Return whether two runs differ significantly and relevantly; of single runs, whether relevantly."""
        is_certain = not self.replications or bool(self._significant[first, second])
        return is_certain and not self._is_close(first, second)

    def _is_close(self, first: int, second: int) -> bool:
        one, other = self._intervals[first].mean, self._intervals[second].mean
        return abs(one - other) <= self._tolerance * max(abs(one), abs(other))

    def least(self, among: Sequence[int]) -> list[int]:
        """Return the run with the least mean, followed by those that do not differ from it, in order."""
        ordered = sorted(among, key=lambda index: self._intervals[index].mean)
        return [index for index in ordered if index == ordered[0] or not self.differ(ordered[0], index)]

    def equality(self, group: Sequence[int]) -> str:
        """Return in what sense the runs of a group are equal to the least of them."""
        rows = self._samples[list(group)]
        if np.array_equal(rows, np.broadcast_to(rows[0], rows.shape), equal_nan=True):
            return f"the same in each of {self.replications}" if self.replications else "the same"
        close = self._close_to_least(group)
        if all(close):
            return f"less than {100 * self._tolerance:g} % apart"
        return f"no {'relevant and ' if any(close) else ''}significant difference over {self.replications}"

    def is_undecided(self, group: Sequence[int]) -> bool:
        """Return whether the runs of a group are equal only because there are too few replications."""
        means = [self._intervals[index].mean for index in group]
        return not all(self._close_to_least(group)) and max(means) > _UNDECIDED * min(means)

    def _close_to_least(self, group: Sequence[int]) -> list[bool]:
        best, *others = sorted(group, key=lambda index: self._intervals[index].mean)
        return [self._is_close(best, index) for index in others]

    def ratio(self, first: int, second: int) -> float:
        """Return the first run's value relative to the second's, as the mean over the replications."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self._samples[first] / self._samples[second]
        return confidence_interval(drop_nan(ratios.tolist())).mean

    def texts(self, group: Sequence[int]) -> list[str]:
        """Return the values of a group with two or three digits, or one value if their means are close."""
        if self.replications and all(self._close_to_least(group)):
            group = group[:1]
        intervals = [self._intervals[index] for index in group]
        is_wide = any(each.half_width > _WIDE * abs(each.mean) for each in intervals)
        return [format_digits(self.values[index], 2 if is_wide else 3) for index in group]


_UNDECIDED = 1.1
"""Ratio of the largest and the least mean above which equal runs are called undecided."""

_WIDE = 0.05
"""Half width of an interval relative to its mean above which a number has two digits instead of three."""


class _Ranking:
    """Policies on the same traffic, ranked by energy and by delay. Policies are indices of the runs.

    The *reference*, with which energy is compared, is ranked only if it is one of *runs*.
    """

    def __init__(self, runs: Sequence[Result], reference: Result | None, max_latency_s: float | None) -> None:
        hidden = [] if reference is None or any(run is reference for run in runs) else [reference]
        self._runs = [*runs, *hidden]
        self._names = [run.policy_name for run in self._runs]
        self._shown = list(range(len(runs)))
        self._reference = next((index for index, run in enumerate(self._runs) if run is reference), None)
        self._max_latency_s = max_latency_s
        self._rows = [run.row for run in self._runs]
        self._terms = terms_of(self._rows)
        self._has_delays = runs[0]["loads_pages"] or any(directions_of(run.row) for run in runs)
        self._amounts = _Measure(self._runs, self._terms.amount)
        self._delays = _Measure(self._runs, self._terms.delay)

    def sentences(self, scopes: Sequence[str]) -> list[str]:
        """Return the sentences. The first one begins with *scopes*."""
        verb, noun = self._terms.finished
        ranked = [index for index in self._shown if not (self._has_delays and self._is_unfinished(index))]
        if not ranked:
            return [_sentence(f"no policy {verb} a {noun}", scopes)]
        within = [index for index in ranked if self._is_within(index)]
        least, quickest = self._amounts.least(within), self._quickest(within)
        if not within:
            texts = [self._none_within(ranked)]
        elif len(self._shown) == 1:
            texts = [self._alone()]
        elif self._max_latency_s is not None and self._has_delays:
            scopes = [*scopes, self._terms.limit.format(_limit(self._max_latency_s))]
            texts = [self._least_within(least, within), *self._cheaper_beyond(ranked, least)]
        else:
            texts = self._least_and_quickest(least, quickest, within)
        unfinished = [self._names[index] for index in self._shown if index not in ranked]
        texts += [f"{join_names(unfinished)} {verb} no {noun}"] if unfinished else []
        texts += self._losses(dict.fromkeys(least + quickest))
        return [_sentence(text, () if number else scopes) for number, text in enumerate(texts)]

    def _is_unfinished(self, index: int) -> bool:
        return math.isnan(self._delays.values[index])

    def _is_within(self, index: int) -> bool:
        limit_s = self._max_latency_s
        return limit_s is None or not self._has_delays or self._terms.limited_s(self._rows[index]) <= limit_s

    def _is_saving(self, index: int) -> bool:
        return self._runs[index].policy.partition(":")[0] != "always-on"

    def _quickest(self, among: Sequence[int]) -> list[int]:
        """Return the policies that delay least, of those that save power."""
        return self._delays.least(list(filter(self._is_saving, among))) if self._has_delays else []

    def _none_within(self, ranked: Sequence[int]) -> str:
        closest = min(ranked, key=lambda index: self._terms.limited_s(self._rows[index]))
        limit = _limit(self._max_latency_s or 0.0)
        delay = self._terms.describe_limited(self._rows[closest])
        return f"no policy meets the limit of {limit}; {self._names[closest]} comes closest, where {delay}"

    def _alone(self) -> str:
        """Return how the only policy compares with the reference."""
        (index,), (uses, _), noun = self._shown, self._terms.verbs, self._terms.noun
        name, reference, delays = self._names[index], self._reference, self._tail(index)
        if reference in (None, index):
            return f"{name} {uses} {self._quantities([index])}{delays}"
        if self._amounts.differ(index, reference):
            relative = self._relative(index, reference, noun)
            return f"{name} {uses} {relative} ({self._quantities([index])}){delays}"
        pair, other = [index, reference], self._names[reference]
        equal = f"({self._quantities(pair)}, {self._amounts.equality(pair)})"
        if self._amounts.is_undecided(pair):
            few = f"{self._amounts.replications} are too few to tell"
            return f"{few} whether {name} {uses} more or less {noun} than {other} {equal}{delays}"
        return f"{name} {uses} as much {noun} as {other} {equal}{delays}"

    def _least_within(self, least: Sequence[int], within: Sequence[int]) -> str:
        """Return which policies within the limit use least, and the delay of the best one."""
        text, leader = self._least(least, within), self._leader(least)
        if leader is None or not self._is_saving(leader):
            return text
        return f"{text}, and {self._terms.describe_limited(self._rows[leader])}"

    def _cheaper_beyond(self, ranked: Sequence[int], least: Sequence[int]) -> list[str]:
        """Return which policy beyond the limit uses least, if it uses less than those within."""
        best = self._amounts.least(ranked)[0]
        if best in least or not self._amounts.differ(best, least[0]):
            return []
        relative = self._relative(best, least[0], self._terms.noun)
        delay = self._terms.describe_limited(self._rows[best])
        return [f"{self._names[best]} {self._terms.verbs[0]} {relative}, but {delay}"]

    def _least_and_quickest(
        self, least: Sequence[int], quickest: Sequence[int], ranked: Sequence[int]
    ) -> list[str]:
        """Return which policies use least and which delay least. Of stations return only the former."""
        text, leader = self._least(least, ranked), self._leader(least)
        saving = list(filter(self._is_saving, ranked))
        if leader is not None and quickest == [leader] and len(saving) > 1:
            return [f"{text} and delays least: {self._delays_of(quickest)}"]
        is_last = len(saving) < 2 or not quickest or bool(self._runs[0].station)
        if leader is not None and (is_last or leader not in quickest):
            text += self._tail(leader)
        return [text] if is_last else [text, self._least_delay(quickest, saving, least)]

    def _leader(self, least: Sequence[int]) -> int | None:
        """Return the only policy that uses least or, of two equal ones, the one that delays less."""
        if len(least) == 1:
            return least[0]
        quickest = self._quickest(least)
        is_leader = len(least) == 2 and len(quickest) == 1 and all(map(self._is_saving, least))
        if not is_leader or self._amounts.is_undecided(least):
            return None
        other = least[1 - least.index(quickest[0])]
        return quickest[0] if self._relative_delay(quickest[0], other) < _MUCH_LESS else None

    def _least(self, least: Sequence[int], ranked: Sequence[int]) -> str:
        """Return which policies use least, and how much."""
        noun, (uses, use), leader = self._terms.noun, self._terms.verbs, self._leader(least)
        if leader is not None and len(least) == 2:
            pair = [leader, *(index for index in least if index != leader)]
            name, other = (self._names[index] for index in pair)
            delay = f"{_fraction(self._relative_delay(*pair))} of its {self._terms.delay_name}"
            return f"{name} {uses} as little {noun} as {other} ({self._amounts_of(pair, ranked)}) at {delay}"
        names, amounts = self._names_of(least), self._amounts_of(least, ranked)
        if self._amounts.is_undecided(least):
            few = f"{self._amounts.replications} are too few to tell which of {names}"
            return f"{few} {uses} the least {noun} ({amounts})"
        if len(least) > 1 and len(least) == len(ranked):
            return f"no policy {uses} less {noun} than another ({amounts})"
        return f"{names} {uses if len(least) == 1 else use} the least {noun} ({amounts})"

    def _least_delay(self, quickest: Sequence[int], saving: Sequence[int], least: Sequence[int]) -> str:
        """Return which policies delay least, and what that costs."""
        delays = self._delays_of(quickest)
        if len(quickest) > 1:
            equality = self._delays.equality(quickest)
            if self._delays.is_undecided(quickest):
                few = f"{self._delays.replications} are too few to tell which of {self._names_of(quickest)}"
                return f"{few} delays least: {delays}"
            if len(quickest) == len(saving):
                return f"no policy delays less than another: {delays} ({equality})"
            text = f"{self._names_of(quickest)} delay least: {delays} ({equality})"
            return text + self._cheapest_of(quickest, least)
        text = f"{self._names_of(quickest)} delays least: {delays}"
        if quickest[0] in least:
            return text
        return f"{text}, at {self._relative(quickest[0], least[0], self._terms.noun)}"

    def _cheapest_of(self, quickest: Sequence[int], least: Sequence[int]) -> str:
        """Return which of the policies that delay least uses least, as the end of a sentence."""
        cheapest = self._amounts.least(quickest)
        if len(cheapest) > 1 or cheapest[0] in least:
            return ""
        (uses, _), noun = self._terms.verbs, self._terms.noun
        relative = self._relative(cheapest[0], least[0])
        return f"; of these, {self._names[cheapest[0]]} {uses} the least {noun}, {relative}"

    def _names_of(self, group: Sequence[int]) -> str:
        """Return the names of a group. Of a large group, some are counted instead."""
        names = [self._names[index] for index in group]
        if len(names) > _MAX_NAMES:
            names[_MAX_NAMES - 1 :] = [f"{len(names) - _MAX_NAMES + 1} others"]
        return join_names(names)

    def _tail(self, index: int) -> str:
        """Return the delay of a policy that saves power, as the end of a sentence."""
        return f", and {self._delays_of([index])}" if self._has_delays and self._is_saving(index) else ""

    def _delays_of(self, group: Sequence[int]) -> str:
        return self._terms.describe_delays([self._rows[index] for index in group])

    def _quantities(self, group: Sequence[int]) -> str:
        """Return the amounts of a group with their unit, and the battery life of a single policy."""
        texts = list(dict.fromkeys(self._amounts.texts(group)))
        values = (
            join_names(texts)
            if len(texts) in (1, len(group)) and len(texts) <= _MAX_NAMES
            else format_range(texts)
        )
        days = self._rows[group[0]].get("battery_days") if len(group) == 1 else None
        return f"{values} {self._terms.unit}" + (f", {format_digits(days)} days" if days else "")

    def _amounts_of(self, group: Sequence[int], ranked: Sequence[int]) -> str:
        """Return the amounts of the policies that use least, their equality, and what they save."""
        parts = [self._quantities(group)]
        parts += [self._amounts.equality(group)] if len(group) > 1 else []
        others = [index for index in ranked if index not in group]
        reference = self._reference
        if reference is None or reference in group:
            reference = self._amounts.least(others)[0] if others and len(group) == 1 else None
        if reference is not None and all(self._amounts.differ(index, reference) for index in group):
            parts.append(self._relative(group[0], reference))
        return ", ".join(parts)

    def _relative(self, index: int, reference: int, noun: str = "") -> str:
        """Return the amount of a policy relative to that of a reference."""
        ratio, name = self._amounts.ratio(index, reference), self._names[reference]
        if ratio > 2:
            return f"{format_digits(ratio, 2)} times the {noun or self._terms.noun} of {name}"
        percent = 100 * abs(ratio - 1)
        comparative = "less" if ratio < 1 else "more"
        return " ".join(
            [format_digits(percent, 2 if percent < 99 else 3), "%", comparative, *noun.split(), "than", name]
        )

    def _relative_delay(self, index: int, other: int) -> float:
        """Return the delay of a policy relative to the longer one of another policy."""
        none, values = self._terms.no_delay, self._delays.values
        return max(0.0, values[index] - none) / (values[other] - none)

    def _losses(self, group: Iterable[int]) -> list[str]:
        losses = {self._names[index]: self._terms.losses(self._rows[index]) for index in group}
        return [f"under {name}, {text}" for name, text in losses.items() if text]


_MAX_NAMES = 4
"""Maximum number of policies that a sentence lists."""

_FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 10: "a tenth"}

_MUCH_LESS = 0.9
"""Largest ratio of the delays of two policies that is worth a statement."""

_ROUGHLY = 0.1
"""Largest relative error of a fraction such as a third."""


def _fraction(ratio: float) -> str:
    """Return a ratio below 1 as text."""
    percent = f"{100 * ratio:.0f} %" if ratio >= 0.01 else "less than 1 %"
    return next((text for n, text in _FRACTIONS.items() if abs(ratio * n - 1) < _ROUGHLY), percent)


def _limit(seconds: float) -> str:
    """Return a limit with all its digits."""
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def _sentence(text: str, scopes: Sequence[str]) -> str:
    """Return a sentence, whose first word keeps its case if it is the name of a policy."""
    text = ", ".join([*scopes, text])
    is_word = text.partition(" ")[0] in {"in", "for", "no", "under", "with"}
    return f"{text[0].upper()}{text[1:]}." if is_word else f"{text}."
