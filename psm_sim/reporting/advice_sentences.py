"""Sentences of the advice for a device (:class:`~psm_sim.campaign.advice.DriverAdvice`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from psm_sim.campaign.advice import DelayVerdict
from psm_sim.campaign.chip_currents import Current, current_of
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import (
    format_digits,
    format_percent,
    format_range,
    format_seconds,
    join_names,
    pluralize,
)
from psm_sim.common.summary_stats import MIN_DIFFERENCE
from psm_sim.network.chip_profiles import ChipProfile
from psm_sim.reporting.sentences import because, capitalize, list_names

if TYPE_CHECKING:
    from psm_sim.campaign.advice import Advice, SettingRow

NEEDS = {NEW_DRIVER: "a new driver", ACCESS_POINT: "another DTIM period in the access point"}
"""Words for the needs of a setting."""


def answer(advice: Advice) -> list[str]:
    """Return the sentences of the answer: the setting to select, why, and what would change it."""
    if advice.best is None:
        return _no_setting(advice)
    return [*_selection(advice, advice.best), *_alternatives(advice, advice.best)]


def _selection(advice: Advice, best: SettingRow) -> Iterator[str]:
    """Yield sentences on the selected setting, the cost of the bound, and the driver's default setting."""
    yield from _default_mode(advice)
    select = "Select" if advice.is_decided else "Of the settings clearly within the bound, select"
    yield f"{select} {best.setting.name}{_call(best)}."
    if not advice.is_decided:
        yield from _uncertain(advice)
    compared = advice.reason
    reason = because(compared[0], has_pages=advice.has_pages) if compared else ""
    other = f"{reason} with {compared[1].setting.name}" if compared and reason else ""
    yield f"It draws {_power(advice, best)}{other}. {capitalize(_delay(advice, best))}."
    if beyond := advice.beyond:
        ratio, warning = best.power_w / beyond.power_w, _warning(advice, beyond)
        noun = "current" if "mean_current_ma" in beyond.result.row else "power"
        cost = f"The bound costs {format_digits(ratio, 2)} times the {noun}. " if ratio >= 2 else ""
        change = f"With a bound of {format_seconds(beyond.delay_s.high)}, {beyond.setting.name} would draw"
        yield f"{cost}{change} {_power(advice, beyond)}{f'; {warning}' if warning else ''}."
    default = advice.default
    if default is best:
        yield "This is the default of the driver."
    elif default is not None:
        name = default.setting.name
        drawn = f"draws {_power(advice, default)}; {_delay(advice, default)}"
        yield f"The default of the driver, {name}, {drawn}."
    if advice.at_dtim_3:
        draws = _drawn(advice.at_dtim_3[best.setting.name], best.result.row.get("battery_mah"))
        yield (
            "The DTIM period of your access point is not given, and assumed to be 1. At 3,"
            f" {best.setting.name.replace('DTIM 1', 'DTIM 3')} draws {draws}. State the period with --dtim."
        )


def _default_mode(advice: Advice) -> Iterator[str]:
    """Yield a sentence that names the mode of the chip that firmwares use by default."""
    if advice.chip is None or advice.chip.mode is None:
        return
    compared = advice.chip.mode.name
    for row in advice.modes:
        if firmwares := row.mode.default_of:
            use = "use" if len(firmwares) > 1 else "uses"
            text = f"{join_names(firmwares)} {use} {row.mode.name} by default"
            if row.mode.name != compared:
                text += (
                    f", which draws {_drawn(row.current, None)}; the settings below are those of {compared}"
                )
            yield f"{text}."


def _knowledge(advice: Advice, best: SettingRow) -> Iterator[str]:
    """Yield the reason for the interval of the currents, and the settings whose rank it can change."""
    chip = advice.chip
    if chip is None:
        return
    low, high = chip.interval
    hint = "" if chip.known != ChipProfile.known else "; --measured 'dtim=3: CURRENT' narrows it to 13 %"
    others = [row.setting.name for row in advice.reversible]
    change = f", but {list_names(others)} could draw less than {best.setting.name}" if others else ""
    yield (
        f"The interval is {low:g} to {high:g} times the predicted current asleep, because {chip.known}{hint}."
        f" The ranks hold within it{change}."
    )


def _unassociated(advice: Advice, best: SettingRow) -> Iterator[str]:
    """Yield the mean current with deep sleep, and the report interval above which deep sleep draws less."""
    if advice.chip is None or advice.report_every_s is None:
        return
    row = next((row for row in advice.modes if row.mode.name == "deep-sleep"), None)
    if row is None:
        is_known = "deep-sleep" in advice.chip.modes
        longer = f"an association takes longer than {_about(advice.report_every_s)}"
        reason = longer if is_known else "the profile has no mode deep-sleep"
        yield f"Deep sleep is not compared, because {reason}."
        return
    draws = f"draws {_drawn(row.current, best.result.row.get('battery_mah'))}"
    text = f"For a report every {_about(advice.report_every_s)}, deep sleep with a new association {draws}"
    even_s = row.break_even_s(current_of(best.result, advice.chip))
    if even_s is not None:
        low, middle, high = map(_about, even_s)
        text += f"; it draws less than {best.setting.name} above {middle} ({low} to {high})"
    yield f"{text}. No frame reaches the station between two reports."


