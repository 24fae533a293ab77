"""Output of an advice as a table, with the answer and the assumptions, or as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from psm_sim import __version__
from psm_sim.campaign.advice import Row, Verdict, slower
from psm_sim.campaign.chip_currents import current_of
from psm_sim.campaign.driver_settings import ACCESS_POINT, NEW_DRIVER
from psm_sim.common.formatting import format_digits, format_seconds, join_names
from psm_sim.network.chip_profiles import load_profile
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.sentences import answer, bound
from psm_sim.reporting.terminal.console import console_on, new_table, print_lines
from psm_sim.simulation.table import directions_of

if TYPE_CHECKING:
    from psm_sim.campaign.advice import Advice
    from psm_sim.network import Topology


def write_table(advice: Advice, driver: str, stream: TextIO) -> None:
    """Write the answer, the ranked settings and the assumptions of an *advice* for a *driver* to *stream*."""
    with console_on(stream) as console:
        print_lines(console, answer(advice))
        console.print()
        console.print(_table(advice))
        console.print()
        if len(advice.modes) > 1:
            console.print(_mode_table(advice))
            console.print()
        print_lines(console, [*_legend(advice), *assumptions(advice, driver)])


class _Column(NamedTuple):
    """Column of numbers, with its heading in three lines; nan is shown as ``-``.

    Each number has as many significant *digits*, or all have the same *decimals*.
    """

    heading: str
    value: Callable[[Row], float]
    decimals: int | None = None
    digits: int | None = None


def _table(advice: Advice) -> Any:
    columns = _page_columns(advice) if advice.has_pages else _message_columns(advice)
    columns.append(_Column("\n\nseeds", lambda row: len(row.result.replicates), 0))
    columns = [column for column in columns if _varies(column, advice.rows)]
    table = new_table()
    table.add_column("\n\nrank", justify="right", no_wrap=True)
    table.add_column("\n\nsetting", overflow="fold")
    texts = [_format_numbers(column, [column.value(row) for row in advice.rows]) for column in columns]
    for column, cells in zip(columns, texts, strict=True):
        width = max(map(len, (*column.heading.splitlines(), *cells)))
        table.add_column(column.heading, justify="right", no_wrap=True, min_width=width)
    for index, row in enumerate(advice.rows):
        is_last = index + 1 < len(advice.rows) and row.is_within and not advice.rows[index + 1].is_within
        style = "bold" if row is advice.best else ""
        table.add_row(
            _rank(row),
            _name(row),
            *(cells[index] for cells in texts),
            style=style,
            end_section=is_last,
        )
    return table


def _mode_table(advice: Advice) -> Any:
    """Return the table of the modes of the chip, with the default setting of the driver."""
    table = new_table()
    table.add_column("mode", no_wrap=True)
    for heading in ("mA", "low", "high"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("default of", overflow="fold")
    for row in advice.modes:
        low, typical, high = (format_digits(each, 2) for each in row.current)
        table.add_row(row.mode.name, typical, low, high, join_names(row.mode.default_of or ("-",)))
    return table


def _varies(column: _Column, rows: Sequence[Row]) -> bool:
    """Return whether a column shows more than ``-`` and one value."""
    texts = set(_format_numbers(column, [column.value(row) for row in rows]))
    return len(texts - {"-"}) > 1


_MARKS = {
    Verdict.ABOVE: ("-", "exceeds the bound"),
    Verdict.UNCERTAIN: ("~", "is too close to the bound to decide"),
    Verdict.LOSES: ("x", "loses messages"),
}
"""Mark in place of the rank, and its meaning."""


def _rank(row: Row) -> str:
    return _MARKS[row.verdict][0] if row.verdict in _MARKS else str(row.rank or "")


_NEEDS = {
    NEW_DRIVER: ("*", "needs a new driver"),
    ACCESS_POINT: ("+", "needs another DTIM period in the access point"),
}
"""Mark of a setting by what it needs, and the meaning."""


def _name(row: Row) -> str:
    needs = row.setting.needs
    return f"{row.setting.name} {_NEEDS[needs][0]}" if needs else row.setting.name


def _supply_columns(advice: Advice) -> list[_Column]:
    has_current = "mean_current_ma" in advice.rows[0].result.row
    power = [
        _Column("\n\nmA", lambda row: row.result["mean_current_ma"])
        if has_current
        else _Column("\n\nmW", lambda row: 1000 * row.power_w)
    ]
    if (chip := advice.chip) is not None:
        power = [
            _Column("\n\nmA", lambda row: current_of(row.result, chip).typical_ma, digits=2),
            _Column("\n\nlow", lambda row: current_of(row.result, chip).low_ma, digits=2),
            _Column("\n\nhigh", lambda row: current_of(row.result, chip).high_ma, digits=2),
        ]
    return [*power, _Column("\n\ndays", lambda row: row.result.row.get("battery_days", math.nan), digits=2)]


def _message_columns(advice: Advice) -> list[_Column]:
    columns = _supply_columns(advice)
    for direction in ("down", "up"):
        kind = "RTT" if f"round_trip_{direction}" in directions_of(advice.rows[0].result.row) else ""
        columns += [
            _Column(f"{kind}\n{direction}\np50", _percentile_ms(direction, "p50"), 0),
            _Column("\nms\np99", _percentile_ms(direction, "p99"), 0),
        ]
    missing = _Column("\nmissing\n%", lambda row: 100 * row.missing, 1)
    return [*columns, missing, _group_column(advice)]


def _percentile_ms(direction: str, name: str) -> Callable[[Row], float]:
    """Return a function from a row to a percentile of the latency in a direction."""

    def value(row: Row) -> float:
        latency = slower(row.result, direction)
        return math.nan if latency is None else 1000 * float(row.result[f"{latency}.latency_s.{name}"])

    return value


def _page_columns(advice: Advice) -> list[_Column]:
    return [
        _Column("\nenergy\nJ/page", lambda row: row.result.energy_per_page_j),
        *_supply_columns(advice),
        _Column("\npage\ntime s", lambda row: row.result["page_time_s.mean"], 3),
        _Column("\nslow-\ndown", lambda row: row.result["slowdown.mean"], 3),
        _Column("\nadded\nms", lambda row: 1000 * row.delay_s.mean, 0),
        _group_column(advice),
    ]


def _group_column(advice: Advice) -> _Column:
    period = advice.dtim_period

    def value(row: Row) -> float:
        share = row.setting.dtim_share(period)
        return math.nan if share is None else 100 * share

    return _Column("\ngroup\n%", value, 0)


def _format_numbers(column: _Column, values: Sequence[float]) -> list[str]:
    """Format a column; without decimals and digits, the smallest number above 0 has about three digits."""
    if column.digits is not None:
        return [format_digits(value, column.digits) if math.isfinite(value) else "-" for value in values]
    decimals = column.decimals
    if decimals is None:
        smallest = min((abs(value) for value in values if math.isfinite(value) and value), default=1.0)
        decimals = min(3, max(0, 2 - math.floor(math.log10(smallest))))
    return [f"{value:.{decimals}f}" if math.isfinite(value) else "-" for value in values]


def _legend(advice: Advice) -> list[str]:
    """Return the lines that explain the table."""
    verdicts = {row.verdict for row in advice.rows}
    present = {row.setting.needs for row in advice.rows}
    needs = [text for need, text in _NEEDS.items() if need in present]
    marks = [f"{mark} {meaning}" for verdict, (mark, meaning) in _MARKS.items() if verdict in verdicts]
    limit = f" The bound is on the {bound(advice)}." if advice.max_latency_s else ""
    return [
        *([f"Below the line: {'; '.join(marks)}.{limit}"] if marks else []),
        " ".join([f"{mark} {meaning}." for mark, meaning in needs] + _meanings(advice)),
    ]


def _meanings(advice: Advice) -> list[str]:
    """Return the meaning of the columns, and the values of those that are left out."""
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
    return [*delays, *(group if _varies(_group_column(advice), advice.rows) else [])]


_LEAST_SHOWN = 0.0005
"""Least share that is not shown as 0.0 %."""


def assumptions(advice: Advice, driver: str) -> list[str]:
    """Return the lines that state what the numbers rest on."""
    comparison = advice.comparison
    workload, count = comparison.workload, advice.replications
    is_unbounded = bool(advice.has_pages and workload.messages and advice.max_latency_s)
    duration = format_seconds(comparison.runs[0]["simulated_s"] / count)
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
        *([_UNASSOCIATED] if advice.report_every_s is None else []),
    ]


_NOT_CONSIDERED = (
    "Not considered: keep-alive frames of the driver, other stations on the channel, and energy that the chip"
    " profile does not include."
)
_UNASSOCIATED = "Deep sleep is compared with --report-every TIME."


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


_MEASURES = (
    "energy_per_page_j",
    "mean_current_ma",
    "battery_days",
    "page_time_s",
    "slowdown",
    "latency",
)
"""Keys of a result that a row has as well."""


def _to_dict(advice: Advice, driver: str) -> dict[str, Any]:
    """Return the advice as plain values. Arguments as for :func:`write_json`."""
    comparison = advice.comparison
    return {
        "psm_sim": __version__,
        **comparison.scenario.facts,
        "settings": comparison.scenario.settings,
        "pages": comparison.pages,
        "replications": advice.replications,
        "driver": driver,
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
        "assumptions": assumptions(advice, driver),
    }


def _row(advice: Advice, row: Row) -> dict[str, Any]:
    result, setting = row.result, row.setting
    delay = "page_time_added_s" if advice.has_pages else "p99_latency_s"
    missing = {} if math.isnan(row.missing) else {"missing": row.missing}
    share = setting.dtim_share(advice.dtim_period)
    return {
        "setting": setting.name,
        "policy": setting.policy,
        "driver_calls": list(setting.calls),
        "is_default": setting.is_default,
        "needs": setting.needs or None,
        "rank": row.rank or None,
        "verdict": row.verdict.value,
        "replications": len(row.result.replicates),
        delay: row.delay_s.mean,
        "half_width_95": {delay: row.delay_s.half_width},
        "mean_power_w": row.power_w,
        "group_frames_share": share,
        **({"current_ma": current_of(result, advice.chip)._asdict()} if advice.chip else {}),
        **missing,
        **{key: value for key, value in result.to_dict().items() if key in _MEASURES},
    }


def write_json(advice: Advice, driver: str, stream: TextIO) -> None:
    """Write an *advice* for a *driver* to *stream* as one JSON object."""
    stream.write(to_text(_to_dict(advice, driver)))
