"""Figures of runs over time: one page in detail, and the polling times of all pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.common.formatting import pluralize
from psm_sim.reporting.figures.canvas import WIDTH_IN, add_legend, add_title, common_style, new_figure
from psm_sim.reporting.marks import first_run, short_name, styles_of, title_of
from psm_sim.reporting.plotted_events import Events, fitting_page_count, record_events
from psm_sim.reporting.style import EVENT_COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result
    from psm_sim.simulation.table import Row

MAX_RUNS = 4
"""Maximum number of policies in a figure."""

AMONG = 20
"""Number of first pages among which the plotted page is selected."""

_MARGIN, _TITLE_CHARACTERS = 0.15, 50  # margin as a share of the page time; characters of a title line
_ROWS = {"radio awake": 3, "beacon received": 2, "uplink frames": 1, "downlink frames": 0}  # y coordinates


def draw_page_timeline(results: Sequence[Result], title: str = "") -> Figure:
    """Plot one page of the first station under each of the first four policies.

    The page has the median slowdown under the first policy, see :func:`median_page`. All *results* must be of
    the same pages.
    """
    runs = [result for result in results if result.station == results[0].station][:MAX_RUNS]
    number = median_page(runs[0])
    figure, panels = new_figure(len(runs), 1, width_in=WIDTH_IN, height_in=1.2 + 1.4 * len(runs))
    pages = [run.blocks[0].page(number) for run in runs]
    longest_s = max(page["page_time_s"] for page in pages)
    limits_s = (-_MARGIN * longest_s, (1 + _MARGIN) * longest_s)
    with common_style():
        for axes, page, run in zip(panels, pages, runs, strict=True):
            events = record_events(run, number + 1)  # the margin after the page is part of the next one
            _plot_page(axes, page, events, limits_s, short_name(run.label))
        panels[-1].set_xlabel("time since the page was requested (s)")
    if title:
        add_title(figure, [title])
    add_legend(figure, panels[0])
    return figure


def median_page(run: Result) -> int:
    """Return the number of the page with the median slowdown among the first :data:`AMONG` pages.

    Pages without images are ignored, unless there are no others.
    """
    pages = run.blocks[0].pages
    slowdowns, objects = (pages[name][:AMONG] for name in ("slowdown", "objects"))
    is_complete = ~np.isnan(slowdowns)
    is_complete = is_complete if is_complete.any() else ~is_complete
    has_images = is_complete & (objects > 2)
    numbers = np.flatnonzero(has_images if has_images.any() else is_complete)
    ranked = numbers[np.argsort(slowdowns[numbers], kind="stable")]
    return int(ranked[len(ranked) // 2]) + 1


def _plot_page(axes: Axes, page: Row, events: Events, limits_s: tuple[float, float], title: str) -> None:
    """Plot one page: awake periods, beacons, frames, and the periods for which frames were buffered.

    *limits_s* are the limits of the time axis, whose zero is the request of the page.
    """
    zero_s, (low_s, high_s) = page["start_s"], limits_s

    def visible(times_s: Iterable[float]) -> list[float]:
        return [time_s - zero_s for time_s in times_s if low_s <= time_s - zero_s <= high_s]

    def periods(name: str) -> list[tuple[float, float]]:
        spans_s = [(start - zero_s, end - zero_s) for start, end in events[name]]
        return [(start, end - start) for start, end in spans_s if end > low_s and start < high_s]

    axes.broken_barh(periods("awake"), (2.7, 0.6), color=EVENT_COLOURS["radio awake"], label="radio awake")
    received_s = visible(events["beacons"])
    axes.plot(
        received_s,
        [_ROWS["beacon received"]] * len(received_s),
        "|",
        color=EVENT_COLOURS["beacon received"],
        markersize=9,
        label="beacon received",
    )
    for name, frame in (("up", "uplink frame"), ("down", "downlink frame")):
        times_s = visible(events[name])
        rows = [_ROWS[f"{frame}s"]] * len(times_s)
        axes.plot(times_s, rows, ".", color=EVENT_COLOURS[frame], markersize=4, label=f"{frame}s")
    if events["buffered"]:
        axes.broken_barh(
            periods("buffered"),
            (-0.35, 0.18),
            color=EVENT_COLOURS["frame buffered"],
            label="frames buffered",
        )
    axes.axvline(page["page_time_s"], color=GREY, linestyle="--", linewidth=1, label="page complete")
    axes.set_xlim(limits_s)
    axes.set_ylim(-0.6, 3.6)
    axes.set_yticks(list(_ROWS.values()), list(_ROWS))
    axes.grid(visible=False, axis="y")
    summary = f"{pluralize(page['objects'], 'object')} in {page['page_time_s']:.2f} s"
    text = f"{title}: page {page['page']}, {summary}, slowdown {page['slowdown']:.2f}"
    axes.set_title(fill(text, _TITLE_CHARACTERS), loc="left")


def draw_polling_times(comparison: Comparison) -> Figure | None:
    """Plot the polling times of the first seed or client, a panel per policy; None if none varies."""
    styles = dict(zip(map(id, comparison.shown), styles_of(comparison.shown), strict=True))
    rests = [(run, record_events(run, fitting_page_count(run.blocks[0]))["rests"]) for run in comparison.runs]
    varying = [(run, times) for run, times in rests if len({beacons for _, beacons in times}) > 1][:MAX_RUNS]
    if not varying:
        return None
    beacon_ms = comparison.resolved_topology.beacon.interval_ms
    figure, panels = new_figure(len(varying), 1, width_in=WIDTH_IN, height_in=0.9 + 1.6 * len(varying))
    with common_style():
        for axes, (run, times) in zip(panels, varying, strict=True):
            xs, ys = [time_s for time_s, _ in times], [beacon_ms * beacons for _, beacons in times]
            axes.step(xs, ys, where="post", color=styles[id(run)].colour, linewidth=0.7)
            axes.set_title(short_name(run.label), loc="left")
            axes.set_ylabel("polling time (ms)")
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
            axes.sharex(panels[0])
        panels[-1].set_xlabel("time (s)")
    add_title(figure, [title_of(comparison, first_run(comparison))])
    return figure
