"""Stations that share one access point and one channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psm_sim.network.timers import run_events
from psm_sim.network.world import World
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page


class SharedCell:
    """Group of worlds on the same clock. Each world has one station, and all were built with the same cell.

    Parameters
    ----------
    worlds
        The worlds, at least one.

    Attributes
    ----------
    events : int
        Number of SimPy events of all worlds.
    browsing : bool
        False once another station has loaded its last page. :meth:`run` resets it.
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
        """Load the pages of all stations. The clock stops when the last station is done.

        Parameters
        ----------
        pages, messages
            Pages and messages of each station.
        over
            Called with the number of a station when its last page is complete. The station stays associated
            and sends only what its open connections still require.
        until : int or None
            Number of the station at whose last page the run ends; None waits for all stations.

        Raises
        ------
        PageError
            If a page of any station cannot be loaded.
        """
        for world, own_pages, own_messages in zip(self._worlds, pages, messages, strict=True):
            world.begin(own_pages, own_messages)
        busy = list(enumerate(self._worlds))
        while busy and (until is None or any(number == until for number, _ in busy)):
            self.events += run_events(self._worlds[0].env, self, 0x1000)
            for number, world in self._done(busy):
                busy.remove((number, world))
                world.events = self.events
                world.end()
                over(number)

    def _done(self, busy: Sequence[tuple[int, World]]) -> list[tuple[int, World]]:
        """Return the stations that are done. If there are none, check the progress of all pages."""
        if self.browsing:
            for _, world in busy:
                world.browser.check()
        self.browsing = True
        return [entry for entry in busy if not entry[1].browsing]

    def _stop(self) -> None:
        self.browsing = False


def run_alone(world: World, pages: Sequence[Page], messages: Messages = NO_MESSAGES) -> None:
    """Load the pages of the only station of a cell, and send the messages.

    Raises
    ------
    PageError
        If a page cannot be loaded and failures are not reported.
    """
    SharedCell([world]).run([pages], [messages], lambda _: None)
