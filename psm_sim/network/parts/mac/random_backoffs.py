"""Random backoffs, drawn from one stream of the seed."""

from __future__ import annotations

from psm_sim.common.random_streams import random_stream

_BLOCK = 1024


class RandomBackoffs:
    """Backoffs of one channel, uniform from 0 to the contention window inclusive."""

    def __init__(self, seed: int) -> None:
        self._random = random_stream(seed, "network.backoffs")
        self._drawn: list[float] = []

    def draw(self, window: int) -> int:
        """Return a backoff for a contention window, in slots."""
        if not self._drawn:
            self._drawn = self._random.random(_BLOCK).tolist()
        return int(self._drawn.pop() * (window + 1))
