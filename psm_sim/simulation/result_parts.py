"""Parts of a result: page records, traffic counters, datagrams and the origin."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.summary_stats import Summary
from psm_sim.network import Observer, Topology
from psm_sim.network.background_messages import BackgroundMessages
from psm_sim.policies import Policy
from psm_sim.workload import Page
from psm_sim.workload.messages import Messages


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

    policy_spec: str | Spec | Policy
    resolved_topology: Topology
    pages: tuple[Page, ...]
    messages: Messages
    rerun: Callable[[Sequence[Observer], int | None], None] | None = None
