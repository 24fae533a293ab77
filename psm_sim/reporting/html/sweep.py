"""HTML report of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psm_sim.campaign.sweep.results import (
    Candidate,
    candidates,
    describe_scenarios,
    pareto_front,
    series_names,
    swept_parameter,
    table_rows,
    varying_keys,
)
from psm_sim.campaign.sweep.store import StoredRow
from psm_sim.common.component_spec import name_of
from psm_sim.common.errors import InputError
from psm_sim.reporting.html.figures import draw_energy_by_state
from psm_sim.reporting.html.html_document import (
    Section,
    html_definitions,
    html_paragraphs,
    html_table,
    plain_text,
    render_document,
    trade_off_section,
)
from psm_sim.reporting.marks import (
    ENERGY,
    LABELS,
    SLOWDOWN,
    Mark,
    column_label,
    format_value,
    short_name,
    sort_key,
)
from psm_sim.reporting.style import policy_style
from psm_sim.reporting.terminal.sweep import describe_comparison, interval_cells
from psm_sim.simulation.scenario import Scenario

MAX_MARKS, MAX_BEST, MAX_TASKS = 2_000, 30, 4_000
"""Maximum numbers of marks in the trade-off, of best policies, and of tasks in the table."""


def page_of(rows: Sequence[StoredRow], commands: Sequence[str], store: str) -> str:
    """Return the report of a *store* as HTML, with the *rows* of its tasks and the *commands* that wrote it.

    Raises
    ------
    InputError
        If no task is done.
    """
    done = candidates(rows)
    if not done:
        raise InputError(f"No task of {store} is done; run the sweep first.")
    best = pareto_front(rows)[:MAX_BEST]
    keys = varying_keys(candidate.scenario for candidate in done)
    top = [
        replace(_mark(candidate, keys), label=f"{rank} {short_name(candidate.label)}")
        for rank, candidate in enumerate(best, 1)
    ]
    sections = [
        Section("summary", "", html_paragraphs(_caption(rows, done))),
        _trade_off(done, keys),
        Section("best", "Best policies", _best(best)),
        Section("states", "Energy by radio state of the best policies", "", draw_energy_by_state(top)),
        Section("tasks", "Tasks", _tasks_hint(rows) + "<div id=rows></div>"),
        Section("parameters", "Parameters", _parameters(rows, commands)),
    ]
    return render_document(f"Sweep {store}", sections, {"table": _tasks(rows)})


def _mark(candidate: Candidate, keys: Sequence[str], value: str = "") -> Mark:
    """Return the mark of a candidate. *keys* differ between the scenarios; *value* is the swept value."""
    intervals = {measure: candidate.interval(measure) for measure in LABELS if measure in candidate.measures}
    scenario = "".join(f", {key} {candidate.scenario.get(key)}" for key in keys)
    return Mark(
        short_name(candidate.name),
        short_name(candidate.label) + scenario,
        policy_style(name_of(candidate.policy, "policy")),
        {measure: interval.mean for measure, interval in intervals.items()},
        {measure: interval.half_width for measure, interval in intervals.items()},
        value,
    )


def _caption(rows: Sequence[StoredRow], done: Sequence[Candidate]) -> list[str]:
    states = Counter(row.state for row in rows)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    seeds = max(len(candidate.rows) for candidate in done)
    combinations = f"{len(done)} combinations of policy and scenario with up to {seeds} seeds"
    return [
        f"{len(rows)} tasks ({counts}), {combinations}: {describe_scenarios(rows)}.",
        "Energy is per page. Slowdown is relative to the same page without power saving.",
        "± is the half-width of the 95 % confidence interval (Student's t) of a mean over seeds.",
    ]


def _trade_off(done: Sequence[Candidate], keys: Sequence[str]) -> Section:
    groups: dict[str, list[Candidate]] = {}
    for candidate, name in zip(done[:MAX_MARKS], series_names(done[:MAX_MARKS]), strict=True):
        groups.setdefault(name, []).append(candidate)
    marks, swept = [], dict[str, None]()
    for name, group in groups.items():
        key = swept_parameter(group)
        swept |= {column_label(key): None} if key else {}
        ordered = sorted(group, key=lambda each: sort_key(each.parameters.get(key))) if key else group
        for each in ordered:
            value = format_value(each.parameters[key]) if key else ""
            style = policy_style(name)
            marks.append(replace(_mark(each, keys, value), label=short_name(name), style=style))
    lines = [f"One mark per policy and scenario{', labelled with ' if swept else ''}{', '.join(swept)}."]
    lines.append("Click a legend entry to hide or show it.")
    if len(done) > MAX_MARKS:
        lines.append(f"Only {MAX_MARKS} of {len(done)} combinations are plotted.")
    return trade_off_section(" ".join(lines), marks)


def _best(best: Sequence[Candidate]) -> str:
    keys = varying_keys(candidate.scenario for candidate in best)
    measures = (ENERGY, SLOWDOWN)
    columns = (zip(*interval_cells(best, measure), strict=True) for measure in measures)
    rows = [
        [
            f"{rank} {candidate.label}",
            *(candidate.scenario.get(key) for key in keys),
            *(" ± ".join(filter(None, texts)) for texts in intervals),
            candidate.is_optimal,
            _command(candidate),
        ]
        for rank, (candidate, *intervals) in enumerate(zip(best, *columns, strict=True), 1)
    ]
    text = "Each command runs the first seed. Add --output DIR to write a report with a timeline."
    return html_paragraphs([*describe_comparison(best), text]) + html_table(
        ["policy", *keys, *(LABELS[name] for name in measures), "Pareto-optimal", "command"], rows
    )


def _command(candidate: Candidate) -> str:
    row, settings = candidate.rows[0], dict(candidate.scenario)
    for key in ("trace", "topology", "pages"):
        del settings[key]
    return Scenario(row.trace, row.topology, row.pages, row.seed, settings).command([row.policy])


def _tasks_hint(rows: Sequence[StoredRow]) -> str:
    lines = ["Click a column heading to sort. Click it again to reverse the order."]
    if len(rows) > MAX_TASKS:
        lines.append(f"Only {MAX_TASKS} of {len(rows)} tasks are listed. 'sweep export' writes all tasks.")
    return html_paragraphs(lines)


def _tasks(rows: Sequence[StoredRow]) -> dict[str, Any]:
    tasks = table_rows(rows[:MAX_TASKS])
    varying = set(varying_keys(tasks)) & {key for row in rows for key in row.parameters}
    fixed = {*LABELS, "policy", "seed", "state", "error"}
    columns = [key for key in tasks[0] if key in fixed or key in varying]
    return {"columns": columns, "rows": [[plain_text(task[key]) for key in columns] for task in tasks]}


def _parameters(rows: Sequence[StoredRow], commands: Sequence[str]) -> str:
    numbered = {f"sweep {number}": command for number, command in enumerate(commands, 1)}
    values: dict[str, list[str]] = {}
    for row in rows:
        scenario = {"policy": row.policy, "trace": row.trace, "topology": row.topology, "pages": row.pages}
        for key, value in {**scenario, "seed": row.seed, **row.parameters}.items():
            texts = values.setdefault(key, [])
            if str(value) not in texts:
                texts.append(str(value))
    lists = {key: short_name(", ".join(texts)) for key, texts in values.items()}
    return html_definitions("commands that wrote to the store", numbered) + html_definitions(
        "parameters and their values", lists
    )
