"""Text of an advice: the answer in sentences, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psm_sim.campaign.advice import MIN_DIFFERENCE, Advice, Row, Verdict
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import format_duration
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.simulation.sentences import because, format_digits, format_limit, format_seconds, join_names


def answer(advice: Advice) -> list[str]:
    """Return the sentences of the answer: the setting to select, why, and what would change it."""
    best = advice.best
    if best is None:
        return _no_setting(advice)
    compared = advice.reason
    reason = because(compared[0], has_pages=advice.has_pages) if compared else ""
    uncertain = [row.setting.name for row in advice.rows if row.verdict is Verdict.UNCERTAIN]
    more = [f"{len(uncertain) - 1} others"] if len(uncertain) > 2 else uncertain[1:]
    return [
        f"Select {best.setting.name}{_call(best)}.",
        f"It draws {power(best)}"
        + (f"{reason} with {compared[1].setting.name}" if compared and reason else "")
        + f". {_capital(delay(advice, best))}.",
        *_default_sentence(advice, best),
        *_tied_sentence(advice),
        *_group_sentences(advice, best),
        *_beyond_sentence(advice, best),
        *_better_sentences(advice),
        *(
            [f"Too close to the bound to decide: {join_names(uncertain[:1] + more)}. Add --replications."]
            if uncertain
            else []
        ),
        *(["This is a single run, so small differences may be chance."] if advice.replications == 1 else []),
    ]


def _no_setting(advice: Advice) -> list[str]:
    offered = [row for row in advice.rows if not row.setting.needs]
    arriving = [row for row in offered if row.verdict is not Verdict.LOSES]
    if not arriving:
        share = min(row.missing for row in offered)
        return [
            f"No setting delivers the messages: at least {100 * share:.0f} % are missing.",
            *_keep_alive(advice),
        ]
    nearest = min(arriving, key=lambda row: row.delay_s.mean)
    return [
        f"No setting is within the bound on the {bound(advice)}.",
        f"Nearest is {nearest.setting.name}: {delay(advice, nearest)}.",
    ]


def _keep_alive(advice: Advice) -> list[str]:
    """Return the remedy if the association of an idle station expires."""
    topology = advice.comparison.resolved_topology
    idle_s = topology.access_point.idle_limit_s
    if idle_s is None or topology.station.keep_alive_s is not None:
        return []
    limit = f"The association expires after {idle_s:g} s without frames of the station"
    return [f"{limit}. Send keep-alives, e.g. --set station.keep_alive_s={idle_s / 2:g}."]


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


def _default_sentence(advice: Advice, best: Row) -> list[str]:
    default = next((row for row in advice.rows if row.setting.is_default), None)
    if default is None:
        return []
    if default is best:
        return ["This is the default of the driver."]
    values = f"{power(default)}; {delay(advice, default)}"
    return [f"The default of the driver, {default.setting.name}, draws {values}."]


def _tied_sentence(advice: Advice) -> list[str]:
    if not advice.tied:
        return []
    names = join_names([row.setting.name for row in advice.tied])
    draw = "draw" if len(advice.tied) > 1 else "draws"
    reason = f"no significant difference, or less than {100 * MIN_DIFFERENCE:g} %"
    return [f"{_capital(names)} {draw} as little ({reason})."]


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


_FRAMES = "of the group addressed frames, so ARP and mDNS requests are lost"


def _share(advice: Advice, row: Row) -> str:
    """Return the warning of a setting that misses group addressed frames; else nothing."""
    share = row.setting.dtim_share(advice.dtim_period)
    return "" if share in (None, 1) else f"it receives {100 * (share or 0):.0f} % {_FRAMES}"


def _group_sentences(advice: Advice, best: Row) -> list[str]:
    """Return what is missed, or the setting that would draw less if frames were missed."""
    if warning := _share(advice, best):
        return [f"{_capital(warning)}. No setting within the bound receives all of them."]
    if advice.second is None:
        return []
    second = advice.second
    return [
        f"{_capital(second.setting.name)} draws {power(second)}, but {_share(advice, second)}{_call(second)}."
    ]


def _beyond_sentence(advice: Advice, best: Row) -> list[str]:
    """Return the bound from which another setting would be selected, and what that saves."""
    row = advice.beyond
    if row is None:
        return []
    ratio, warning = best.power_w / row.power_w, _share(advice, row)
    noun = "current" if "mean_current_ma" in row.result.row else "power"
    cost = f"The bound costs {format_digits(ratio, 2)} times the {noun}. " if ratio >= 2 else ""
    missed = f"; {warning}" if warning else ""
    needed = format_seconds(row.delay_s.high)
    return [f"{cost}With a bound of {needed}, {row.setting.name} would draw {power(row)}{missed}."]


_NEEDS = {NEW_DRIVER: "a new driver", ACCESS_POINT: "another DTIM period in the access point"}


def _better_sentences(advice: Advice) -> list[str]:
    """Return the best setting of each need, or that a new driver would not help."""
    first = {row.setting.needs: row for row in reversed(advice.better)}
    sentences = [
        f"With {_NEEDS[need]}, {row.setting.name} would draw {power(row)}; {delay(advice, row)}."
        for need, row in first.items()
    ]
    if NEW_DRIVER not in first and advice.max_latency_s:
        sentences.append("No policy that needs a new driver draws less within the bound.")
    return sentences


def assumptions(advice: Advice, driver: str) -> list[str]:
    """Return the lines that state what the numbers rest on."""
    comparison = advice.comparison
    topology, workload = comparison.resolved_topology, comparison.workload
    is_unbounded = bool(advice.has_pages and workload.messages and advice.max_latency_s)
    return [
        f"Traffic: {workload.name}, {workload.remark}.",
        *(["The latency of the messages beside the pages is not bounded."] if is_unbounded else []),
        *_parameter_lines(workload.parameters),
        _amount(advice),
        _access_point(topology),
        _losses(topology),
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


def _amount(advice: Advice) -> str:
    comparison = advice.comparison
    count = advice.replications
    simulated_s = comparison.runs[0]["simulated_s"] / count
    pages = f"{comparison.pages} pages" if advice.has_pages else format_duration(simulated_s)
    seeds = f"{count} clients" if comparison.replicate == "client" else comparison.seed_range
    return f"Simulated: {pages} of each setting with {seeds}."


def _access_point(topology: Topology) -> str:
    beacon = topology.beacon
    interval = f"beacon interval {beacon.interval_ms:g} ms"
    round_trip = f"round-trip time {format_seconds(topology.round_trip_s)}"
    return f"Access point: {interval}, DTIM period {beacon.dtim_period}, {round_trip}."


def _losses(topology: Topology) -> str:
    loss, rate = topology.beacon.loss, topology.access_point.group_per_s
    idle_s = topology.access_point.idle_limit_s
    parts = [
        f"{100 * loss:g} % of the beacons are lost" if loss else "no beacons are lost",
        "some frames are lost" if topology.can_fail else "no frames are lost",
        f"group addressed frames at {rate:g} per s" if rate else "no group addressed frames",
        f"an idle limit of {idle_s:g} s" if idle_s else "no idle limit",
    ]
    return f"Channel: {', '.join(parts)}."


def _chip(profile: str, driver: str) -> str:
    if not profile:
        return "Chip: none, so the radio is that of the published evaluations; add --profile for mA and days."
    chip = load_profile(profile)
    named = "driver not known, so common settings" if driver == "generic" else f"driver {driver}"
    return f"Chip: {chip.description or chip.name}; {named}{'' if chip.has_twt else ', without TWT'}."
