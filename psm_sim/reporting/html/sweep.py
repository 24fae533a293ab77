"""Page of a sweep: its trade-off, its best policies with their commands, and all tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.campaign.sweep.pareto import Candidate, candidates, pareto_front, varying_keys
from psm_sim.campaign.sweep.store_table import table_rows
from psm_sim.component_spec import name_of
from psm_sim.errors import InputError
from psm_sim.reporting.figures.run.policy_styles import truncate_name
from psm_sim.reporting.html import energy_bars, slowdown_ranges, trade_off
from psm_sim.reporting.html.html_document import Section, render_document
from psm_sim.reporting.html.markup import (
    html_definitions,
    html_paragraphs,
    html_select,
    html_table,
    plain_text,
)
from psm_sim.reporting.html.trade_off import LABELS, Mark
from psm_sim.simulation.scenario import Scenario

MAX_MARKS, MAX_BEST, MAX_TASKS = 2_000, 30, 4_000
"""The most marks of the trade-off, best policies drawn and listed, and tasks in the table."""


def page_of(rows: Sequence[StoredRow], commands: Sequence[str], store: str) -> str:
    """Return the page.

    Parameters
    ----------
    rows : sequence of StoredRow
        The tasks, at least one of them done.
    commands : sequence of str
        Those that have filled the store.
    store : str
        Its name.

    Raises
    ------
    InputError
        If no task is done.
    """
    done = candidates(rows)
    if not done:
        raise InputError(f"No task of {store} is done; run the sweep first.")
    best = pareto_front(rows)[:MAX_BEST]
    told = varying_keys(each.scenario for each in done)
    shown, top = [[_mark(each, told) for each in several] for several in (done[:MAX_MARKS], best)]
    top = [replace(each, series=f"{place} {each.series}") for place, each in enumerate(top, 1)]
    sections = [
        Section("summary", "", html_paragraphs(_caption(rows, done))),
        _trade_off(shown, len(done)),
        Section("best", "Best policies", _best(best)),
        Section("states", "Energy by radio state, of the best policies", "", energy_bars.draw(top)),
        Section("slowdowns", "Slowdown of pages, under the best policies", "", slowdown_ranges.draw(top)),
        Section("tasks", "Task by task", _tasks_words(rows) + "<div id=rows></div>"),
        Section("parameters", "Parameters", _parameters(rows, commands)),
    ]
    return render_document(f"Sweep {store}", sections, {"table": _tasks(rows)})


def _mark(each: Candidate, told: Sequence[str]) -> Mark:
    measures = each.rows[0].measures
    intervals = {name: each.interval(name) for name in LABELS if name in measures}
    scenario = "".join(f", {key} {each.scenario.get(key)}" for key in told)
    values = {name: found.mean for name, found in intervals.items()}
    halves = {name: found.half_width for name, found in intervals.items()}
    return Mark(
        truncate_name(name_of(each.policy, "policy")), truncate_name(each.policy) + scenario, values, halves
    )


def _caption(rows: Sequence[StoredRow], done: Sequence[Candidate]) -> list[str]:
    states = Counter(row.state for row in rows)
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    seeds = max(len(each.rows) for each in done)
    combined = f"{len(done)} combinations of policy and scenario, up to {seeds} seeds"
    return [
        f"{len(rows)} tasks: {counted}; {combined}.",
        "Energy is per page; slowdown is against the same page without power saving.",
        "± is half of the 95 % interval (Student's) of a mean over seeds.",
    ]


def _trade_off(shown: Sequence[Mark], total: int) -> Section:
    options = trade_off.choices(shown)
    left = [f"The first {MAX_MARKS} of {total} combinations are drawn."] if total > MAX_MARKS else []
    html = html_paragraphs(["One mark for each combination; a click on a name hides or shows it.", *left])
    html += html_select("x-axis", "from left to right", options, trade_off.X)
    html += html_select("y-axis", "from bottom to top", options, trade_off.Y)
    return Section("frontier", "Energy against slowdown", html, trade_off.draw(shown))


def _best(best: Sequence[Candidate]) -> str:
    keys = varying_keys(each.scenario for each in best)
    measures = (trade_off.Y, trade_off.X)
    rows = [
        [
            f"{place} {each.policy}",
            *(each.scenario.get(key) for key in keys),
            *(f"{found.mean:.4g} ± {found.half_width:.2g}" for found in map(each.interval, measures)),
            _command(each),
        ]
        for place, each in enumerate(best, 1)
    ]
    words = "No other policy beats these in both energy and slowdown, per scenario. Each command runs the "
    words += "first seed; with --output DIR it writes a page with its timeline."
    return html_paragraphs([words]) + html_table(
        ["policy", *keys, *(LABELS[name] for name in measures), "command"], rows
    )


def _command(each: Candidate) -> str:
    row, settings = each.rows[0], dict(each.scenario)
    for known in ("trace", "topology", "pages"):
        del settings[known]
    return Scenario(row.trace, row.topology, row.pages, row.seed, settings).command([row.policy])


def _tasks_words(rows: Sequence[StoredRow]) -> str:
    words = ["A click on a heading sorts, a second one in falling order."]
    if len(rows) > MAX_TASKS:
        words.append(f"The first {MAX_TASKS} of {len(rows)} tasks; 'sweep export' has all.")
    return html_paragraphs(words)


def _tasks(rows: Sequence[StoredRow]) -> dict[str, Any]:
    found = table_rows(rows[:MAX_TASKS])
    differing = set(varying_keys(found)) & {key for row in rows for key in row.parameters}
    wanted = {*LABELS, "policy", "seed", "state", "error"}
    columns = [key for key in found[0] if key in wanted or key in differing]
    return {"columns": columns, "rows": [[plain_text(each[key]) for key in columns] for each in found]}


def _parameters(rows: Sequence[StoredRow], commands: Sequence[str]) -> str:
    ran = {f"sweep {number}": command for number, command in enumerate(commands, 1)}
    values: dict[str, list[str]] = {}
    for row in rows:
        words = {"policy": row.policy, "trace": row.trace, "topology": row.topology, "pages": row.pages}
        for key, value in {**words, "seed": row.seed, **row.parameters}.items():
            several = values.setdefault(key, [])
            if str(value) not in several:
                several.append(str(value))
    told = {key: truncate_name(", ".join(several)) for key, several in values.items()}
    return html_definitions("commands that filled the store", ran) + html_definitions(
        "every parameter, and its values", told
    )
