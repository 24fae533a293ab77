"""Sentences of the answers: the conclusion of a run, the advice for a device, and how losses differ.

Each states a verdict that has been decided as data: see :mod:`psm_sim.simulation.verdict`,
:class:`psm_sim.campaign.advice.Choice` and :class:`psm_sim.campaign.loss_comparison.LossDifference`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from psm_sim.campaign.advice import MIN_DIFFERENCE
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import format_digits, format_limit, format_seconds, join_names
from psm_sim.simulation.table import Row, directions_of
from psm_sim.simulation.verdict import (
    RELEVANT,
    Equality,
    Group,
    Measure,
    Reason,
    Verdict,
    amount_name,
    delay_of,
    judge,
    limited_s,
    relative_delay,
    saves_power,
    slowest,
)

if TYPE_CHECKING:
    from psm_sim.campaign.advice import Advice
    from psm_sim.campaign.advice import Row as Ranked
    from psm_sim.campaign.loss_comparison import LossComparison, LossCurve, LossDifference
    from psm_sim.common.summary_stats import Interval
    from psm_sim.simulation import Result


def format_interval(interval: Interval) -> str:
    """Return a mean with three digits, and the half width of its interval with as many decimals."""
    decimals = len(format_digits(interval.mean).partition(".")[2])
    return f"{interval:.{decimals}f}"


def because(reason: Reason | None, *, has_pages: bool) -> str:
    """Return the state that pays as the end of a sentence; empty if two runs hardly differ in it."""
    if reason is None:
        return ""
    state, *values = reason
    if state in ("awake", "transmit"):
        unit = "a page" if has_pages else "of the time"
        texts = [
            format_seconds(each) if has_pages else f"{format_digits(100 * each, 2)} %" for each in values
        ]
    else:
        unit = "a page" if has_pages else "a minute"
        texts = [format_digits(each if has_pages else 60 * each, 2) for each in values]
    value, other = texts
    return f", because it {_PAYS[state].format(value)} {unit} instead of {other}" if value != other else ""


_PAYS = {
    "awake": "is awake {}",
    "transmit": "transmits {}",
    "beacons": "receives {} beacons",
    "wake_ups": "wakes up {} times",
    "frames": "exchanges {} frames",
}
"""Words for the state that pays."""


class _Words(NamedTuple):
    """Noun, unit and verbs of the amount, and words for delay, limit and arrived traffic."""

    noun: str
    unit: str
    uses: str
    use: str
    delay: str
    limit: str
    finished: tuple[str, str]


_MESSAGES_WITHIN = "with 99 % of the messages delivered within {}"
_DELIVERED = ("delivered", "message")
_WORDS = {
    "energy_per_page_j": _Words(
        "energy", "J per page", "uses", "use", "added delay",
        "with pages delayed by at most {} on average", ("completed", "page"),
    ),
    "mean_power_mw": _Words("power", "mW", "uses", "use", "latency", _MESSAGES_WITHIN, _DELIVERED),
    "mean_current_ma": _Words("current", "mA", "draws", "draw", "latency", _MESSAGES_WITHIN, _DELIVERED),
}  # fmt: skip

_DIRECTIONS = {
    "down": "downlink messages",
    "up": "uplink messages",
    "round_trip_down": "replies to downlink messages",
    "round_trip_up": "replies",
}

_MAX_PERCENT = 0.01
"""Relative delay of pages below which it is given in per cent instead of as a factor."""


def describe_delays(rows: Sequence[Row]) -> str:
    """Return a clause with the delays of rows, in ascending order."""
    first, last = delay_of(rows[0]), delay_of(rows[-1])
    if not rows[0]["loads_pages"]:
        durations = _range(format_seconds(first), format_seconds(last))
        return f"99 % of the {_DIRECTIONS[slowest(rows[-1])[1]]} arrive within {durations}"
    longer = last - 1
    if longer < RELEVANT:
        return f"pages take no longer than {_WITHOUT}"
    if longer < _MAX_PERCENT:
        at_most = "at most " if len(rows) > 1 else ""
        return f"pages take {at_most}{format_digits(100 * longer, 2)} % longer than {_WITHOUT}"
    return f"pages take {_range(format_digits(first), format_digits(last))} times as long as {_WITHOUT}"


_WITHOUT = "without power saving"


def describe_limited(row: Row) -> str:
    """Return a clause with the delay to which a limit applies."""
    if row["loads_pages"]:
        return f"pages are delayed by {format_seconds(limited_s(row))} on average"
    return describe_delays([row])


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _losses(row: Row) -> str:
    """Return which part of the traffic was lost, if any."""
    if row["loads_pages"]:
        failed = row.get("failed_pages")
        return f"{failed} of {row['pages']} pages failed" if failed else ""
    lost, delivered = (
        sum(row[f"latency.{name}.{count}"] for name in directions_of(row)) for count in ("lost", "delivered")
    )
    return f"{format_digits(100 * lost / (lost + delivered), 2)} % of the messages were lost" if lost else ""


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
        Results that energy is compared with, one for each kind of stations, if they are among *runs*.
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
        text = _Text(judge(shown, references, max_latency_s), max_latency_s)
        if station:
            sentences += text.sentences([*([] if sentences else scopes), f"for {station}"])[:1]
        else:
            sentences += text.sentences(scopes)
    hint = _SEED_HINT if is_synthetic else _RECORDING_HINT
    return " ".join([*sentences, *([hint] if sentences and is_single else [])])


class _Text:
    """Sentences about a verdict. Runs are indices."""

    def __init__(self, verdict: Verdict, limit_s: float | None) -> None:
        self._verdict, self._limit_s = verdict, limit_s
        self._amounts, self._delays = verdict.amounts, verdict.delays
        self._rows = [run.row for run in verdict.runs]
        self._names = [run.policy_name for run in verdict.runs]
        self._words = _WORDS[amount_name(self._rows)]
        first = verdict.runs[0]
        self._replications = f"{len(first.replicates)} {first.replicate}s" if first.replicate else ""

    def sentences(self, scopes: Sequence[str]) -> list[str]:
        """Return the sentences. The first one begins with *scopes*."""
        verdict, (verb, noun) = self._verdict, self._words.finished
        if not verdict.ranked:
            return [_sentence(f"no policy {verb} a {noun}", scopes)]
        if (nearest := verdict.nearest) is not None:
            limit, delay = format_limit(self._limit_s or 0.0), describe_limited(self._rows[nearest])
            texts = [
                f"no policy meets the limit of {limit}; {self._names[nearest]} comes closest, where {delay}"
            ]
        elif len(self._names) == 1:
            texts = [f"{self._names[0]} {self._words.uses} {self._quantities((0,))}{self._tail(0)}"]
        elif self._limit_s is not None and verdict.has_delays:
            scopes = [*scopes, self._words.limit.format(format_limit(self._limit_s))]
            texts = self._least_within()
        else:
            texts = self._least_and_quickest()
        unfinished = [name for n, name in enumerate(self._names) if n not in verdict.ranked]
        texts += [f"{join_names(unfinished)} {verb} no {noun}"] if unfinished else []
        for n in dict.fromkeys(verdict.least.members + verdict.quickest.members):
            texts += [f"under {self._names[n]}, {text}" for text in [_losses(self._rows[n])] if text]
        return [_sentence(text, () if number else scopes) for number, text in enumerate(texts)]

    def _least_within(self) -> list[str]:
        """Return which policies within the limit use least, and one beyond it that uses less."""
        verdict, text = self._verdict, self._least()
        best, beyond = verdict.best, verdict.cheaper_beyond
        if best is not None and saves_power(verdict.runs[best]):
            text += f", and {describe_limited(self._rows[best])}"
        if beyond is None:
            return [text]
        relative = self._relative(beyond, verdict.least.members[0], self._words.noun)
        delay = describe_limited(self._rows[beyond])
        return [text, f"{self._names[beyond]} {self._words.uses} {relative}, but {delay}"]

    def _least_and_quickest(self) -> list[str]:
        """Return which policies use least and which delay least. Of stations return only the former."""
        verdict, text = self._verdict, self._least()
        best, quickest, saving = verdict.best, verdict.quickest.members, verdict.saving
        if best is not None and quickest == (best,) and len(saving) > 1:
            return [f"{text}, and delays least: {self._delays_of(quickest)}"]
        is_last = len(saving) < 2 or bool(verdict.runs[0].station)
        if best is not None and (is_last or best not in quickest):
            text += self._tail(best)
        return [text] if is_last else [text, self._least_delay()]

    def _least(self) -> str:
        """Return which policies use least, how much, and why."""
        verdict, words = self._verdict, self._words
        least, best = verdict.least.members, verdict.best
        reason = because(verdict.reason, has_pages=self._rows[0]["loads_pages"])
        if best is not None and len(least) == 2:
            pair = [best, *(n for n in least if n != best)]
            name, other = (self._names[n] for n in pair)
            ratio = relative_delay(verdict.runs, self._delays, *pair)
            percent = f"{100 * ratio:.0f} %" if ratio >= 0.01 else "less than 1 %"
            delay = f"{percent} of its {words.delay}"
            amounts = self._amounts_of(self._amounts.group(pair))
            return f"{name} {words.uses} as little {words.noun} as {other} ({amounts}) at {delay}{reason}"
        if verdict.least.is_undecided:
            return self._undecided(verdict.least, self._amounts, f"{words.uses} the", f" {words.noun}")
        amounts = self._amounts_of(verdict.least)
        if len(least) > 1 and len(least) == len(verdict.within):
            return f"no policy {words.uses} less {words.noun} than another ({amounts})"
        verb = words.uses if len(least) == 1 else words.use
        return f"{self._names_of(least)} {verb} the least {words.noun} ({amounts}){reason}"

    def _least_delay(self) -> str:
        """Return which policies delay least, and what that costs."""
        verdict, group = self._verdict, self._verdict.quickest
        quickest, least = group.members, verdict.least.members
        if group.is_undecided:
            return self._undecided(group, self._delays, "delays", "")
        delays = self._delays_of(quickest)
        if len(quickest) > 1:
            equality = self._equality(group, self._delays)
            if len(quickest) == len(verdict.saving):
                saving = "" if len(quickest) == len(verdict.within) else " that saves power"
                return f"no policy{saving} delays less than another: {delays} ({equality})"
            text = f"{self._names_of(quickest)} delay least: {delays} ({equality})"
            return text + self._cheapest_of(quickest)
        text = f"{self._names_of(quickest)} delays least: {delays}"
        if quickest[0] in least:
            return text
        return f"{text}, at {self._relative(quickest[0], least[0], self._words.noun)}"

    def _undecided(self, group: Group, measure: Measure, verb: str, noun: str) -> str:
        """Return the least and the largest mean of a group whose order is not known, and that it is not."""
        first, last, names = group.members[0], group.members[-1], self._names
        if measure is self._delays and not self._rows[first]["loads_pages"]:
            low, high = (format_seconds(measure.values[n]) for n in (first, last))
            high = f"99 % of the messages within {high}"
        else:
            low, high = (format_interval(measure.intervals[n]) for n in (first, last))
            high += f" {self._words.unit}" if noun else " times the page time without power saving"
        few = f"{self._replications} are too few to tell which of {self._names_of(group.members)}"
        mean = f"{names[last]} {verb} most{noun} ({high}) and {names[first]} least ({low}) on average"
        return f"{mean}; {few} {verb} least{noun}"

    def _cheapest_of(self, quickest: Sequence[int]) -> str:
        """Return which of the policies that delay least uses least, as the end of a sentence."""
        cheapest, least = self._amounts.least(quickest).members, self._verdict.least.members
        if len(cheapest) > 1 or cheapest[0] in least:
            return ""
        relative = self._relative(cheapest[0], least[0])
        uses = f"{self._words.uses} the least {self._words.noun}"
        return f"; of these, {self._names[cheapest[0]]} {uses}, {relative}"

    def _names_of(self, members: Sequence[int]) -> str:
        """Return the names of several policies. Of many, some are counted instead."""
        names = [self._names[n] for n in members]
        if len(names) > _MAX_NAMES:
            names[_MAX_NAMES - 1 :] = [f"{len(names) - _MAX_NAMES + 1} others"]
        return join_names(names)

    def _tail(self, index: int) -> str:
        """Return the delay of a policy that saves power, as the end of a sentence."""
        is_known = self._verdict.has_delays and saves_power(self._verdict.runs[index])
        return f", and {self._delays_of([index])}" if is_known else ""

    def _delays_of(self, members: Sequence[int]) -> str:
        return describe_delays([self._rows[n] for n in members])

    def _quantities(self, members: Sequence[int]) -> str:
        """Return the amounts of policies with their unit, and the battery life of a single policy."""
        amounts = self._amounts
        if not amounts.is_single and all(amounts.is_close(members[0], n) for n in members):
            members = members[:1]
        texts = list(dict.fromkeys(format_digits(amounts.values[n]) for n in members))
        is_short = len(texts) in (1, len(members)) and len(texts) <= _MAX_NAMES
        values = join_names(texts) if is_short else _range(texts[0], texts[-1])
        days = self._rows[members[0]].get("battery_days") if len(members) == 1 else None
        return f"{values} {self._words.unit}" + (f", {format_digits(days)} days" if days else "")

    def _amounts_of(self, group: Group) -> str:
        """Return the amounts of the policies that use least, their equality, and what they save."""
        parts = [self._quantities(group.members)]
        parts += [self._equality(group, self._amounts)] if len(group.members) > 1 else []
        compared = self._verdict.compared
        parts += [] if compared is None else [self._relative(group.members[0], compared)]
        return ", ".join(parts)

    def _equality(self, group: Group, measure: Measure) -> str:
        """Return in what sense the policies of a group are equal."""
        if group.equality is Equality.CLOSE:
            return f"less than {100 * measure.tolerance:g} % apart"
        if group.equality is Equality.INSIGNIFICANT:
            return f"no significant difference over {self._replications}"
        return "the same"

    def _relative(self, index: int, reference: int, noun: str = "") -> str:
        """Return the amount of a policy relative to that of a reference."""
        ratio, name = self._amounts.ratio(index, reference), self._names[reference]
        if ratio > 2:
            return f"{format_digits(ratio, 2)} times the {noun or self._words.noun} of {name}"
        percent = 100 * abs(ratio - 1)
        comparative = "less" if ratio < 1 else "more"
        return " ".join(
            [format_digits(percent, 2 if percent < 99 else 3), "%", comparative, *noun.split(), "than", name]
        )


_MAX_NAMES = 4
"""Maximum number of policies that a sentence lists."""


def _sentence(text: str, scopes: Sequence[str]) -> str:
    """Return a sentence, whose first word keeps its case if it is the name of a policy."""
    text = ", ".join([*scopes, text])
    is_word = text.partition(" ")[0] in {"in", "for", "no", "under", "with"}
    return f"{text[0].upper()}{text[1:]}." if is_word else f"{text}."


def answer(advice: Advice) -> list[str]:
    """Return the sentences of the answer: the setting to select, why, and what would change it."""
    if advice.best is None:
        return _no_setting(advice)
    return [*_selection(advice, advice.best), *_alternatives(advice, advice.best)]


def _selection(advice: Advice, best: Ranked) -> Iterator[str]:
    """Yield the setting to select with its reason, the default, and settings that are as good."""
    yield f"Select {best.setting.name}{_call(best)}."
    compared = advice.reason
    reason = because(compared[0], has_pages=advice.has_pages) if compared else ""
    other = f"{reason} with {compared[1].setting.name}" if compared and reason else ""
    yield f"It draws {power(best)}{other}. {_capital(delay(advice, best))}."
    default = advice.default
    if default is best:
        yield "This is the default of the driver."
    elif default is not None:
        yield (
            f"The default of the driver, {default.setting.name}, draws {power(default)};"
            f" {delay(advice, default)}."
        )
    if advice.tied:
        names = _capital(join_names([row.setting.name for row in advice.tied]))
        draw = "draw" if len(advice.tied) > 1 else "draws"
        equal = f"no significant difference, or less than {100 * MIN_DIFFERENCE:g} %"
        yield f"{names} {draw} as little ({equal})."
    if warning := _warning(advice, best):
        yield f"{_capital(warning)}. No setting within the bound receives all of them."
    elif second := advice.second:
        name = _capital(second.setting.name)
        yield f"{name} draws {power(second)}, but {_warning(advice, second)}{_call(second)}."


def _alternatives(advice: Advice, best: Ranked) -> Iterator[str]:
    """Yield what another bound, driver, access point or more seeds would change."""
    if beyond := advice.beyond:
        ratio, warning = best.power_w / beyond.power_w, _warning(advice, beyond)
        noun = "current" if "mean_current_ma" in beyond.result.row else "power"
        cost = f"The bound costs {format_digits(ratio, 2)} times the {noun}. " if ratio >= 2 else ""
        change = f"With a bound of {format_seconds(beyond.delay_s.high)}, {beyond.setting.name} would draw"
        yield f"{cost}{change} {power(beyond)}{f'; {warning}' if warning else ''}."
    first = {row.setting.needs: row for row in reversed(advice.better)}
    for need, row in first.items():
        yield f"With {_NEEDS[need]}, {row.setting.name} would draw {power(row)}; {delay(advice, row)}."
    if NEW_DRIVER not in first and advice.max_latency_s:
        yield "No policy that needs a new driver draws less within the bound."
    if names := [row.setting.name for row in advice.uncertain]:
        shown = names if len(names) < 3 else [names[0], f"{len(names) - 1} others"]
        yield f"Too close to the bound to decide: {join_names(shown)}. Add --replications."
    if advice.replications == 1:
        yield "This is a single run, so small differences may be chance."


_NEEDS = {NEW_DRIVER: "a new driver", ACCESS_POINT: "another DTIM period in the access point"}


def _no_setting(advice: Advice) -> list[str]:
    if nearest := advice.nearest:
        return [
            f"No setting is within the bound on the {bound(advice)}.",
            f"Nearest is {nearest.setting.name}: {delay(advice, nearest)}.",
        ]
    share = min(row.missing for row in advice.rows if not row.setting.needs)
    sentences = [f"No setting delivers the messages: at least {100 * share:.0f} % are missing."]
    topology = advice.comparison.resolved_topology
    idle_s = topology.access_point.idle_limit_s
    if idle_s is not None and topology.station.keep_alive_s is None:
        sentences.append(
            f"The association expires after {idle_s:g} s without frames of the station. Send keep-alives,"
            f" e.g. --set station.keep_alive_s={idle_s / 2:g}."
        )
    return sentences


def _call(row: Ranked) -> str:
    calls = row.setting.calls
    return f": {join_names(calls)}" if calls else "; the manual of your driver states the call"


def power(row: Ranked) -> str:
    """Return mean current and battery life, or mean power without a chip, as text."""
    values = row.result.row
    if "mean_current_ma" not in values:
        return f"{format_digits(values['mean_power_mw'])} mW"
    days = values.get("battery_days")
    life = f" ({format_digits(days)} days of {values['battery_mah']:g} mAh)" if days else ""
    return f"{format_digits(values['mean_current_ma'])} mA{life}"


def delay(advice: Advice, row: Ranked) -> str:
    """Return the delay of a setting as text, with the bound if there is one."""
    value = format_seconds(row.delay_s.mean)
    within = (
        f", within {format_limit(advice.max_latency_s)}" if advice.max_latency_s and row.is_within else ""
    )
    if advice.has_pages:
        return f"power saving adds {value} to a page on average{within}"
    return f"the 99th percentile of the latency is {value}{within}"


def bound(advice: Advice) -> str:
    """Return what is bounded and the bound as text."""
    kind = "mean added page time" if advice.has_pages else "99th percentile of the latency"
    return f"{kind}, {format_limit(advice.max_latency_s or 0.0)}"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _warning(advice: Advice, row: Ranked) -> str:
    """Return the warning of a setting that misses group addressed frames; empty for the others."""
    share = row.setting.dtim_share(advice.dtim_period)
    lost = "of the group addressed frames, so ARP and mDNS requests are lost"
    return "" if share in (None, 1) else f"it receives {100 * (share or 0):.0f} % {lost}"


def conclude_losses(losses: LossComparison) -> str:
    """Return in a few sentences how the losses differ, and whether gamma matters."""
    if len(losses.curves) > 1 and losses.comparison.replications == 1:
        sentences = ["One seed is too few to tell the losses apart; see --replications."]
    else:
        sentences = [_difference(losses.curves[0].name, each) for each in losses.differences()]
    return " ".join([*sentences, *(_sensitivity(curve) for curve in losses.curves if len(curve.runs) > 1)])


def _difference(first: str, loss: LossDifference) -> str:
    """Return the sentence on the difference of a loss from the *first* one."""
    slowdown, energy = loss.slowdown, loss.energy_percent
    delays = f"delays {'less' if slowdown.mean < 0 else 'more'} than {first}"
    if not loss.delay_differs:
        delays = f"does not delay significantly more or less than {first}"
    more = "less" if energy.mean < 0 else "more"
    uses = f"uses {abs(energy.mean):.2f} ± {energy.half_width:.2f} % {more} energy"
    if not loss.energy_differs:
        uses = f"its energy is not significantly different ({energy.mean:+.2f} ± {energy.half_width:.2f} %)"
    difference = f"{slowdown.mean:+.3f} ± {slowdown.half_width:.3f}"
    return f"Loss {loss.name} {delays} (slowdown {difference}), and {uses}."


_SMALL_ENERGY, _SMALL_DELAY = 0.01, 0.05
"""Relative changes of energy and slowdown below which gamma hardly matters."""


def _sensitivity(curve: LossCurve) -> str:
    """Return the sentence on what gamma changes."""
    energies, slowdowns = (
        [run[name] for run in curve.runs] for name in ("energy_per_page_j", "slowdown.mean")
    )
    energy, delay = (max(values) / min(values) - 1 for values in (energies, slowdowns))
    matters = "matters" if energy > _SMALL_ENERGY or delay > _SMALL_DELAY else "hardly matters"
    return (
        f"The gamma of {curve.name} {matters}: from {curve.gammas[0]:.3g} to {curve.gammas[-1]:.3g}, the"
        f" energy varies by {100 * energy:.2g} % and the slowdown from {min(slowdowns):.3f} to"
        f" {max(slowdowns):.3f}."
    )
