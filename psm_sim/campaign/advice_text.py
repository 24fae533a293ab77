"""Text of an advice: the answer in sentences, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psm_sim.campaign.advice import MIN_DIFFERENCE, Advice, Row, Verdict
from psm_sim.common.formatting import format_duration
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.simulation.sentences import join_names


def answer(advice: Advice) -> list[str]:
    """Return the sentences of the answer: the setting to select, and what else is worth knowing."""
    best = advice.best
    if best is None:
        return _no_setting(advice)
    return [
        f"Select {best.setting.name}{_call(best)}.",
        f"It draws {power(best)}, and {delay(advice, best)}.",
        *_default_sentence(advice, best),
        *_tied_sentence(advice),
        *_group_sentences(advice, best),
        *_new_sentences(advice),
        *_uncertain_sentence(advice),
        *_single_run_sentence(advice),
    ]


def _no_setting(advice: Advice) -> list[str]:
    offered = [row for row in advice.rows if not row.setting.is_new]
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
        return f"{values['mean_power_mw']:.3g} mW"
    days = values.get("battery_days")
    capacity = f" of {values['battery_mah']:g} mAh" if days else ""
    return f"{values['mean_current_ma']:.3g} mA" + (f" ({days:.3g} days{capacity})" if days else "")


def delay(advice: Advice, row: Row) -> str:
    """Return the delay of a setting as text, with the bound if there is one."""
    value = format_s(row.delay_s.mean)
    within = (
        f", within {format_s(advice.max_latency_s)}"
        if advice.max_latency_s and row.verdict is Verdict.WITHIN
        else ""
    )
    if advice.has_pages:
        return f"power saving adds {value} to a page on average{within}"
    return f"the 99th percentile of the latency is {value}{within}"


def bound(advice: Advice) -> str:
    """Return what is bounded and the bound as text."""
    kind = "mean added page time" if advice.has_pages else "99th percentile of the latency"
    return f"{kind}, {format_s(advice.max_latency_s or 0.0)}"


def format_s(seconds: float) -> str:
    """Return a time in ms below 1 s, else in s, with at least three digits."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:.0f} s"


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
    return [f"{names[0].upper()}{names[1:]} {draw} as little ({reason})."]


def _group_sentences(advice: Advice, best: Row) -> list[str]:
    """Return a warning if the setting misses group addressed frames, with the best one that does not."""
    period = advice.comparison.resolved_topology.beacon.dtim_period
    share = best.setting.dtim_share(period)
    if share is None or share == 1:
        return []
    complete = [row for row in advice.rows if row.rank and row.setting.dtim_share(period) == 1]
    other = (
        f"Of the settings that receive all of them, {complete[0].setting.name} needs least:"
        f" {power(complete[0])}{_call(complete[0])}."
        if complete
        else "No setting within the bound receives all of them."
    )
    frames = "the group addressed frames, such as ARP and mDNS requests"
    return [f"It receives {100 * share:.0f} % of {frames}. {other}"]


def _new_sentences(advice: Advice) -> list[str]:
    if not advice.better:
        return (
            ["No policy that needs a new driver draws less within the bound."] if advice.max_latency_s else []
        )
    first = advice.better[0]
    return [f"With a new driver, {first.setting.name} would draw {power(first)}; {delay(advice, first)}."]


def _uncertain_sentence(advice: Advice) -> list[str]:
    rows = [row for row in advice.rows if row.verdict is Verdict.UNCERTAIN]
    if not rows:
        return []
    others = (
        f" and {len(rows) - 1} others" if len(rows) > 2 else f" and {rows[-1].setting.name}" * (len(rows) - 1)
    )
    return [f"Too close to the bound to decide: {rows[0].setting.name}{others}. Add --replications."]


def _single_run_sentence(advice: Advice) -> list[str]:
    if advice.replications > 1:
        return []
    return ["This is a single run, so small differences may be chance."]


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
    simulated_s = advice.rows[0].result["simulated_s"] / count
    pages = f"{comparison.pages} pages" if advice.has_pages else format_duration(simulated_s)
    seeds = comparison.seed_range
    if count > 1:
        seeds = comparison.seed_range if comparison.replicate == "seed" else f"{count} clients"
    return f"Simulated: {pages} of each setting with {seeds}."


def _access_point(topology: Topology) -> str:
    beacon = topology.beacon
    interval = f"beacon interval {beacon.interval_ms:g} ms"
    round_trip = f"round-trip time {format_s(topology.round_trip_s)}"
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