def _alternatives(advice: Advice, best: SettingRow) -> Iterator[str]:
    """Yield sentences on other settings than *best*, and on the certainty of the result."""
    yield from _ties(advice, best)
    if warning := _warning(advice, best):
        yield f"{capitalize(warning)}. No setting within the bound receives all of them."
    elif second := advice.second:
        name = capitalize(second.setting.name)
        yield f"{name} draws {_power(advice, second)}, but {_warning(advice, second)}{_call(second)}."
    yield from _knowledge(advice, best)
    yield from _unassociated(advice, best)
    first = {row.setting.needs: row for row in reversed(advice.better)}
    for need, row in first.items():
        drawn = f"{row.setting.name} would draw {_power(advice, row)}"
        yield f"With {NEEDS[need]}, {drawn}; {_delay(advice, row)}."
    if NEW_DRIVER not in first and advice.max_latency_s:
        yield "No policy that needs a new driver draws clearly less within the bound."
    if advice.is_decided:
        yield from _uncertain(advice)
    if advice.replications == 1:
        yield "This is a single run, so small differences may be chance."


def _ties(advice: Advice, best: SettingRow) -> Iterator[str]:
    """Yield the settings that need as much energy as *best*, and those without a significant difference."""
    ratios = {row.setting.name: row.energy_j / best.energy_j for row in advice.tied}
    equal = [name for name, ratio in ratios.items() if ratio <= 1 + MIN_DIFFERENCE]
    higher = [
        f"{name} at {format_digits(ratios[name])} times the energy" for name in ratios if name not in equal
    ]
    if equal:
        draw = f"draw{'' if len(equal) > 1 else 's'} as little (less than {100 * MIN_DIFFERENCE:g} % apart)"
        yield f"{capitalize(list_names(equal))} {draw}."
    if higher:
        seeds = f"with {pluralize(advice.replications, 'seed')}"
        yield f"Not significantly different {seeds}: {list_names(higher)}. Add --replications."


def _uncertain(advice: Advice) -> Iterator[str]:
    """Yield a sentence on settings whose delay is too close to the bound to decide, if there are any."""
    if uncertain := [row.setting.name for row in advice.uncertain]:
        yield f"Too close to the bound to decide: {list_names(uncertain)}. Add --replications."


def _no_setting(advice: Advice) -> list[str]:
    if nearest := advice.nearest:
        clearly = "" if advice.is_decided else "clearly "
        return [
            f"No setting is {clearly}within the bound on the {bound(advice)}.",
            f"Nearest is {nearest.setting.name}: {_delay(advice, nearest)}.",
            *_uncertain(advice),
        ]
    if advice.has_pages:
        return ["With each setting, pages fail."]
    share = min(row.missing for row in advice.rows if not row.setting.needs)
    sentences = [f"No setting delivers the messages: at least {100 * share:.0f} % are missing."]
    topology = advice.comparison.resolved_topology
    idle_s = topology.access_point.idle_limit_s
    if idle_s is not None and topology.station.keep_alive_s is None:
        sentences.append(
            f"The association expires after {format_seconds(idle_s, None)} without frames of the station."
            f" Send keep-alives, e.g. --set station.keep_alive_s={idle_s / 2:g}."
        )
    return sentences


def _call(row: SettingRow) -> str:
    calls = row.setting.calls
    return f": {join_names(calls)}" if calls else "; the manual of your driver states the call"


def _power(advice: Advice, row: SettingRow) -> str:
    """Return the mean current and the battery life, or the mean power if no current is known."""
    values = row.result.row
    if advice.chip is not None:
        return _drawn(current_of(row.result, advice.chip), values.get("battery_mah"))
    if "mean_current_ma" not in values:
        return f"{format_digits(values['mean_power_mw'])} mW"
    days = values.get("battery_days")
    life = f" ({format_digits(days)} days of {values['battery_mah']:g} mAh)" if days else ""
    return f"{format_digits(values['mean_current_ma'])} mA{life}"


def _drawn(current: Current, battery_mah: float | None) -> str:
    """Return a mean current and the battery life."""
    text = format_range(*current, "mA")
    if not battery_mah:
        return text
    low, typical, high = (battery_mah / each / 24 for each in reversed(current))
    return f"{text} ({format_range(low, typical, high, 'days')})"


def _about(seconds: float) -> str:
    """Return a duration with two significant digits."""
    name, size = next(((n, s) for n, s in (("hours", 3600), ("minutes", 60)) if seconds >= 2 * s), ("s", 1))
    return f"{format_digits(seconds / size, 2).removesuffix('.0')} {name}"


def _delay(advice: Advice, row: SettingRow) -> str:
    """Return a clause with the delay of a setting and, if there is a bound, whether the bound is met."""
    if row.verdict is DelayVerdict.LOSES and advice.has_pages:
        return "pages fail"
    if row.verdict is DelayVerdict.LOSES:
        return f"{format_percent(100 * row.missing)} of the messages are missing"
    if not advice.has_delays:
        return "there is no message to delay"
    value, limit_s = format_seconds(row.delay_s.mean), advice.max_latency_s
    relation = row.verdict.value.replace("the bound", format_seconds(limit_s or 0.0, None))
    related = f", {relation}" if limit_s else ""
    if advice.has_pages:
        return f"power saving adds {value} to a page on average{related}"
    return f"the 99th percentile of the latency is {value}{related}"


def bound(advice: Advice) -> str:
    """Return the bound as text, such as ``"99th percentile of the latency, 300 ms"``."""
    kind = "mean added page time" if advice.has_pages else "99th percentile of the latency"
    return f"{kind}, {format_seconds(advice.max_latency_s or 0.0, None)}"


def _warning(advice: Advice, row: SettingRow) -> str:
    """Return the warning of a setting that misses group addressed frames; empty for other settings."""
    share, period = row.setting.dtim_share(advice.dtim_period), row.setting.wake_beacons
    if share in (None, 1):
        return ""
    unless = f" unless the DTIM period of the access point is {period}" if period else ""
    frames = f"{100 * (share or 0):.0f} % of the group addressed frames"
    return f"it receives {frames}, so ARP and mDNS requests are lost{unless}"
