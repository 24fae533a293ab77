"""Sentences of the conclusion of a run and of a comparison of losses.

This module only expresses verdicts in words. They are computed by :mod:`psm_sim.simulation.verdict` and
:class:`psm_sim.campaign.loss_comparison.LossDifference`. The sentences of an advice are in
:mod:`psm_sim.reporting.advice_sentences`, which a run does not import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from psm_sim.common.formatting import (
    format_digits,
    format_percent,
    format_seconds,
    join_names,
)
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
    from psm_sim.campaign.loss_comparison import LossComparison, LossCurve, LossDifference
    from psm_sim.common.summary_stats import Interval
    from psm_sim.simulation import Result


class _Words(NamedTuple):
    """Words for consumption (noun, unit, verb), for the delay and its limit, and for delivered traffic."""

    noun: str
    unit: str
    verb: str
    delay: str
    limit: str
    finished: tuple[str, str]


_PAGES = "added delay", "with pages delayed by at most {} on average", ("completed", "page")
_MESSAGES = "latency", "with 99 % of the messages delivered within {}", ("delivered", "message")
_WORDS = {
    "energy_per_page_j": _Words("energy", "J per page", "use", *_PAGES),
    "mean_power_mw": _Words("power", "mW", "use", *_MESSAGES),
    "mean_current_ma": _Words("current", "mA", "draw", *_MESSAGES),
}

_DIRECTIONS = {
    "down": "downlink messages",
    "up": "uplink messages",
    "round_trip_down": "replies to downlink messages",
    "round_trip_up": "replies",
}

_STATES = {
    "awake": "is awake {}",
    "transmit": "transmits {}",
    "beacons": "receives {} beacons",
    "wake_ups": "wakes up {} times",
    "frames": "exchanges {} frames",
}
"""Words for the radio state that saves most."""

_MAX_NAMES = 4
"""Maximum number of policies that a sentence lists."""

_PERCENT_BELOW = 0.01
"""Delays of pages below this share of the page time are stated in per cent, others as a factor."""

_WITHOUT = "without power saving"
_SEED_HINT = "One seed cannot tell a difference from noise; add --replications 10."
_RECORDING_HINT = "One recording cannot tell a difference from noise."


def because(reason: Reason | None, *, has_pages: bool) -> str:
    """Return the reason of a saving, such as ``", because it is awake 2.00 s a page instead of 4.00 s"``.

    The text is empty without a reason, or if both values are equal after rounding.
    """
    if reason is None:
        return ""
    state, *values = reason
    unit = "a page" if has_pages else "a minute"
    if state not in ("awake", "transmit"):
        value, other = (format_digits(number if has_pages else 60 * number, 2) for number in values)
    elif has_pages:
        value, other = map(format_seconds, values)
    else:
        unit = "of the time"
        value, other = (format_percent(100 * number) for number in values)
    return f", because it {_STATES[state].format(value)} {unit} instead of {other}" if value != other else ""


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case. The other letters are unchanged."""
    return f"{text[0].upper()}{text[1:]}"


def list_names(texts: Sequence[str]) -> str:
    """Join names. If there are more than four, name three and count the others."""
    if len(texts) > _MAX_NAMES:
        texts = [*texts[: _MAX_NAMES - 1], f"{len(texts) - _MAX_NAMES + 1} others"]
    return join_names(texts)


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


