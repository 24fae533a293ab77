"""Crowd: several stations on one access point, each with a world of its own but for the air they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psm_sim.network.clock import run_events
from psm_sim.network.world import World
from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page


class StationGroup:
    """Crowd of worlds on the same clock, made with the same cell.

    ``events`` is the number of SimPy events of them all; ``browsing`` is true until another one is done.

    Parameters
    ----------
    worlds
        At least one; each has one station.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        self.events, self.browsing = 0, True
        for world in worlds:
            world.done = self._stop

    def run(
        self,
        pages: Sequence[Sequence[Page]],
        messages: Sequence[Messages],
        over: Callable[[int], None],
        until: int | None = None,
    ) -> None:
        """Load every station's pages; the clock stops when the last one is done.

        Parameters
        ----------
        pages, messages
            Those of each station.
        over
            Called with the number of a station when its last page is complete, at that time: it goes on
            being there, and sends no more than its connections still have to.
        until
            The number of the station with whose last page the run ends; ``None``: with the last of all.

        Raises
        ------
        PageError
            If a page of any of them cannot be loaded.
        """
        for world, own_pages, own_messages in zip(self._worlds, pages, messages, strict=True):
            world.begin(own_pages, own_messages)
        busy = list(enumerate(self._worlds))
        while busy and (until is None or any(number == until for number, _ in busy)):
            self.events += run_events(self._worlds[0].env, self, 0x1000)
            for number, world in self._done(busy):
                busy.remove((number, world))
                world.end()
                over(number)

    def _done(self, busy: Sequence[tuple[int, World]]) -> list[tuple[int, World]]:
        """Return who is done; when nobody is, have all look whether their pages make progress."""
        if self.browsing:
            for _, world in busy:
                world.browser.check()
        self.browsing = True
        return [each for each in busy if not each[1].browsing]

    def _stop(self) -> None:
        self.browsing = False
