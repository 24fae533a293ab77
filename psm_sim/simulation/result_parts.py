"""Parts of a result: page records, traffic counters, datagrams, message latencies and the origin."""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from psm_sim.common.component_spec import Spec
from psm_sim.common.summary_stats import Summary
from psm_sim.network import Observer, Topology
from psm_sim.network.background_messages import BackgroundMessages
from psm_sim.policies import Policy
from psm_sim.workload import Page
from psm_sim.workload.messages import Messages

PolicyLike = str | Spec | Policy | type[Policy]
"""Policy instance, policy class, spec, or spec string."""


def spec_text(policy: PolicyLike) -> str:
    """Return the spec of a policy without its label, or the name of an instance or class."""
    return policy.name if isinstance(policy, (Policy, type)) else str(Spec.of(policy, "policy"))


def label_of(policy: PolicyLike) -> str:
    """Return the label that the user gave a policy; empty for none."""
    return "" if isinstance(policy, (Policy, type)) else Spec.of(policy, "policy").label


class PageRecord(NamedTuple):
    """One page of a run, which is a row of ``pages.csv``.

    Energy, times by state and beacons cover the time from the end of the previous page to the end of this
    one, including the think time.

    Attributes
    ----------
    page : int
        1-based number of the page.
    think_s : float
        Think time before the page, in seconds.
    objects, bytes : int
        Number of objects and their total size.
    start_s : float
        Time of the first request, in seconds.
    page_time_s : float
        Time until the page is complete or has failed, in seconds.
    always_on_time_s : float
        Page time without power saving, in seconds; nan if the page failed there.
    slowdown : float
        ``page_time_s / always_on_time_s``; nan if the page failed in either run.
    energy_j, awake_j, asleep_j, beacons_j : float
        Total energy and its parts, in joules.
    awake_s, asleep_s : float
        Time by state, in seconds.
    beacons : int
        Number of beacons received while dozing.
    """

    page: int
    think_s: float
    objects: int
    bytes: int
    start_s: float
    page_time_s: float
    always_on_time_s: float
    slowdown: float
    energy_j: float
    awake_j: float
    asleep_j: float
    beacons_j: float
    awake_s: float
    asleep_s: float
    beacons: int


@dataclass(frozen=True)
class Traffic:
    """Traffic from the server to the client.

    All byte counts include headers, with sent = received + undelivered + dropped + lost. Undelivered bytes
    are on the links or buffered by the access point at the end of the run. The access point has dropped the
    dropped bytes, and faults have removed the lost ones.
    """

    server_sent_bytes: int
    client_received_bytes: int
    undelivered_bytes: int
    dropped_bytes: int
    dropped_frames: int
    retransmissions: int
    lost_bytes: int = 0
    lost_frames: int = 0

    def to_dict(self, *, with_lost: bool) -> dict[str, int]:
        """Return the traffic as in the JSON output, with lost bytes and frames if *with_lost* is true."""
        values = dataclasses.asdict(self)
        return values if with_lost else {key: values[key] for key in values if not key.startswith("lost")}


@dataclass(frozen=True)
class PushRecord:
    """Datagrams to the station.

    Attributes
    ----------
    sent, delivered : int
        Number of datagrams.
    delay_s : Summary
        Delay from the arrival at the access point to the delivery, in seconds.
    """

    sent: int
    delivered: int
    delay_s: Summary

    @classmethod
    def of(cls, messenger: BackgroundMessages | None) -> PushRecord | None:
        """Return the record of a run, or None without datagrams. Without deliveries the delays are nan."""
        if messenger is None or not messenger.sent:
            return None
        delays_s = messenger.delays_s
        return cls(messenger.sent, len(delays_s), Summary.of(delays_s or [math.nan]))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as in the JSON output."""
        delay_s = self.delay_s._asdict() if self.delivered else dict.fromkeys(Summary._fields)
        return {"sent": self.sent, "delivered": self.delivered, "delay_s": delay_s}


@dataclass(frozen=True)
class Origin:
    """Inputs from which a result can be reproduced.

    Attributes
    ----------
    policy_spec, resolved_topology, pages, messages
        The policy, the topology, the pages and the background traffic.
    rerun : callable or None
        For one of several stations, runs all stations again with observers on the first pages.
    """

    policy_spec: PolicyLike
    resolved_topology: Topology
    pages: tuple[Page, ...]
    messages: Messages
    rerun: Callable[[Sequence[Observer], int | None], None] | None = None


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


@dataclass(frozen=True, repr=False)
class Latency:
    """Latency of the messages in one direction, or of round trips.

    Messages that are neither delivered nor lost were in transit at the end of the run, or are not yet
    known to be lost.

    Attributes
    ----------
    sent : int
        Number of messages sent by the end of the run.
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

    def __repr__(self) -> str:
        latency_s = self.latency_s
        times = f"p50 {latency_s.p50:.4g} s, p99 {latency_s.p99:.4g} s"
        return f"<Latency of {self.delivered} of {self.sent} messages: {times}; {self.lost} lost>"

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