# Conclusion of a run


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
        Results of the reference policy, one for each kind of stations. Those not in *runs* have no effect.
    max_latency_s
        Maximum mean delay of a page, or maximum 99th percentile of the latency of messages, in seconds. Only
        policies within this limit can be best. None means no limit.
    is_partial
        Whether some policies, seeds or clients were not simulated.
    is_synthetic
        Whether the traffic is generated, so that further seeds give further replications.
    """
    is_single = len(runs[0].replicates) == 1
    scopes = ["in this partial result"] if is_partial else ["in this run"] if is_single else []
    sentences: list[str] = []
    has_traffic = False
    for station in dict.fromkeys(run.station for run in runs if not run.station_policy):
        shown = [run for run in runs if run.station == station]
        verdict = judge(shown, references, max_latency_s)
        has_traffic |= verdict.has_delays
        conclusion = _Conclusion(verdict, max_latency_s)
        if station:
            sentences += conclusion.sentences([*([] if sentences else scopes), f"for {station}"])[:1]
        else:
            sentences += conclusion.sentences(scopes)
    hint = _SEED_HINT if is_synthetic else _RECORDING_HINT
    return " ".join([*sentences, *([hint] if has_traffic and is_single else [])])


class _Conclusion:
    """Sentences about a verdict. Runs are identified by their index."""

    def __init__(self, verdict: Verdict, limit_s: float | None) -> None:
        self._verdict, self._limit_s = verdict, limit_s
        self._amounts, self._delays = verdict.amounts, verdict.delays
        self._rows = [run.row for run in verdict.runs]
        self._names = [run.policy_name for run in verdict.runs]
        self._words = _WORDS[amount_name(self._rows)]
        self._has_pages = bool(self._rows[0]["loads_pages"])
        first = verdict.runs[0]
        self._replications = f"{len(first.replicates)} {first.replicate}s" if first.replicate else ""
        # Page delays are relative to a run without power saving, so always-on needs no exception.
        is_apart = not self._has_pages and len(verdict.saving) < len(verdict.within)
        self._among = " of the policies that save power" if is_apart else ""

    def sentences(self, scopes: Sequence[str]) -> list[str]:
        """Return all sentences. The first sentence begins with *scopes*, such as ``["in this run"]``."""
        verdict, words = self._verdict, self._words
        verb, noun = words.finished
        if not verdict.ranked:
            return [_sentence(f"no policy {verb} a {noun}", scopes)]
        limit = format_seconds(self._limit_s or 0.0, None)
        if (nearest := verdict.nearest) is not None:
            closest = f"{self._names[nearest]} comes closest, where {self._limited(nearest)}"
            texts = [f"no policy meets the limit of {limit}; {closest}"]
        elif len(self._names) == 1:
            texts = [f"{self._names[0]} {words.verb}s {self._quantities((0,))}{self._tail(0)}"]
        elif self._limit_s is not None and verdict.has_delays:
            scopes = [*scopes, words.limit.format(limit)]
            texts = self._least_within()
        else:
            texts = self._least_and_quickest()
        unfinished = [name for n, name in enumerate(self._names) if n not in verdict.ranked]
        texts += [f"{join_names(unfinished)} {verb} no {noun}"] if unfinished else []
        for n in dict.fromkeys(verdict.least.members + verdict.quickest.members):
            texts += [f"under {self._names[n]}, {text}" for text in [_losses(self._rows[n])] if text]
        return [_sentence(text, () if number else scopes) for number, text in enumerate(texts)]

    def _least_within(self) -> list[str]:
        """Return texts on the lowest consumption within the limit, and on a lower one beyond the limit."""
        verdict, text = self._verdict, self._least()
        best, beyond = verdict.best, verdict.cheaper_beyond
        if best is not None and saves_power(verdict.runs[best]):
            text += f", and {self._limited(best)}"
        if beyond is None:
            return [text]
        relative = self._relative(beyond, verdict.least.members[0], self._words.noun)
        return [text, f"{self._names[beyond]} {self._words.verb}s {relative}, but {self._limited(beyond)}"]

    def _least_and_quickest(self) -> list[str]:
        """Return texts on the lowest consumption and, without ``[[stations]]``, on the shortest delay."""
        verdict, text = self._verdict, self._least()
        best, quickest, saving = verdict.best, verdict.quickest.members, verdict.saving
        if best is not None and quickest == (best,) and len(saving) > 1:
            return [f"{text}, and delays least{self._among}: {self._delays_of(quickest)}"]
        is_last = len(saving) < 2 or not quickest or bool(verdict.runs[0].station)
        if best is not None and (is_last or best not in quickest):
            text += self._tail(best)
        return [text] if is_last else [text, self._least_delay()]

    def _least(self) -> str:
        """Return a text on the lowest consumption: the policies, the amount, and the reason."""
        verdict, words = self._verdict, self._words
        least, best = verdict.least.members, verdict.best
        reason = because(verdict.reason, has_pages=self._has_pages)
        if best is not None and len(least) == 2:
            pair = [best, *(n for n in least if n != best)]
            name, other = (self._names[n] for n in pair)
            ratio = relative_delay(verdict.runs, self._delays, *pair)
            delay = f"{format_percent(100 * ratio)} of its {words.delay}"
            amounts = self._amounts_of(self._amounts.group(pair))
            return f"{name} {words.verb}s as little {words.noun} as {other} ({amounts}) at {delay}{reason}"
        if verdict.least.is_undecided:
            return self._undecided(verdict.least, self._amounts, f"{words.verb}s the least {words.noun}")
        amounts = self._amounts_of(verdict.least)
        if len(least) > 1 and len(least) == len(verdict.within):
            return f"no policy {words.verb}s less {words.noun} than another ({amounts})"
        verb = f"{words.verb}s" if len(least) == 1 else words.verb
        return f"{self._names_of(least)} {verb} the least {words.noun} ({amounts}){reason}"

    def _least_delay(self) -> str:
        """Return a text on the shortest delay: the policies, the delay, and their consumption."""
        verdict, group = self._verdict, self._verdict.quickest
        quickest, least = group.members, verdict.least.members
        if group.is_undecided:
            return self._undecided(group, self._delays, f"delays least{self._among}")
        delays = self._delays_of(quickest)
        if len(quickest) == 1:
            cost = (
                ""
                if quickest[0] in least
                else f", at {self._relative(quickest[0], least[0], self._words.noun)}"
            )
            return f"{self._names_of(quickest)} delays least{self._among}: {delays}{cost}"
        equality = self._equality(group, self._delays)
        if len(quickest) == len(verdict.saving):
            saving = "" if len(quickest) == len(verdict.within) else " that saves power"
            return f"no policy{saving} delays less than another: {delays} ({equality})"
        cheapest = self._cheapest_of(quickest)
        return f"{self._names_of(quickest)} delay least{self._among}: {delays} ({equality}){cheapest}"

    def _undecided(self, group: Group, measure: Measure, least: str) -> str:
        """Return a text on the smallest mean of a group, and on the means that could be smaller."""
        unit, names = self._words.unit, [self._names[n] for n in group.members]
        values = [format_interval(measure.intervals[n]) for n in group.members]
        if measure is self._delays and self._has_pages:
            unit = f"times the page time {_WITHOUT}"
        elif measure is self._delays:
            unit = "for 99 % of the messages"
            values = [format_seconds(measure.values[n]) for n in group.members]
        others = [f"{name} ({value})" for name, value in zip(names[1:], values[1:], strict=True)]
        differ = "differences from {} are" if len(others) > 1 else "difference from {} is"
        return (
            f"{names[0]} {least} on average ({values[0]} {unit}), but over {self._replications} the"
            f" {differ.format(list_names(others))} not significant"
        )

    def _cheapest_of(self, quickest: Sequence[int]) -> str:
        """Return a clause on the lowest consumption among the *quickest* policies.

        Return an empty text if several policies share it, or if it is the lowest consumption of all policies.
        """
        cheapest, least = self._amounts.least(quickest).members, self._verdict.least.members
        if len(cheapest) > 1 or cheapest[0] in least:
            return ""
        uses = f"{self._words.verb}s the least {self._words.noun}"
        return f"; of these, {self._names[cheapest[0]]} {uses}, {self._relative(cheapest[0], least[0])}"

    def _names_of(self, members: Sequence[int]) -> str:
        return list_names([self._names[n] for n in members])

    def _tail(self, index: int) -> str:
        """Return a delay as the end of a sentence; empty without traffic, or if the radio is always on."""
        is_known = self._verdict.has_delays and saves_power(self._verdict.runs[index])
        return f", and {self._delays_of([index])}" if is_known else ""

    def _delays_of(self, members: Sequence[int]) -> str:
        """Return a clause with the shortest and the longest delay of *members*, which are sorted by delay."""
        first, last = (self._rows[members[index]] for index in (0, -1))
        shortest, longest = delay_of(first), delay_of(last)
        if not self._has_pages:
            durations = _range(format_seconds(shortest), format_seconds(longest))
            return f"99 % of the {_DIRECTIONS[slowest(last)[1]]} arrive within {durations}"
        longer = longest - 1
        if longer < RELEVANT:
            return f"pages take no longer than {_WITHOUT}"
        if longer < _PERCENT_BELOW:
            at_most = "at most " if len(members) > 1 else ""
            return f"pages take {at_most}{format_percent(100 * longer)} longer than {_WITHOUT}"
        factors = _range(format_digits(shortest), format_digits(longest))
        return f"pages take {factors} times as long as {_WITHOUT}"

    def _limited(self, index: int) -> str:
        """Return a clause with the delay that the limit bounds: mean delay of pages, or latency."""
        if self._has_pages:
            return f"pages are delayed by {format_seconds(limited_s(self._rows[index]))} on average"
        return self._delays_of([index])

    def _quantities(self, members: Sequence[int]) -> str:
        """Return the consumption of policies, such as ``"1.2 to 1.5 mA"`` or ``"2.0 mA, 40 days"``."""
        amounts = self._amounts
        if not amounts.is_single and all(amounts.is_close(members[0], n) for n in members):
            members = members[:1]
        digits = 2 if self._words.unit == "mA" else 3  # the current of a chip has a wide interval
        texts = list(dict.fromkeys(format_digits(amounts.values[n], digits) for n in members))
        is_short = len(texts) in (1, len(members)) and len(texts) <= _MAX_NAMES
        values = join_names(texts) if is_short else _range(texts[0], texts[-1])
        days = self._rows[members[0]].get("battery_days") if len(members) == 1 else None
        return f"{values} {self._words.unit}" + (f", {format_digits(days, 2)} days" if days else "")

    def _amounts_of(self, group: Group) -> str:
        """Return consumption, equality and saving, such as ``"1.23 mW, the same, 20 % less than psm"``."""
        parts = [self._quantities(group.members)]
        parts += [self._equality(group, self._amounts)] if len(group.members) > 1 else []
        compared = self._verdict.compared
        parts += [] if compared is None else [self._relative(group.members[0], compared)]
        return ", ".join(parts)

    def _equality(self, group: Group, measure: Measure) -> str:
        """Return why the policies of a group count as equal, such as ``"less than 1 % apart"``."""
        if group.equality is Equality.CLOSE:
            return f"less than {100 * measure.tolerance:g} % apart"
        if group.equality is Equality.INSIGNIFICANT:
            return f"no significant difference over {self._replications}"
        return "the same"

    def _relative(self, index: int, reference: int, noun: str = "") -> str:
        """Return the consumption relative to a reference, such as ``"20 % less than psm"``."""
        ratio, name = self._amounts.ratio(index, reference), self._names[reference]
        if ratio > 2:
            return f"{format_digits(ratio, 2)} times the {noun or self._words.noun} of {name}"
        comparative = "less" if ratio < 1 else "more"
        return " ".join([format_percent(100 * abs(ratio - 1)), comparative, *noun.split(), "than", name])


def _losses(row: Row) -> str:
    """Return a clause such as ``"2 of 9 pages failed"``; empty if no page or message was lost."""
    if row["loads_pages"]:
        failed = row.get("failed_pages")
        return f"{failed} of {row['pages']} pages failed" if failed else ""
    lost, delivered = (
        sum(row[f"latency.{name}.{count}"] for name in directions_of(row)) for count in ("lost", "delivered")
    )
    return f"{format_percent(100 * lost / (lost + delivered))} of the messages were lost" if lost else ""


def _sentence(text: str, scopes: Sequence[str]) -> str:
    """Join *scopes* and *text* to a sentence, capitalized unless it begins with a policy's name."""
    text = ", ".join([*scopes, text])
    is_word = text.partition(" ")[0] in {"in", "for", "no", "under", "with"}
    return f"{capitalize(text) if is_word else text}."


