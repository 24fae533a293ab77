"""Records of a run: its pages, its traffic, its push traffic, and what it was made from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from psm_sim.component_spec import Spec
from psm_sim.network import Observer, Topology
from psm_sim.network.message_sender import MessageSender
from psm_sim.policies import Policy
from psm_sim.summary_stats import Summary
from psm_sim.workload import Page
from psm_sim.workload.messages import Messages


class PageRecord(NamedTuple):
    """One page of a run: a row of ``pages.csv``.

    The page's energy, seconds asleep and awake, and beacons are those from the end of the page before
    it to its own end, its think time included. A page that has failed has no slowdown (nan), and neither has
    one that has failed without power saving, where ``always_on_time_s`` is nan; ``page_time_s`` of a failed
    page is the time until it failed.
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
    """Traffic from server to client; bytes include headers: sent = received + undelivered + dropped + lost.

    ``undelivered`` bytes are on the links or held by the access point when the run ends; the access point
    has dropped some, and faults have taken the lost ones.
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
        """Return it as the JSON output has it, *with_lost* ones where some could be."""
        values = dataclasses.asdict(self)
        return values if with_lost else {key: values[key] for key in values if not key.startswith("lost")}


@dataclass(frozen=True)
class PushRecord:
    """Datagrams to the station: how many were sent and delivered, and their delays in seconds.

    The delay is from the arrival at the access point until the station has the datagram.
    """

    sent: int
    delivered: int
    delay_s: Summary

    @classmethod
    def of(cls, messenger: MessageSender | None) -> PushRecord | None:
        """Return what was found; None if no datagram was sent that way; the delays of no delivery are nan."""
        if messenger is None or not messenger.sent:
            return None
        delays_s = messenger.delays_s
        return cls(messenger.sent, len(delays_s), Summary.of(delays_s or [math.nan]))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the JSON output has it."""
        delay_s = self.delay_s._asdict() if self.delivered else dict.fromkeys(Summary._fields)
        return {"sent": self.sent, "delivered": self.delivered, "delay_s": delay_s}


@dataclass(frozen=True)
class Origin:
    """Origin of a result: the policy as it was asked for, the topology, the pages and the messages.

    ``watch`` runs it again, with observers, over its first pages, where it was one of several stations.
    """

    policy_spec: str | Spec | Policy
    resolved_topology: Topology
    pages: tuple[Page, ...]
    messages: Messages
    watch: Callable[[Sequence[Observer], int | None], None] | None = None
