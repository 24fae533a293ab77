"""Simulations behind the interactive page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.progress import Progress
from psm_sim.reporting.explore.settings import Settings
from psm_sim.reporting.figures.comparison import frontier_of
from psm_sim.reporting.run_events import record_events, representative_run

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

Compare = Callable[[Sequence[str], Progress], "Comparison"]
"""Function that returns the comparison of a command line, given as arguments of ``psm_sim``."""


class View(NamedTuple):
    """Content of the page for one comparison."""

    comparison: Comparison
    frontier: list[ParetoCorner]
    events: list[dict[str, Any]]


class Simulator:
    """Simulator of settings, one at a time, that keeps its latest views.

    *compare* simulates the arguments of a command line.
    """

    MAX_VIEWS = 50
    """Number of views that are kept."""

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
        if len(self._views) >= self.MAX_VIEWS:
            del self._views[next(iter(self._views))]
        self._views[settings] = view


class _Superseded(Exception):  # noqa: N818 (not an error)
    """End of a simulation whose result is no longer wanted."""
