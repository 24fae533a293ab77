"""Explore page that needs no server: the results of a grid of settings in one HTML file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim import __version__
from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write_text
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.reporting.columns import plain_rows
from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.explore.page import Compare, first_message_s
from psm_sim.reporting.explore.settings import Settings, fitting_sizes
from psm_sim.reporting.figures.timelines import median_page
from psm_sim.reporting.marks import LABELS, Mark, axes_of, axis_start, marks_of, split_far, title_of
from psm_sim.reporting.plotted_events import record_events

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

POLICIES_VIEW = "policies"
"""Title of the first view."""

_VIEWS = {
    POLICIES_VIEW: ("bsd:p=1", "lpsm", "anticipate:price=0.25"),
    "bound p of BSD": tuple(f"bsd:p={p}" for p in ("0.1", "0.2", "0.5", "1", "2")),
    "gamma of LPSM": ("lpsm", *(f"lpsm:gamma={gamma}" for gamma in ("0.000001", "0.00001", "0.0001"))),
    "learner of LPSM": ("lpsm", *(f"lpsm:alpha={alpha}" for alpha in ("0", "0.001", "0.1"))),
    "price of anticipate": tuple(f"anticipate:price={price}" for price in ("0.1", "0.25", "1", "10")),
}
"""Policies that are compared, by the title of the comparison."""


@dataclass(frozen=True)
class ControlGrid:
    """Values of the controls of a static page.

    Attributes
    ----------
    traces, profiles, round_trips_ms, dtims : sequence of str
        Traces, chip profiles, round-trip times and DTIM periods, as in
        :class:`~psm_sim.reporting.explore.settings.Settings`.
    policies : sequence of str
        Policies of the first view.
    """

    traces: Sequence[str] = ("ucb", "modern", "mqtt")
    profiles: Sequence[str] = ("", "esp32")
    round_trips_ms: Sequence[str] = ("40", "160")
    dtims: Sequence[str] = ("1", "3")
    policies: Sequence[str] = _VIEWS[POLICIES_VIEW]

    @property
    def views(self) -> dict[str, Sequence[str]]:
        """Policies that are compared, by the title of the comparison."""
        return {**_VIEWS, POLICIES_VIEW: Settings(policies=tuple(self.policies)).completed_policies}

    @property
    def settings(self) -> list[Settings]:
        """Settings of all combinations, with the policies of all views."""
        policies = tuple(dict.fromkeys(policy for view in self.views.values() for policy in view))
        combinations = product(self.traces, self.profiles, self.round_trips_ms, self.dtims)
        return [
            Settings(
                *values, policies=policies, pages=_pages(values[0]), seeds=fitting_sizes(values[0])["seeds"]
            )
            for values in combinations
        ]


def _pages(trace: str) -> str:
    """Return half of the usual number of pages, because a static page has several times as many policies."""
    return str(max(1, int(fitting_sizes(trace)["pages"]) // 2))


_GENERATOR = '<meta name="generator" content="psm_sim explore --static">'


def usable_page(folder: Path) -> Path:
    """Return the path of the page in *folder* after checking that it replaces no file of the user.

    Raises
    ------
    InputError
        If a file of that name is not a page of :func:`write_static_page`.
    """
    path = folder / "index.html"
    if path.exists() and _GENERATOR not in path.read_text(encoding="utf-8", errors="replace"):
        raise InputError(
            f"--static: {str(path)!r} already exists and is not a page of explore --static; choose another"
            " folder."
        )
    return path


def write_static_page(
    path: Path,
    grid: ControlGrid,
    compare: Compare,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> None:
    """Simulate all settings of the *grid*, and write the page to *path*.

    *workers* and *progress* are as in :func:`~psm_sim.common.run_many.run_many`.
    """
    function = partial(_cell, compare, grid.views)
    cells = run_many(function, grid.settings, workers, progress, "settings")
    data = {
        "controls": {
            "trace": ["trace", list(grid.traces)],
            "profile": ["chip", list(grid.profiles)],
            "round_trip_ms": ["round-trip time (ms)", list(grid.round_trips_ms)],
            "dtim": ["DTIM period (beacons)", list(grid.dtims)],
            "view": ["comparison", list(grid.views)],
        },
        "cells": dict(zip(map(_key, grid.settings), cells, strict=True)),
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    page = Path(__file__).with_name("static.html").read_text(encoding="utf-8")
    style = Path(__file__).parents[1].joinpath("html", "page.css").read_text(encoding="utf-8")
    # The data are inserted last, because they could contain the placeholder of another part.
    for name, part in (
        ("GENERATOR", _GENERATOR),
        ("STYLE", style),
        ("VERSION", escape(__version__)),
        ("DATA", text.replace("<", "\\u003c")),
    ):
        page = page.replace(f"@{name}@", part)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, page, "--static")


def _key(settings: Settings) -> str:
    return "|".join((settings.trace, settings.profile, settings.round_trip_ms, settings.dtim))


def _cell(compare: Compare, views: Mapping[str, Sequence[str]], settings: Settings) -> dict[str, Any]:
    """Return the data of one combination of settings: its views, and one timeline per policy."""
    comparison = compare(settings.arguments, no_progress)
    numbers = dict(zip(settings.policies, comparison.roles.compared, strict=True))
    parts = {
        title: replace(
            comparison, roles=comparison.roles._replace(compared=[numbers[policy] for policy in policies])
        )
        for title, policies in views.items()
    }
    shown = {
        title: _view(part, replace(settings, policies=tuple(views[title])).command)
        for title, part in parts.items()
    }
    captions = [view["caption"] for view in shown.values()]
    common = [line for line in captions[0] if all(line in other for other in captions)]
    for view in shown.values():
        view["caption"] = [line for line in view["caption"] if line not in common]
    return {
        "title": title_of(comparison),
        "caption": common,
        "views": shown,
        **_timelines(comparison.shown),
    }


def _view(comparison: Comparison, command: str) -> dict[str, Any]:
    """Return sentences, command, marks and table of a comparison."""
    x, y = axes_of(comparison)
    near, far = split_far(marks_of(comparison), y)
    (table,) = tables_of(comparison)
    return {
        "conclusion": comparison.conclusion(),
        "command": command,
        "axes": [LABELS[x], LABELS[y]],
        "start": axis_start(x, [mark.values[x] for mark in near]),
        "marks": [_mark(mark, x, y) for mark in near],
        "far": [mark.label for mark in far],
        "table": plain_rows(table.main_columns),
        "caption": caption(comparison, columns=table.main_columns),
        "runs": [run.label for run in comparison.shown],
    }


def _mark(mark: Mark, x: str, y: str) -> list[Any]:
    """Return label, colour, marker, and value and interval on each axis."""
    numbers = (mark.values[x], *mark.ends(x), mark.values[y], *mark.ends(y))
    return [mark.label, mark.style.colour, mark.style.marker, *map(_number, numbers)]


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None


_STEPS = 1000
"""Number of steps of the longest timeline. Events in one step are merged."""


def _timelines(runs: Sequence[Result]) -> dict[str, Any]:
    """Return the timelines of one page, or of the first message, and their limits in seconds."""
    has_pages = runs[0]["loads_pages"]
    number = median_page(runs[1]) if has_pages else 1
    recorded = [record_events(run, number + 1) for run in runs]  # the limits exceed the page
    pages = [events["pages"][number - 1] for events in recorded]
    longest_s = max(end_s - start_s for _, start_s, end_s, _ in pages)
    low_s, high_s = (-0.15 * longest_s, 1.15 * longest_s) if has_pages else (-0.5, 2.0)
    timelines = {}
    for run, events, page in zip(runs, recorded, pages, strict=True):
        zero_s = page[1] if has_pages else first_message_s(events, page)
        to_step = partial(_step, zero_s + low_s, (high_s - low_s) / _STEPS)
        beacons = (first + k * every for first, count, every in events["beacons"] for k in range(count))
        timelines[run.label] = {
            "awake": _spans(events["awake"], to_step),
            "beacons": _steps(beacons, to_step),
            "up": _steps(events["up"], to_step),
            "down": _steps(events["down"], to_step),
            "buffered": _spans(events["buffered"], to_step),
            "end": to_step(page[2]) if has_pages else None,
        }
    text = f"page {number}, requested at 0 s" if has_pages else "around the first message, at 0 s"
    return {
        "timelines": timelines,
        "limits": [_number(low_s), _number(high_s)],
        "steps": _STEPS,
        "page": text,
    }


def _step(low_s: float, step_s: float, time_s: float) -> int:
    return round((time_s - low_s) / step_s)


def _steps(times_s: Iterable[float], to_step: Callable[[float], int]) -> list[int]:
    """Return the steps in which there are events, in ascending order."""
    return sorted({step for step in map(to_step, times_s) if 0 <= step <= _STEPS})


def _spans(pairs: Iterable[Sequence[float]], to_step: Callable[[float], int]) -> list[int]:
    """Return the starts and ends of the union of spans, cut at the limits."""
    spans: list[list[int]] = []
    for start, end in sorted((to_step(start), to_step(end)) for start, end in pairs):
        if end < 0 or start > _STEPS:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], min(_STEPS, end))
        else:
            spans.append([max(0, start), min(_STEPS, end)])
    return [step for span in spans for step in span]
