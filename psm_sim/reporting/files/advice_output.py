"""Output of an advice as JSON, or as text: the answer, a table of the settings, and the assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.campaign.advice import MAX_REPORT_PERIOD_S, DelayVerdict, SettingRow, slower
from psm_sim.campaign.chip_currents import Current, current_of
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import format_digits, format_seconds, join_names, pluralize
from psm_sim.network.chip_profiles import load_profile
from psm_sim.reporting.advice_sentences import NEEDS, answer, bound
from psm_sim.reporting.columns import Column, number_column, text_column
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.terminal.console import console_on, print_lines, print_table
from psm_sim.simulation.table import directions_of

if TYPE_CHECKING:
    from psm_sim.campaign.advice import Advice
    from psm_sim.network import Topology
    from psm_sim.simulation import Scenario


def write_table(advice: Advice, stream: TextIO) -> None:
    """Write the answer, the ranked settings and the assumptions of an *advice* to *stream*."""
    with console_on(stream) as console:
        print_lines(console, answer(advice))
        console.print()
        print_table(
            console,
            _columns(advice),
            bold=[n for n, row in enumerate(advice.rows) if row is advice.best],
            ends=_last_within(advice),
        )
        console.print()
        if len(advice.modes) > 1:
            print_table(console, _mode_columns(advice))
            console.print()
        print_lines(console, [*_legend(advice), *_assumptions(advice)])


def _columns(advice: Advice) -> list[Column]:
    columns = [
        *(_page_columns(advice) if advice.has_pages else _message_columns(advice)),
        _group_column(advice),
    ]
    return [
        Column("rank", list(map(_rank, advice.rows))),
        text_column("setting", [row.setting.name for row in advice.rows]),
        *filter(_varies, columns),
    ]


def _varies(column: Column) -> bool:
    """Return whether a column has two different values; ``-`` is not a value."""
    return len({*column.cells} - {"-"}) > 1


def _mode_columns(advice: Advice) -> list[Column]:
    """Return the columns of the modes of the chip: name, mean current, and firmwares that default to it."""
    defaults = [join_names(row.mode.default_of or ("-",)) for row in advice.modes]
    return [
        text_column("mode", [row.mode.name for row in advice.modes]),
        *_interval_columns([row.current for row in advice.modes]),
        text_column("default of", defaults),
    ]


def _interval_columns(currents: Sequence[Current]) -> list[Column]:
    """Return the columns of the mean current of a chip and of both ends of its interval."""
    lows, typical, highs = zip(*currents, strict=True)
    names = {"typical": typical, "low": lows, "high": highs}
    return [_digits_column("current", values, name, "mA") for name, values in names.items()]


def _digits_column(measure: str, values: Sequence[float], name: str = "", unit: str = "") -> Column:
    """Return a column of numbers that have two significant digits each."""
    cells = [format_digits(value, 2) if isfinite(value) else "-" for value in values]
    return Column(measure, cells, name, unit)


def _last_within(advice: Advice) -> list[int]:
    """Return the index of the last row within the bound, in a list; ``[]`` if all or no rows are within."""
    within = [number for number, row in enumerate(advice.rows) if row.is_within]
    return within[-1:] if len(within) < len(advice.rows) else []


_MARKS = {
    DelayVerdict.ABOVE: ("-", "exceeds the bound"),
    DelayVerdict.UNCERTAIN: ("~", "is too close to the bound to decide"),
    DelayVerdict.LOSES: ("x", "loses messages or pages"),
}
"""Mark that is shown instead of a rank, and its meaning."""


def _rank(row: SettingRow) -> str:
    mark = _MARKS[row.verdict][0] if row.verdict in _MARKS else str(row.rank or "")
    return mark + _NEED_MARKS.get(row.setting.needs, "")


_NEED_MARKS = {NEW_DRIVER: "*", ACCESS_POINT: "+"}
"""Mark after the rank of a setting that needs a new driver or another DTIM period."""


def _supply_columns(advice: Advice) -> list[Column]:
    rows = [row.result.row for row in advice.rows]
    battery = _digits_column("battery", [row.get("battery_days", nan) for row in rows], unit="days")
    if advice.chip is not None:
        currents = [current_of(row.result, advice.chip) for row in advice.rows]
        others = [advice.at_dtim_3.get(row.setting.name) for row in advice.rows]
        at_dtim_3 = [nan if other is None else other.typical_ma for other in others]
        return [
            *_interval_columns(currents),
            _digits_column("current", at_dtim_3, "at DTIM 3", "mA"),
            battery,
        ]
    if "mean_current_ma" in rows[0]:
        return [number_column("current", [row["mean_current_ma"] for row in rows], unit="mA"), battery]
    return [number_column("power", [row["mean_power_mw"] for row in rows], unit="mW"), battery]


def _message_columns(advice: Advice) -> list[Column]:
    columns = _supply_columns(advice)
    for direction in ("down", "up"):
        is_trip = f"round_trip_{direction}" in directions_of(advice.rows[0].result.row)
        measure = f"RTT {direction}" if is_trip else direction
        columns += [_percentile_column(advice, direction, name, measure) for name in ("p50", "p99")]
    missing = [100 * row.missing for row in advice.rows]
    return [*columns, number_column("missing", missing, unit="%", max_decimals=1)]


def _percentile_column(advice: Advice, direction: str, name: str, measure: str) -> Column:
    """Return the column of a percentile of the latency in a direction."""
    values = []
    for row in advice.rows:
        latency = slower(row.result, direction)
        values.append(nan if latency is None else 1000 * float(row.result[f"{latency}.latency_s.{name}"]))
    return number_column(measure, values, name, "ms", max_decimals=0)


def _page_columns(advice: Advice) -> list[Column]:
    rows = [row.result for row in advice.rows]
    delays_ms = [1000 * row.delay_s.mean for row in advice.rows]
    return [
        number_column("energy", [row.energy_per_page_j for row in rows], unit="J/page"),
        *_supply_columns(advice),
        number_column("page time", [row["page_time_s.mean"] for row in rows], unit="s", max_decimals=3),
        number_column("slowdown", [row["slowdown.mean"] for row in rows], max_decimals=3),
        number_column("added", delays_ms, unit="ms", max_decimals=0),
    ]


def _group_column(advice: Advice) -> Column:
    shares = [row.setting.dtim_share(advice.dtim_period) for row in advice.rows]
    values = [nan if share is None else 100 * share for share in shares]
    return number_column("group", values, unit="%", max_decimals=0)


def _legend(advice: Advice) -> list[str]:
    """Return the lines that explain the table."""
    verdicts = {row.verdict for row in advice.rows}
    present = {row.setting.needs for row in advice.rows}
    needs = [f"{mark} needs {NEEDS[need]}." for need, mark in _NEED_MARKS.items() if need in present]
    marks = [f"{mark} {meaning}" for verdict, (mark, meaning) in _MARKS.items() if verdict in verdicts]
    limit = f" The bound is on the {bound(advice)}." if advice.max_latency_s else ""
    return [
        *([f"Below the line: {'; '.join(marks)}.{limit}"] if marks else []),
        " ".join(needs + _meanings(advice)),
    ]


def _meanings(advice: Advice) -> list[str]:
    """Return sentences that explain the columns, or state the value of a column that is not shown."""
    if advice.has_pages:
        delays = ["Added: mean page time that power saving adds."]
    else:
        names = set(directions_of(advice.rows[0].result.row))
        is_missing = any(row.missing >= _LEAST_SHOWN for row in advice.rows)
        delays = [
            *(["Latency (down, up): from sending to arrival."] if names & {"down", "up"} else []),
            *(["RTT: from sending to the arrival of the reply."] if names - {"down", "up"} else []),
            "Missing: messages lost, or not delivered by the end."
            if is_missing
            else "No message is missing.",
        ]
    group = ["Group: group addressed frames that the station is awake for."]
    return [*delays, *(group if _varies(_group_column(advice)) else [])]


_LEAST_SHOWN = 0.0005
"""Smallest share that is not shown as 0.0 %."""


def _assumptions(advice: Advice) -> list[str]:
    """Return the lines that state the assumptions behind the numbers."""
    comparison = advice.comparison
    workload, count = comparison.workload, advice.replications
    is_unbounded = bool(advice.has_pages and workload.messages and advice.max_latency_s)
    duration = format_seconds(comparison.runs[0]["simulated_s"] / count)
    pages = pluralize(comparison.pages, "page") if advice.has_pages else duration
    seeds = f"{count} clients" if comparison.replicate == "client" else comparison.seed_range
    least = min(len(row.result.replicates) for row in advice.rows)
    few = f", and those marked * with {least} of them" if least < count else ""
    return [
        *([] if advice.report_every_s else [f"Traffic: {workload.name}, {workload.remark}."]),
        *(["The latency of the messages beside the pages is not bounded."] if is_unbounded else []),
        *_parameter_lines(workload.parameters),
        f"Simulated: {pages} of each setting with {seeds}{few}.",
        *([_OFTEN] if (advice.report_every_s or 0) > MAX_REPORT_PERIOD_S else []),
        *_network_lines(comparison.resolved_topology),
        _chip(comparison.scenario, advice.driver),
        _NOT_CONSIDERED,
        *([_UNASSOCIATED] if advice.report_every_s is None else []),
    ]


_NOT_CONSIDERED = (
    "Not considered: keep-alive frames of the driver, other stations on the channel, and energy that the chip"
    " profile does not include."
)
_OFTEN = (
    f"Reports are simulated every {MAX_REPORT_PERIOD_S:g} s, because rarer reports changed the currents of an"
    " ESP32 by less than 1 %. The row deep-sleep has the interval of --report-every."
)
_UNASSOCIATED = "Deep sleep is compared with --report-every TIME."


def _parameter_lines(parameters: Mapping[str, Any]) -> list[str]:
    """Return a line with the sender, the period and the sizes of the messages in each part of the traffic."""
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
    group = f"{60 * rate:.0f} group addressed frames a minute" if rate else "no group addressed frames"
    limit = f"an idle limit of {idle_s:g} s" if idle_s else "no idle limit"
    round_trip = f"round-trip time {format_seconds(topology.round_trip_s)}"
    is_link = topology.mac.model == "link"
    bit_rate = f"{topology.wireless.rate_mbps:g} Mbit/s" if is_link else f"channel of {topology.mac.standard}"
    interval = f"beacon interval {beacon.interval_ms:g} ms, DTIM period {beacon.dtim_period}"
    return [
        f"Access point: {interval}, {round_trip}, {bit_rate}.",
        f"Channel: {losses} lost, {frames} lost, {group}, {limit}.",
    ]


def _chip(scenario: Scenario, driver: str) -> str:
    if not scenario.profile:
        return "Chip: none, so the radio is that of the published evaluations; add --profile for mA and days."
    chip = load_profile(scenario.profile)
    battery = f"; battery of {scenario.battery_mah:g} mAh" if scenario.battery_mah else ""
    named = "driver not known, so common settings" if driver == "generic" else f"driver {driver}"
    mode = f", {chip.mode.name}" if chip.mode else ""
    twt = "" if chip.has_twt else ", without TWT"
    return f"Chip: {chip.description or chip.name}{mode}; {named}{twt}{battery}."


_MEASURES = (
    "energy_per_page_j",
    "mean_current_ma",
    "battery_days",
    "page_time_s",
    "slowdown",
    "latency",
)
"""Keys that a row copies from the result."""


def _to_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice as plain values."""
    comparison = advice.comparison
    return {
        "psm_sim": __version__,
        **comparison.scenario.facts,
        "settings": comparison.scenario.settings,
        "pages": comparison.pages,
        "replications": advice.replications,
        "driver": advice.driver,
        "max_latency_s": advice.max_latency_s,
        "answer": " ".join(answer(advice)),
        "best": None if advice.best is None else advice.best.setting.name,
        "tied": [row.setting.name for row in advice.tied],
        "second": None if advice.second is None else advice.second.setting.name,
        "beyond": None if advice.beyond is None else advice.beyond.setting.name,
        "rows": [_row(advice, row) for row in advice.rows],
        "reversible": [row.setting.name for row in advice.reversible],
        "modes": [
            {"mode": row.mode.name, "current_ma": row.current._asdict(), "default_of": row.mode.default_of}
            for row in advice.modes
        ],
        "assumptions": _assumptions(advice),
    }


