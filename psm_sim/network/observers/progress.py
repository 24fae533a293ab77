"""Observer that counts pages for progress reports."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.browser import Visit
from psm_sim.network.observers.observer import Observer


class PagesDone(Observer):
    """Observer that calls ``progress`` with the number of finished pages after each page.

    ``progress`` may be replaced until the run begins.
    """

    def __init__(self, progress: Callable[[int], None] = lambda _: None) -> None:
        self.progress = progress
        self._done = 0

    def page(self, visit: Visit) -> None:
        """Count the page."""
        self._done += 1
        self.progress(self._done)
