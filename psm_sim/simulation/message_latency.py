"""Latency and loss of background traffic, by direction."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from psm_sim.network.background_messages import BackgroundMessages


class Percentiles(NamedTuple):
    """Mean, percentiles (linear interpolation) and maximum, in seconds."""

    mean: float
    p50: float
    p90: float
    p99: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Percentiles:
        """Return the statistics of values in seconds. They are all nan if there are no values."""
        if not values:
            return cls(*(math.nan,) * 5)
        array = np.asarray(values)
        middle, high, highest = np.quantile(array, (0.5, 0.9, 0.99)).tolist()
        return cls(float(array.mean()), middle, high, highest, float(array.max()))


@dataclass(frozen=True)
class Latency:
    """Latency of the messages in one direction, or of round trips.

    Messages that are neither delivered nor lost were in transit at the end of the run, or are not yet
    known to be lost.

    Attributes
    ----------
    sent : int
        Number of messages sent until the end of the run.
    delivered : int
        Number of messages that arrived. For round trips, the number of replies that arrived.
    lost : int
        Number of datagrams that are known to be lost.
    latencies_s : array of float
        Time from sending to arrival of each delivered message, in seconds.
    """

    sent: int
    delivered: int
    lost: int
    latencies_s: array[float]

    @property
    def loss(self) -> float:
        """Fraction of lost messages among those delivered or lost; nan if there are none."""
        finished = self.delivered + self.lost
        return self.lost / finished if finished else math.nan

    @property
    def latency_s(self) -> Percentiles:
        """Mean, percentiles and maximum of the latencies, in seconds."""
        return Percentiles.of(self.latencies_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the latency as in the JSON output. Undefined values are None."""
        counts = {"sent": self.sent, "delivered": self.delivered, "lost": self.lost}
        latency_s = {name: _nan_to_none(value) for name, value in self.latency_s._asdict().items()}
        return {**counts, "loss": _nan_to_none(self.loss), "latency_s": latency_s}


def _nan_to_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def latencies_of(messenger: BackgroundMessages | None) -> dict[str, Latency]:
    """Return the latencies of the messages of a run, by direction."""
    directions = {} if messenger is None else messenger.stats
    return {
        name: Latency(stats.sent, len(stats.latencies_s), stats.lost, stats.latencies_s)
        for name, stats in sorted(directions.items())
    }


def pool_latencies(latencies: Sequence[dict[str, Latency]]) -> dict[str, Latency]:
    """Return the latencies of all messages of several runs, by direction."""
    names = sorted({name for latency in latencies for name in latency})
    return {name: _join([latency[name] for latency in latencies if name in latency]) for name in names}


def _join(parts: Sequence[Latency]) -> Latency:
    sent, delivered, lost = (
        sum(getattr(part, count) for part in parts) for count in ("sent", "delivered", "lost")
    )
    return Latency(sent, delivered, lost, array("d", chain.from_iterable(part.latencies_s for part in parts)))
