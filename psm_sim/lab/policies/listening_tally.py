"""Tally of a listening policy: beacons heard, and an unbiased estimate of those missed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ListeningStats:
    """Tally of the beacons that a policy heard.

    ``listens`` were heard, ``hits`` of them with frames held and ``wasted`` without; ``forced`` were heard
    only because the longest doze was over. ``misses_estimated`` is the number of beacons, heard or not, at
    which no frames were predicted and some were held: each one found counts 1 / p, p the probability with
    which it was heard (Horvitz and Thompson). It is None with *estimates* false, where p can be 0.
    """

    estimates: bool = True
    listens: int = 0
    hits: int = 0
    forced: int = 0
    wasted: int = 0
    misses: float = 0.0

    def heard(self, negative: bool, chance: float, forced: bool, frames: bool) -> None:
        """Count one beacon.

        Parameters
        ----------
        negative
            Whether no frames were predicted.
        chance
            The probability with which it was heard, above 0.
        forced
            Whether the longest doze was over.
        frames
            Whether frames were held.
        """
        self.listens += 1
        self.hits += frames
        self.wasted += not frames
        self.forced += forced
        if negative and frames:
            self.misses += 1 / chance

    def to_dict(self) -> dict[str, float]:
        """Return the counts by name."""
        counts = {"listens": self.listens, "hits": self.hits, "forced": self.forced, "wasted": self.wasted}
        return {**counts, "misses_estimated": self.misses} if self.estimates else dict(counts)
