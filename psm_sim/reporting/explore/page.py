"""Document of one browser tab: controls, figures, conclusion and command line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.progress import Progress
from psm_sim.reporting.explore.controls import make_controls, read_controls
from psm_sim.reporting.explore.figures import draw_plane, draw_timeline
from psm_sim.reporting.explore.settings import Settings
from psm_sim.reporting.figures.comparison import frontier_of
from psm_sim.reporting.marks import title_of
from psm_sim.reporting.run_events import record_events, representative_run

if TYPE_CHECKING:
    from bokeh.document import Document

    from psm_sim.simulation import Comparison

_TEXTS = ("status", "conclusion", "command")
_FIGURES = ("plane", "timeline")
_TEXT_STYLE = """
:host { font: 16px/1.5 system-ui, sans-serif; }
p { margin: .3rem 0; }
.busy, .caption { color: #5a5a5a; }
.error { color: #a40000; }
code { display: block; padding: .6rem; background: #f4f4f4; overflow-wrap: anywhere; user-select: all; }
"""
_TEMPLATE = Path(__file__).with_name("page.html")

Compare = Callable[[Sequence[str], Progress], "Comparison"]
"""Function that returns the comparison of a command line, given as arguments of ``psm_sim``."""


class View(NamedTuple):
    """Content of the page for one comparison."""

    comparison: Comparison
    frontier: list[ParetoCorner]
    events: list[dict[str, Any]]


class Simulator:
    """Simulator of settings, one at a time, that keeps its latest views.

    Parameters
    ----------
    compare : callable
        Function that simulates the arguments of a command line.
    """

    _MAX_VIEWS = 50

    def __init__(self, compare: Compare) -> None:
        self._compare = compare
        self._views: dict[Settings, View] = {}
        self._turn = threading.Lock()

    def view(self, settings: Settings, is_wanted: Callable[[], bool]) -> View | str | None:
        """Return the view of the settings, or the message of an error.

        Return None as soon as *is_wanted*, which is called from time to time, returns false.
        """

        def check(*_: object) -> None:
            if not is_wanted():
                raise _Superseded

        with self._turn:
            try:
                check()
                if settings not in self._views:
                    self._keep(settings, self._simulate(settings, check))
                return self._views[settings]
            except _Superseded:
                return None
            except InputError as error:
                return str(error)
            except Exception as error:  # of a user's policy
                return f"{describe_error(error)}."

    def _simulate(self, settings: Settings, check: Progress) -> View:
        comparison = self._compare(settings.arguments, check)
        frontier = frontier_of(comparison, workers=1)
        events = [record_events(representative_run(run)) for run in comparison.shown]
        return View(comparison, frontier, events)

    def _keep(self, settings: Settings, view: View) -> None:
        if len(self._views) >= self._MAX_VIEWS:
            del self._views[next(iter(self._views))]
        self._views[settings] = view


def page_maker(
    compare: Compare,
    settings: Settings,
    choices: Mapping[str, list[str]],
    sizes: Mapping[str, Mapping[str, str]],
) -> Callable[[Document], None]:
    """Return the function that fills the document of a browser tab.

    Parameters
    ----------
    compare : callable
        Function that simulates the arguments of a command line.
    settings : Settings
        Initial values of the controls.
    choices : mapping of str to list of str
        Values of the controls ``trace``, ``profile`` and ``policies``.
    sizes : mapping of str to mapping of str to str
        Values of ``pages`` and ``seeds`` that are selected together with a trace.
    """
    simulator = Simulator(compare)
    return lambda document: Page(document, simulator, make_controls(settings, choices), sizes).show()


class _Superseded(Exception):  # noqa: N818 (not an error)
    """End of a simulation whose result is no longer wanted."""


class Page:
    """Content of one browser tab.

    Parameters
    ----------
    document : Document
        Empty document of the tab.
    simulator : Simulator
        Simulator that all tabs share.
    controls : mapping of str to InputWidget
        Controls by the fields of :class:`Settings`.
    sizes : mapping of str to mapping of str to str
        Values of ``pages`` and ``seeds`` that are selected together with a trace.
    """

    def __init__(
        self,
        document: Document,
        simulator: Simulator,
        controls: Mapping[str, Any],
        sizes: Mapping[str, Mapping[str, str]],
    ) -> None:
        from bokeh.models import Column, Spacer
        from bokeh.models.widgets.inputs import Select
        from bokeh.models.widgets.markups import Div

        self._document, self._simulator, self._controls = document, simulator, controls
        self._sizes, self._request_number = sizes, 0
        self._view: View | None = None
        style: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [_TEXT_STYLE]}
        self._texts = {name: Div(name=name, **style) for name in _TEXTS}
        self._figures = {
            name: Column(children=[Spacer()], name=name, sizing_mode="stretch_width") for name in _FIGURES
        }
        self._run = Select(name="timeline_policy", title="policy", value="2", sizing_mode="stretch_width")
        self._page = Select(name="timeline_page", title="page", value="1", sizing_mode="stretch_width")
        controls["trace"].on_change("value", self._fit_sizes)
        for control in controls.values():
            control.on_change("value", self._request)
        for control in (self._run, self._page):
            control.on_change("value", self._show_timeline)
        shown = [*controls.values(), *self._texts.values(), *self._figures.values(), self._run, self._page]
        for model in shown:
            document.add_root(model)
        document.title = "psm_sim explore"
        document.template = _TEMPLATE.read_text(encoding="utf-8")  # type: ignore[assignment, unused-ignore]
        document.template_variables["controls"] = list(controls)

    def show(self) -> None:
        """Show the initial settings."""
        self._request("value", None, None)

    def _fit_sizes(self, attribute: str, old: object, new: str) -> None:
        for name, value in self._sizes.get(new, {}).items():
            self._controls[name].value = value

    def _request(self, attribute: str, old: object, new: object) -> None:
        """Simulate the settings of the controls in another thread; a newer request replaces it."""
        self._request_number += 1
        self._texts["status"].text = "<p class=busy>simulating ...</p>"
        try:
            settings = read_controls(self._controls)
        except InputError as error:
            self._show_error(str(error))
            return
        self._controls["price"].disabled = not settings.has_price
        arguments = (settings, self._request_number)
        threading.Thread(target=self._simulate, args=arguments, daemon=True).start()

    def _simulate(self, settings: Settings, number: int) -> None:
        result = self._simulator.view(settings, lambda: number == self._request_number)
        if result is not None:
            self._document.add_next_tick_callback(partial(self._show, settings, number, result))

    def _show(self, settings: Settings, number: int, result: View | str) -> None:
        """Show the result of a request unless there is a newer one."""
        if number != self._request_number:
            return
        self._texts["command"].text = f"<code>{escape(settings.command)}</code>"
        if isinstance(result, str):
            self._show_error(result)
            return
        self._view = result
        comparison = result.comparison
        self._texts["status"].text = f"<p class=caption>{escape(title_of(comparison))}</p>"
        self._texts["conclusion"].text = f"<p>{escape(comparison.conclusion())}</p>"
        self._figures["plane"].children = [draw_plane(comparison, result.frontier)]
        labels: list[Any] = [(str(index), run.label) for index, run in enumerate(comparison.shown)]
        numbers: list[Any] = [str(page[0]) for page in result.events[0]["pages"]]
        self._run.options, self._page.options = labels, numbers
        self._show_timeline("value", None, None)

    def _show_error(self, message: str) -> None:
        from bokeh.models import Spacer

        self._view = None
        self._texts["status"].text = f"<p class=error>{escape(message)}</p>"
        self._texts["conclusion"].text = ""
        for column in self._figures.values():
            column.children = [Spacer()]

    def _show_timeline(self, attribute: str, old: object, new: object) -> None:
        """Show the selected page of the selected policy, or the first one if it is no longer there."""
        if self._view is None:
            return
        by_run = self._view.events
        events = by_run[min(int(self._run.value), len(by_run) - 1)]
        page = next(
            (each for each in events["pages"] if str(each[0]) == self._page.value), events["pages"][0]
        )
        self._figures["timeline"].children = [draw_timeline(events, page)]
