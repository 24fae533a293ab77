"""Page of a comparison with controls, for a server or for a static file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim import __version__
from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.common.progress import Progress
from psm_sim.reporting.columns import plain_rows
from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.explore.settings import MEDIAN, Settings
from psm_sim.reporting.figures.timelines import median_page
from psm_sim.reporting.marks import (
    BEST_KNOWN,
    LABELS,
    Mark,
    axes_of,
    axis_start,
    marks_of,
    split_far,
    title_of,
)
from psm_sim.reporting.plotted_events import Events, record_events

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

Compare = Callable[[Sequence[str], Progress], "Comparison"]
"""Function that returns the comparison of a command line, given as arguments of ``psm_sim``."""


def page_text(data: Mapping[str, Any], introduction: str, *, connect: str = "'none'", head: str = "") -> str:
    """Return the page as HTML.

    *data* has the ``controls`` and, on a page without a server, the ``cells``. *introduction* is the first
    paragraph of the page, as HTML. *connect* is the value of ``connect-src`` in the content security policy.
    *head* is HTML that is added to the head.
    """
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    style = Path(__file__).parents[1].joinpath("html", "page.css").read_text(encoding="utf-8")
    # The data are inserted last, because they could contain the placeholder of another part.
    for name, part in (
        ("CONNECT", connect),
        ("HEAD", head),
        ("STYLE", style),
        ("INTRODUCTION", introduction),
        ("BEST_KNOWN", BEST_KNOWN),
        ("VERSION", escape(__version__)),
        ("DATA", to_json(data).replace("<", "\\u003c")),
    ):
        page = page.replace(f"@{name}@", part)
    return page


def to_json(data: Mapping[str, Any]) -> str:
    """Return *data* as compact JSON."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def cell_of(
    comparison: Comparison,
    settings: Settings,
    views: Mapping[str, Sequence[str]],
    frontier: Sequence[ParetoCorner] = (),
) -> dict[str, Any]:
    """Return the data of one combination of settings: its views, and one timeline per policy.

    *views* has the compared policies of each view, by its title. They are among the policies of *settings*,
    which *comparison* compares in the same order. Each view shows the best known *frontier*.
    """
    numbers = dict(zip(settings.policies, comparison.roles.compared, strict=True))
    shown = {}
    for title, policies in views.items():
        roles = comparison.roles._replace(compared=[numbers[policy] for policy in policies])
        command = replace(settings, policies=tuple(policies)).command
        shown[title] = _view(replace(comparison, roles=roles), command, frontier)
    captions = [view["caption"] for view in shown.values()]
    common = [line for line in captions[0] if all(line in other for other in captions)]
    for view in shown.values():
        view["caption"] = [line for line in view["caption"] if line not in common]
    return {
        "title": title_of(comparison),
        "caption": common,
        "views": shown,
        **_timelines(comparison.shown, settings.page),
    }


def _view(comparison: Comparison, command: str, frontier: Sequence[ParetoCorner]) -> dict[str, Any]:
    """Return the data of one view: the conclusion, the command, the marks and the table."""
    x, y = axes_of(comparison)
    marks = marks_of(comparison)
    near, far = split_far(marks, y)
    (table,) = tables_of(comparison)
    return {
        "conclusion": comparison.conclusion(),
        "command": command,
        "axes": [LABELS[x], LABELS[y]],
        "start": axis_start(x, [mark.values[x] for mark in near]),
        "marks": [_mark(mark, x, y) for mark in marks],
        "far": [mark.label for mark in far],
        "frontier": [(_number(corner.slowdown), _number(corner.energy_j)) for corner in frontier],
        "table": plain_rows(table.main_columns),
        "caption": caption(comparison, columns=table.main_columns),
        "runs": [run.label for run in comparison.shown],
    }


def _mark(mark: Mark, x: str, y: str) -> list[Any]:
    """Return label, colour and marker, and for each axis the value and the ends of its interval."""
    numbers = (mark.values[x], *mark.ends(x), mark.values[y], *mark.ends(y))
    return [mark.label, mark.style.colour, mark.style.marker, *map(_number, numbers)]


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None


_STEPS = 1000
"""Number of steps of the longest timeline. Events in one step are merged."""


def _timelines(runs: Sequence[Result], page: str) -> dict[str, Any]:
    """Return the timelines of all runs: during one page or, without pages, around the first message."""
    has_pages = runs[0]["loads_pages"]
    number = median_page(runs[1]) if page == MEDIAN else min(int(page), len(runs[1].blocks[0]))
    number = number if has_pages else 1
    recorded = [record_events(run, number + 1) for run in runs]  # the limits exceed the page
    pages = [events["pages"][number - 1] for events in recorded]
    longest_s = max(end_s - start_s for start_s, end_s in pages)
    low_s, high_s = (-0.15 * longest_s, 1.15 * longest_s) if has_pages else (-0.5, 2.0)
    timelines = {}
    for run, events, each in zip(runs, recorded, pages, strict=True):
        zero_s = each[0] if has_pages else first_message_s(events, each[0])
        to_step = partial(_step, zero_s + low_s, (high_s - low_s) / _STEPS)
        timelines[run.label] = {
            "awake": _spans(events["awake"], to_step),
            "beacons": _steps(events["beacons"], to_step),
            "up": _steps(events["up"], to_step),
            "down": _steps(events["down"], to_step),
            "buffered": _spans(events["buffered"], to_step),
            "end": to_step(each[1]) if has_pages else None,
        }
    text = f"page {number}, requested at 0 s" if has_pages else "around the first message, at 0 s"
    return {
        "timelines": timelines,
        "limits": [_number(low_s), _number(high_s)],
        "steps": _STEPS,
        "page": text,
    }


def first_message_s(events: Events, page_s: float) -> float:
    """Return the time of the first message, in seconds, for a page without objects at *page_s*.

    This time is the same for all policies. Group addressed frames are not messages.
    """
    previous_s = max((end_s for _, end_s in events["pages"] if end_s < page_s), default=0.0)
    # The frames of the first second open the connections.
    frames = [time for time in (*events["up"], *events["served"]) if time > previous_s + 1]
    return float(min(frames, default=previous_s))


def _step(low_s: float, step_s: float, time_s: float) -> int:
    return round((time_s - low_s) / step_s)


def _steps(times_s: Iterable[float], to_step: Callable[[float], int]) -> list[int]:
    """Return the numbers of the steps that contain an event, in ascending order."""
    return sorted({step for step in map(to_step, times_s) if 0 <= step <= _STEPS})


def _spans(pairs: Iterable[Sequence[float]], to_step: Callable[[float], int]) -> list[int]:
    """Merge spans that overlap, and return start and end of each, from step 0 to :data:`_STEPS`."""
    spans: list[list[int]] = []
    for start, end in sorted((to_step(start), to_step(end)) for start, end in pairs):
        if end < 0 or start > _STEPS:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], min(_STEPS, end))
        else:
            spans.append([max(0, start), min(_STEPS, end)])
    return [step for span in spans for step in span]
