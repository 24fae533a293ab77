"""Text of an advice: the answer in sentences, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psm_sim.campaign.advice import MIN_DIFFERENCE, Advice, Row, Verdict
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import format_duration
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.simulation.sentences import because, format_digits, format_limit, format_seconds, join_names


def answer(advice: Advice) -> list[str]:
    """Return the sentences of the answer: the setting to select, why, and what would change it."""
    if advice.best is None:
        return _no_setting(advice)
    return [*_selection(advice, advice.best), *_alternatives(advice, advice.best)]


def _selection(advice: Advice, best: Row) -> Iterator[str]:
    """Yield the setting to select with its reason, the default, and settings that are as good."""
    yield f"Select {best.setting.name}{_call(best)}."
    compared = advice.reason
    reason = because(compared[0], has_pages=advice.has_pages) if compared else ""
    other = f"{reason} with {compared[1].setting.name}" if compared and reason else ""
    yield f"It draws {power(best)}{other}. {_capital(delay(advice, best))}."
    default = next((row for row in advice.rows if row.setting.is_default), None)
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


def _alternatives(advice: Advice, best: Row) -> Iterator[str]:
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
    if names := [row.setting.name for row in advice.rows if row.verdict is Verdict.UNCERTAIN]:
        shown = names if len(names) < 3 else [names[0], f"{len(names) - 1} others"]
        yield f"Too close to the bound to decide: {join_names(shown)}. Add --replications."
    if advice.replications == 1:
        yield "This is a single run, so small differences may be chance."


_NEEDS = {NEW_DRIVER: "a new driver", ACCESS_POINT: "another DTIM period in the access point"}


def _no_setting(advice: Advice) -> list[str]:
    offered = [row for row in advice.rows if not row.setting.needs]
    arriving = [row for row in offered if row.verdict is not Verdict.LOSES]
    if arriving:
        nearest = min(arriving, key=lambda row: row.delay_s.mean)
        return [
            f"No setting is within the bound on the {bound(advice)}.",
            f"Nearest is {nearest.setting.name}: {delay(advice, nearest)}.",
        ]
    share = min(row.missing for row in offered)
    sentences = [f"No setting delivers the messages: at least {100 * share:.0f} % are missing."]
    topology = advice.comparison.resolved_topology
    idle_s = topology.access_point.idle_limit_s
    if idle_s is not None and topology.station.keep_alive_s is None:
        sentences.append(
            f"The association expires after {idle_s:g} s without frames of the station. Send keep-alives,"
            f" e.g. --set station.keep_alive_s={idle_s / 2:g}."
        )
    return sentences


def _call(row: Row) -> str:
    calls = row.setting.calls
    return f": {join_names(calls)}" if calls else "; the manual of your driver states the call"


def power(row: Row) -> str:
    """Return mean current and battery life, or mean power without a chip, as text."""
    values = row.result.row
    if "mean_current_ma" not in values:
        return f"{format_digits(values['mean_power_mw'])} mW"
    days = values.get("battery_days")
    life = f" ({format_digits(days)} days of {values['battery_mah']:g} mAh)" if days else ""
    return f"{format_digits(values['mean_current_ma'])} mA{life}"


def delay(advice: Advice, row: Row) -> str:
    """Return the delay of a setting as text, with the bound if there is one."""
    value = format_seconds(row.delay_s.mean)
    within = (
        f", within {format_limit(advice.max_latency_s)}"
        if advice.max_latency_s and row.verdict is Verdict.WITHIN
        else ""
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


def _warning(advice: Advice, row: Row) -> str:
    """Return the warning of a setting that misses group addressed frames; empty for the others."""
    share = row.setting.dtim_share(advice.dtim_period)
    lost = "of the group addressed frames, so ARP and mDNS requests are lost"
    return "" if share in (None, 1) else f"it receives {100 * (share or 0):.0f} % {lost}"


def assumptions(advice: Advice, driver: str) -> list[str]:
    """Return the lines that state what the numbers rest on."""
    comparison = advice.comparison
    workload, count = comparison.workload, advice.replications
    is_unbounded = bool(advice.has_pages and workload.messages and advice.max_latency_s)
    duration = format_duration(comparison.runs[0]["simulated_s"] / count)
    pages = f"{comparison.pages} pages" if advice.has_pages else duration
    seeds = f"{count} clients" if comparison.replicate == "client" else comparison.seed_range
    return [
        f"Traffic: {workload.name}, {workload.remark}.",
        *(["The latency of the messages beside the pages is not bounded."] if is_unbounded else []),
        *_parameter_lines(workload.parameters),
        f"Simulated: {pages} of each setting with {seeds}.",
        *_network_lines(comparison.resolved_topology),
        _chip(comparison.scenario.profile, driver),
        _NOT_CONSIDERED,
    ]


_NOT_CONSIDERED = (
    "Not considered: deep sleep with a new association, keep-alive frames of the driver, other stations on"
    " the channel, and energy that the chip profile does not include."
)


def _parameter_lines(parameters: Mapping[str, Any]) -> list[str]:
    """Return a line with sender, period and sizes of each part of device traffic."""
    parts = [key.removesuffix(".sender") for key in parameters if key.endswith(".sender")]
    texts = []
    for part in parts:
        value = {
            key.rpartition(".")[2]: value for key, value in parameters.items() if key.startswith(f"{part}.")
        }
        if value["on"]:
            reply = f", reply {value['reply_bytes']} B" if value["reply_bytes"] else ""
            timing = "" if value["timing"] == "clock" else f" ({value['timing']})"
            period = f"every {value['period_s']:g} s{timing}"
            texts.append(f"{part} from the {value['sender']} {period}, {value['bytes']} B{reply}")
    return [f"Messages: {'; '.join(texts)}."] if texts else []


def _network_lines(topology: Topology) -> list[str]:
    beacon, access_point = topology.beacon, topology.access_point
    losses = f"{100 * beacon.loss:g} % of the beacons are" if beacon.loss else "no beacons are"
    frames = "some frames are" if topology.can_fail else "no frames are"
    rate, idle_s = access_point.group_per_s, access_point.idle_limit_s
    group = f"group addressed frames at {rate:g} per s" if rate else "no group addressed frames"
    limit = f"an idle limit of {idle_s:g} s" if idle_s else "no idle limit"
    round_trip = f"round-trip time {format_seconds(topology.round_trip_s)}"
    interval = f"beacon interval {beacon.interval_ms:g} ms, DTIM period {beacon.dtim_period}"
    return [
        f"Access point: {interval}, {round_trip}.",
        f"Channel: {losses} lost, {frames} lost, {group}, {limit}.",
    ]


def _chip(profile: str, driver: str) -> str:
    if not profile:
        return "Chip: none, so the radio is that of the published evaluations; add --profile for mA and days."
    chip = load_profile(profile)
    named = "driver not known, so common settings" if driver == "generic" else f"driver {driver}"
    mode = f", {chip.mode.name}" if chip.mode else ""
    return f"Chip: {chip.description or chip.name}{mode}; {named}{'' if chip.has_twt else ', without TWT'}."
