"""Document of one browser tab: controls, figures, conclusion and command line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.progress import Progress
from psm_sim.reporting.explore.figures import draw_plane, draw_timeline
from psm_sim.reporting.explore.settings import (
    PARAMETERS,
    Settings,
    check_choice,
    fitting_sizes,
    make_controls,
    read_controls,
)
from psm_sim.reporting.figures.comparison import frontier_of
from psm_sim.reporting.html.comparison import html_numbers
from psm_sim.reporting.marks import axes_of, marks_of, title_of
from psm_sim.reporting.plotted_events import record_events

if TYPE_CHECKING:
    from bokeh.document import Document
    from bokeh.plotting import figure as Figure  # noqa: N812

    from psm_sim.simulation import Comparison

Compare = Callable[[Sequence[str], Progress], "Comparison"]
"""Function that returns the comparison of a command line, given as arguments of ``psm_sim``."""


class View(NamedTuple):
    """Content of the page for one comparison."""

    comparison: Comparison
    frontier: list[ParetoCorner]
    events: list[dict[str, Any]]


class Simulator:
    """Simulator that handles one request at a time and keeps the latest views.

    *compare* simulates the arguments of a command line.
    """

    MAX_VIEWS = 50
    """Number of views that are kept."""

    def __init__(self, compare: Compare) -> None:
        self._compare = compare
        self._views: dict[Settings, View] = {}
        self._requests: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, request: Callable[[], None]) -> None:
        """Queue *request*, which may call :meth:`view`, for the thread of the simulator."""
        self._requests.put(request)

    def _work(self) -> None:
        while True:
            self._requests.get()()

    def view(self, settings: Settings, is_wanted: Callable[[], bool]) -> View | str | None:
        """Return the view of the settings, or the message of an error.

        Return None as soon as *is_wanted*, which is called from time to time, returns false.
        """

        def check(*_: object) -> None:
            if not is_wanted():
                raise _Superseded

        try:
            check()
            if settings not in self._views:
                self._keep(settings, self._simulate(settings, check))
            return self._views[settings]
        except _Superseded:
            return None
        except InputError as error:
            return str(error)
        except (Exception, SystemExit) as error:  # raised by a user's policy
            return f"{describe_error(error)}."

    def _simulate(self, settings: Settings, check: Progress) -> View:
        comparison = self._compare(settings.arguments, check)
        frontier = frontier_of(comparison, workers=1, progress=check)
        events = [record_events(run) for run in comparison.shown]
        return View(comparison, frontier, events)

    def _keep(self, settings: Settings, view: View) -> None:
        if len(self._views) >= self.MAX_VIEWS:
            del self._views[next(iter(self._views))]
        self._views[settings] = view


class _Superseded(Exception):  # noqa: N818 (not an error)
    """End of a simulation whose result is no longer wanted."""


_TEXTS = ("status", "conclusion", "command", "numbers")
_FIGURES = ("plane", "timeline")
_TEXT_STYLE = """
:host { font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: minmax(0, 1fr); }
p { margin: .3rem 0; }
.busy, .caption { color: #5a5a5a; }
.error { color: #a40000; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #d8d8d8; text-align: left; }
.number { text-align: right; white-space: nowrap; }
.wide { overflow-x: auto; margin-bottom: .6rem; }
@media (max-width: 800px) {
  .wide::before { content: "Scroll the table sideways to see all columns."; position: sticky; left: 0; }
}
code { display: block; padding: .6rem; background: #f4f4f4; overflow-wrap: anywhere; user-select: all; }
"""
_TEMPLATE = Path(__file__).with_name("page.html")


class ExploreView:
    """Content of one browser tab, with the initial *settings* and a *simulator* that all tabs share."""

    def __init__(self, document: Document, simulator: Simulator, settings: Settings) -> None:
        from bokeh.events import ConnectionLost
        from bokeh.models import Column, Spacer
        from bokeh.models.widgets.inputs import Select
        from bokeh.models.widgets.markups import Div

        self._document, self._simulator = document, simulator
        self._controls = controls = make_controls(settings)
        self._request_number = 0
        self._view: View | None = None
        style: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [_TEXT_STYLE]}
        self._texts = {name: Div(name=name, **style) for name in _TEXTS}
        self._figures = {
            name: Column(children=[Spacer()], name=name, sizing_mode="stretch_width") for name in _FIGURES
        }
        # The second policy is psm. Its timeline shows how frames wait for the beacons.
        self._run = Select(name="timeline_policy", title="policy", value="1", sizing_mode="stretch_width")
        self._page = Select(name="timeline_page", title="page", value="1", sizing_mode="stretch_width")
        controls["trace"].on_change("value", self._fit_sizes)
        for control in controls.values():
            control.on_change("value", self._request)
        for control in (self._run, self._page):
            control.on_change("value", self._show_timeline)
        self._inputs = {control.id: control for control in (*controls.values(), self._run, self._page)}
        document.apply_json_patch = self._apply  # type: ignore[method-assign, unused-ignore]
        document.replace_with_json = lambda json: None  # type: ignore[method-assign, unused-ignore]
        shown = [*controls.values(), *self._texts.values(), *self._figures.values(), self._run, self._page]
        for model in shown:
            document.add_root(model)
        document.title = "psm_sim explore"
        document.template = _TEMPLATE.read_text(encoding="utf-8")  # type: ignore[assignment, unused-ignore]
        document.template_variables["controls"] = list(controls)
        document.on_event(ConnectionLost, self._cancel)
        document.on_session_destroyed(self._cancel)
        self._request("value", None, None)

    def _apply(self, patch_json: Any, *, setter: Any = None) -> None:
        """Set the values that the browser has changed if they are among the choices; ignore all else.

        Without this filter, Bokeh would set any property of any model, and some models read the file that a
        property names.
        """
        for event in patch_json.content["events"]:
            match event:
                case {"model": {"id": str(key)}, "attr": "value", "new": value} if key in self._inputs:
                    try:
                        check_choice(self._inputs[key], value)
                    except InputError as error:
                        self._show_error(str(error))
                    else:
                        self._inputs[key].set_from_json("value", value, setter=setter)

    def _fit_sizes(self, attribute: str, old: object, new: str) -> None:
        for name, value in fitting_sizes(new).items():
            self._controls[name].value = value

    def _request(self, attribute: str, old: object, new: object) -> None:
        """Simulate the settings of the controls in another thread; a newer request replaces it."""
        self._request_number += 1
        self._texts["status"].text = "<p class=busy>simulating ...</p>"
        settings = read_controls(self._controls)
        for name in PARAMETERS:
            self._controls[name].disabled = not settings.has_effect(name)
        self._simulator.submit(partial(self._simulate, settings, self._request_number))

    def _cancel(self, event: object) -> None:
        """Stop the simulation of a tab that is closed."""
        self._request_number += 1

    def _simulate(self, settings: Settings, number: int) -> None:
        result = self._simulator.view(settings, lambda: number == self._request_number)
        if result is not None and number == self._request_number:
            self._document.add_next_tick_callback(partial(self._show, settings, number, result))

    def _show(self, settings: Settings, number: int, result: View | str) -> None:
        """Show the result of a request unless there is a newer request."""
        if number != self._request_number:
            return
        self._texts["command"].text = f"<code>{escape(settings.command)}</code>"
        if isinstance(result, str):
            self._show_error(result)
            return
        self._view = result
        comparison = result.comparison
        self._texts["conclusion"].text = f"<p>{escape(comparison.conclusion())}</p>"
        self._texts["numbers"].text = html_numbers(comparison)
        plane = draw_plane(marks_of(comparison), axes_of(comparison), result.frontier)
        self._figures["plane"].children = [plane]
        labels: list[Any] = [(str(index), run.label) for index, run in enumerate(comparison.shown)]
        numbers: list[Any] = [str(page[0]) for page in result.events[0]["pages"]]
        self._run.options, self._page.options = labels, numbers
        self._show_timeline("value", None, None)
        # The status is set last, because it signals that all else is shown.
        self._texts["status"].text = f"<p class=caption>{escape(title_of(comparison))}</p>"

    def _show_error(self, message: str) -> None:
        from bokeh.models import Spacer

        self._view = None
        self._texts["status"].text = f"<p class=error>{escape(message)}</p>"
        self._texts["conclusion"].text = self._texts["numbers"].text = ""
        for column in self._figures.values():
            column.children = [Spacer()]

    def _show_timeline(self, attribute: str, old: object, new: object) -> None:
        """Show the selected page of the selected policy, or the first page if that page no longer exists."""
        if self._view is None:
            return
        by_run = self._view.events
        events = by_run[min(int(self._run.value), len(by_run) - 1)]
        page = next(
            (each for each in events["pages"] if str(each[0]) == self._page.value), events["pages"][0]
        )
        same = [each for run in by_run for each in run["pages"] if each[0] == page[0]]
        longest_s = max(end_s - start_s for _, start_s, end_s, _ in same)
        self._figures["timeline"].children = [_draw_timeline(events, page, longest_s)]


def _draw_timeline(events: Mapping[str, Any], page: Sequence[Any], longest_s: float) -> Figure:
    """Plot radio, beacons and frames, zoomed to one page, or to the first message of a page without objects.

    Time zero is the request, or the first message. *longest_s* is the longest time that a policy takes for
    the page, or 0 for a page without objects. The axis extends beyond this time.
    """
    from bokeh.models import ColumnDataSource

    figure = draw_timeline(f"time since {'the page was requested' if longest_s else 'the first message'} (s)")
    zero_s = page[1] if longest_s else first_message_s(events, page)
    start_s, end_s = (-0.3 * longest_s, 1.3 * longest_s) if longest_s else (-0.5, 2.0)
    figure.x_range.update(start=start_s, end=end_s)
    spans = {
        "page": [(start, end) for _, start, end, _ in events["pages"]],
        "radio awake": events["awake"],
        "frame buffered": events["buffered"],
    }
    texts = {"page": [f"page {number}, slowdown {slowdown}" for number, _, _, slowdown in events["pages"]]}
    beacons = [first + k * every for first, count, every in events["beacons"] for k in range(count)]
    times = {"beacon received": beacons, "uplink frame": events["up"], "downlink frame": events["down"]}
    sources: dict[str, Any] = {source.tags[0]: source for source in figure.select(type=ColumnDataSource)}
    for row, pairs in spans.items():
        left, right = [start - zero_s for start, _ in pairs], [end - zero_s for _, end in pairs]
        text = texts.get(row, [row] * len(pairs))
        sources[row].data = {"left": left, "right": right, "row": [row] * len(pairs), "text": text}
    for row, values in times.items():
        sources[row].data = {"time": [value - zero_s for value in values], "row": [row] * len(values)}
    return figure


def first_message_s(events: Mapping[str, Any], page: Sequence[Any]) -> float:
    """Return the time at which the first message of a page without objects is sent, in seconds.

    This time is the same for all policies. Group addressed frames are not messages.
    """
    previous_s = max((end for _, _, end, _ in events["pages"] if end < page[1]), default=0.0)
    # The frames of the first second open the connections.
    frames = [time for time in (*events["up"], *events["served"]) if time > previous_s + 1]
    return float(min(frames, default=previous_s))
