"""Latency of what is sent beside the pages: percentiles and loss, by direction."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from psm_sim.network.message_sender import MessageSender


class Percentiles(NamedTuple):
    """Mean, percentiles (linear between neighbours) and maximum, in seconds."""

    mean: float
    p50: float
    p90: float
    p99: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Percentiles:
        """Summarise values in seconds; of none all are nan."""
        if not values:
            return cls(*(math.nan,) * 5)
        array = np.asarray(values)
        middle, high, highest = np.quantile(array, (0.5, 0.9, 0.99)).tolist()
        return cls(float(array.mean()), middle, high, highest, float(array.max()))


@dataclass(frozen=True)
class Latency:
    """Latency of the messages that went one way, or there and back.

    ``sent`` were sent until the end of the run, ``delivered`` arrived (there and back: the answer did), and
    ``lost`` datagrams never will; the rest was on its way at the end, or is not yet known to be lost.
    ``latencies_s`` has the time in seconds of each one delivered, from sending to arrival.
    """

    sent: int
    delivered: int
    lost: int
    latencies_s: array[float]

    @property
    def loss(self) -> float:
        """Part of those whose end is known that was lost; nan if no end is known."""
        known = self.delivered + self.lost
        return self.lost / known if known else math.nan

    @property
    def latency_s(self) -> Percentiles:
        """Mean, percentiles and maximum of the latencies, in seconds."""
        return Percentiles.of(self.latencies_s)

    def to_dict(self) -> dict[str, Any]:
        """Return it as the JSON output has it; what is not known is None."""
        counts = {"sent": self.sent, "delivered": self.delivered, "lost": self.lost}
        known = {name: _known(value) for name, value in self.latency_s._asdict().items()}
        return {**counts, "loss": _known(self.loss), "latency_s": known}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def latencies_of(messenger: MessageSender | None) -> dict[str, Latency]:
    """Return the latencies of a run's messages, by the name of the way they took."""
    lanes = {} if messenger is None else messenger.stats
    return {
        name: Latency(lane.sent, len(lane.latencies_s), lane.lost, lane.latencies_s)
        for name, lane in sorted(lanes.items())
    }


def pool_latencies(latencies: Sequence[dict[str, Latency]]) -> dict[str, Latency]:
    """Return the latencies of several runs as one: all messages of a way together."""
    names = sorted({name for latency in latencies for name in latency})
    return {name: _joined([each[name] for each in latencies if name in each]) for name in names}


def _joined(parts: Sequence[Latency]) -> Latency:
    sent, delivered, lost = (
        sum(getattr(part, count) for part in parts) for count in ("sent", "delivered", "lost")
    )
    return Latency(sent, delivered, lost, array("d", chain.from_iterable(part.latencies_s for part in parts)))
