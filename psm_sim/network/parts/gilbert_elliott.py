"""Gilbert-Elliott model: alternating good and bad periods of a hop."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from psm_sim.common.random_streams import random_stream

_CYCLES = 100
"""Mean number of good and bad periods in a window."""


class GilbertElliott:
    """Gilbert-Elliott model of a hop: alternating good and bad periods (Gilbert 1960, Elliott 1963).

    The periods have exponential lengths. They are sampled window by window, each window from its own random
    stream, so a long pause costs nothing. The first state of a window has the stationary distribution.

    Parameters
    ----------
    seed, name
        The seed, and the name of the random stream.
    good_s, bad_s
        Mean lengths of good and bad periods, in seconds.
    """

    def __init__(self, seed: int, name: str, good_s: float, bad_s: float) -> None:
        self._seed, self._name, self._means_s = seed, name, (good_s, bad_s)
        self._window_s = _CYCLES * (good_s + bad_s)
        self._number = -1
        self._edges_s: list[float] = []
        self._first_bad = False

    def at(self, time_s: float) -> bool:
        """Return whether the state is bad at *time_s* seconds."""
        number, within_s = divmod(time_s, self._window_s)
        if number != self._number:
            self._sample_window(int(number))
        return self._first_bad ^ (bisect_right(self._edges_s, within_s) % 2 == 1)

    def _sample_window(self, number: int) -> None:
        random, (good_s, bad_s) = random_stream(self._seed, self._name, number), self._means_s
        self._number, self._first_bad = number, bool(random.random() < bad_s / (good_s + bad_s))
        turns = (bad_s, good_s) if self._first_bad else (good_s, bad_s)
        lengths_s, reached_s = np.zeros(0), 0.0
        while reached_s < self._window_s:
            lengths_s = np.append(lengths_s, random.exponential(np.tile(turns, _CYCLES)))
            reached_s = float(lengths_s.sum())
        self._edges_s = np.cumsum(lengths_s).tolist()
