"""Spells of bad times: when they begin and end depends on the clock and the seed alone, not on a policy."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from psm_sim.random_streams import random_stream

_CYCLES = 100
"""Mean pairs of a good and a bad time in a window."""


class GilbertElliott:
    """Bad times of a hop: good and bad ones of memoryless lengths take turns (Gilbert 1960, Elliott 1963).

    They are drawn window by window, each from a stream of its own, so that a long pause costs nothing. Which
    kind a window begins with has the odds of the whole.

    Parameters
    ----------
    seed, name
        The seed, and the name of the hop.
    good_s, bad_s
        Mean lengths of both kinds, in seconds.
    """

    def __init__(self, seed: int, name: str, good_s: float, bad_s: float) -> None:
        self._seed, self._name, self._means_s = seed, name, (good_s, bad_s)
        self._window_s = _CYCLES * (good_s + bad_s)
        self._number = -1
        self._edges_s: list[float] = []
        self._first_bad = False

    def at(self, time_s: float) -> bool:
        """Say whether the time, in seconds, is a bad one."""
        number, within_s = divmod(time_s, self._window_s)
        if number != self._number:
            self._draw(int(number))
        return self._first_bad ^ (bisect_right(self._edges_s, within_s) % 2 == 1)

    def _draw(self, number: int) -> None:
        random, (good_s, bad_s) = random_stream(self._seed, self._name, number), self._means_s
        self._number, self._first_bad = number, bool(random.random() < bad_s / (good_s + bad_s))
        turns = (bad_s, good_s) if self._first_bad else (good_s, bad_s)
        lengths_s, reached_s = np.zeros(0), 0.0
        while reached_s < self._window_s:
            lengths_s = np.append(lengths_s, random.exponential(np.tile(turns, _CYCLES)))
            reached_s = float(lengths_s.sum())
        self._edges_s = np.cumsum(lengths_s).tolist()


class OutageSchedule:
    """Spells of one length, after memoryless times; the one looked at lasts from ``begins_s`` to ``ends_s``.

    Parameters
    ----------
    seed, name
        The seed, and what the spells are of.
    every_s
        Mean time from the end of one to the next, in seconds.
    lasts_s
        Length of each, in seconds.
    """

    def __init__(self, seed: int, name: str, every_s: float, lasts_s: float) -> None:
        self._random, self._every_s, self._lasts_s = random_stream(seed, name), every_s, lasts_s
        self.begins_s = self.ends_s = 0.0
        self.number = 0
        self.next()

    def next(self) -> None:
        """Look at the next one."""
        self.begins_s = self.ends_s + float(self._random.exponential(self._every_s))
        self.ends_s = self.begins_s + self._lasts_s
        self.number += 1

    def begun(self, now_s: float) -> int:
        """Return the number of spells begun so far; ask as of :meth:`left_s`."""
        return self.number if self.left_s(now_s) > 0 else self.number - 1

    def left_s(self, now_s: float) -> float:
        """Return how much is left of the spell that is on, in seconds; ask of times that never decrease."""
        while now_s >= self.ends_s:
            self.next()
        return self.ends_s - now_s if now_s >= self.begins_s else 0.0