def format_interval(interval: Interval) -> str:
    """Return a mean with three digits and its half-width, such as ``"1.23 ± 0.04"``."""
    decimals = len(format_digits(interval.mean).partition(".")[2])
    return f"{interval:.{decimals}f}"


# Losses of LPSM


def conclude_losses(losses: LossComparison) -> str:
    """Return sentences on the differences between losses, and on the effect of gamma."""
    if len(losses.curves) > 1 and losses.comparison.replications == 1:
        sentences = ["One seed is too few to tell the losses apart; see --replications."]
    else:
        sentences = [_difference(losses.curves[0].name, difference) for difference in losses.differences()]
    return " ".join([*sentences, *(_sensitivity(curve) for curve in losses.curves if len(curve.runs) > 1)])


def _difference(first: str, loss: LossDifference) -> str:
    """Return the sentence on the difference of a loss from the *first* loss."""
    slowdown, energy = loss.slowdown, loss.energy_percent
    delays = f"delays {'less' if slowdown.mean < 0 else 'more'} than {first}"
    if not loss.delay_differs:
        delays = f"does not delay significantly more or less than {first}"
    more = "less" if energy.mean < 0 else "more"
    uses = f"uses {abs(energy.mean):.2f} ± {energy.half_width:.2f} % {more} energy"
    if not loss.energy_differs:
        uses = f"its energy is not significantly different ({energy.mean:+.2f} ± {energy.half_width:.2f} %)"
    difference = f"{slowdown.mean:+.3f} ± {slowdown.half_width:.3f}"
    reason = because(loss.reason, has_pages=True) if loss.energy_differs else ""
    return f"Loss {loss.name} {delays} (slowdown {difference}), and {uses}{reason}."


_SMALL_ENERGY, _SMALL_DELAY = 0.01, 0.05
"""Relative changes of energy and slowdown below which gamma hardly matters (a choice)."""


def _sensitivity(curve: LossCurve) -> str:
    """Return the sentence on the effect of gamma."""
    energies, slowdowns = (
        [run[name] for run in curve.runs] for name in ("energy_per_page_j", "slowdown.mean")
    )
    energy, delay = (max(values) / min(values) - 1 for values in (energies, slowdowns))
    matters = "matters" if energy > _SMALL_ENERGY or delay > _SMALL_DELAY else "hardly matters"
    return (
        f"The gamma of {curve.name} {matters}: from {curve.gammas[0]:.3g} to {curve.gammas[-1]:.3g}, the"
        f" energy varies by {format_percent(100 * energy)} and the slowdown from {min(slowdowns):.3f} to"
        f" {max(slowdowns):.3f}."
    )
