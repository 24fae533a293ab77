"""Statistics of a listening policy: received beacons, and an unbiased estimate of the missed frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ListeningStats:
    """Counts of the beacons that a policy received.

    ``listens`` is their number, with frames (``hits``) or without (``wasted``). ``forced`` counts those
    received only because the longest doze had elapsed. ``misses_estimated`` estimates the number of beacons,
    received or not, at which no frames were predicted although frames were buffered. Each observed miss
    counts 1 / p, where p is the probability of receiving that beacon (Horvitz-Thompson estimator). With
    *estimates* false there is no estimate, because p can be 0.
    """

    estimates: bool = True
    listens: int = 0
    hits: int = 0
    forced: int = 0
    wasted: int = 0
    misses: float = 0.0

    def count_beacon(self, negative: bool, probability: float, forced: bool, frames: bool) -> None:
        """Count one received beacon.

        Parameters
        ----------
        negative : bool
            Whether no frames were predicted.
        probability : float
            Probability of receiving the beacon, above 0.
        forced : bool
            Whether the longest doze had elapsed.
        frames : bool
            Whether frames were buffered.
        """
        self.listens += 1
        self.hits += frames
        self.wasted += not frames
        self.forced += forced
        if negative and frames:
            self.misses += 1 / probability

    def to_dict(self) -> dict[str, float]:
        """Return the counts by name."""
        counts = {"listens": self.listens, "hits": self.hits, "forced": self.forced, "wasted": self.wasted}
        return {**counts, "misses_estimated": self.misses} if self.estimates else dict(counts)
