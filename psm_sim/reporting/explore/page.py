"""Document of one browser tab: controls, figures, conclusion and command line."""

from __future__ import annotations

import threading
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError
from psm_sim.reporting.explore.controls import make_controls, read_controls
from psm_sim.reporting.explore.figures import draw_plane, draw_timeline
from psm_sim.reporting.explore.settings import Settings, fitting_sizes
from psm_sim.reporting.explore.simulator import Simulator, View
from psm_sim.reporting.html.comparison import html_numbers
from psm_sim.reporting.marks import title_of

if TYPE_CHECKING:
    from bokeh.document import Document

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
code { display: block; padding: .6rem; background: #f4f4f4; overflow-wrap: anywhere; user-select: all; }
"""
_TEMPLATE = Path(__file__).with_name("page.html")


class Page:
    """Content of one browser tab.

    Parameters
    ----------
    document : Document
        Empty document of the tab.
    simulator : Simulator
        Simulator that all tabs share.
    settings : Settings
        Initial values of the controls.
    """

    def __init__(self, document: Document, simulator: Simulator, settings: Settings) -> None:
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
        document.on_session_destroyed(self._cancel)
        self._request("value", None, None)

    def _fit_sizes(self, attribute: str, old: object, new: str) -> None:
        for name, value in fitting_sizes(new).items():
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

    def _cancel(self, session: object) -> None:
        """Stop the simulation of a tab that is closed."""
        self._request_number += 1

    def _simulate(self, settings: Settings, number: int) -> None:
        result = self._simulator.view(settings, lambda: number == self._request_number)
        if result is not None and number == self._request_number:
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
        self._texts["numbers"].text = html_numbers(comparison)
        self._figures["plane"].children = [draw_plane(comparison, result.frontier)]
        labels: list[Any] = [(str(index), run.label) for index, run in enumerate(comparison.shown)]
        numbers: list[Any] = [str(page[0]) for page in result.events[0]["pages"]]
        self._run.options, self._page.options = labels, numbers
        self._show_timeline("value", None, None)

    def _show_error(self, message: str) -> None:
        from bokeh.models import Spacer

        self._view = None
        self._texts["status"].text = f"<p class=error>{escape(message)}</p>"
        self._texts["conclusion"].text = self._texts["numbers"].text = ""
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