def _row(advice: Advice, row: SettingRow) -> dict[str, Any]:
    result, setting = row.result, row.setting
    delay = "page_time_added_s" if advice.has_pages else "p99_latency_s"
    missing = {} if isnan(row.missing) else {"missing": row.missing}
    delays = {delay: row.delay_s.mean, "half_width_95": {delay: row.delay_s.half_width}}
    share = setting.dtim_share(advice.dtim_period)
    other = advice.at_dtim_3.get(setting.name)
    return {
        "setting": setting.name,
        "policy": setting.policy,
        "driver_calls": list(setting.calls),
        "is_default": setting.is_default,
        "needs": setting.needs or None,
        "rank": row.rank or None,
        "verdict": row.verdict.value,
        "replications": len(row.result.replicates),
        **(delays if advice.has_delays else {}),
        "mean_power_w": row.power_w,
        "group_frames_share": share,
        **({"current_ma": current_of(result, advice.chip)._asdict()} if advice.chip else {}),
        **({"current_ma_at_dtim_3": other._asdict()} if other else {}),
        **missing,
        **{key: value for key, value in result.to_dict().items() if key in _MEASURES},
    }


def write_json(advice: Advice, stream: TextIO) -> None:
    """Write an *advice* to *stream* as one JSON object."""
    stream.write(to_text(_to_dict(advice)))
