"""Result of a run: joules, seconds and slowdown, over all pages and page by page."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim.estimates import Summary
from psm_sim.network import Usage
from psm_sim.network.pusher import Pusher
from psm_sim.network.topology_station import PowerParameters

if TYPE_CHECKING:
    import pandas as pd


class PageRecord(NamedTuple):
    """One page of a run: a row of ``pages.csv``.

    The page's energy, seconds asleep and awake, and beacons are those from the end of the page before
    it to its own end, its think time included.
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
    """Traffic from server to client; bytes include headers, and sent = received + undelivered + dropped.

    ``undelivered`` bytes are on the links or held by the access point when the run ends.
    """

    server_sent_bytes: int
    client_received_bytes: int
    undelivered_bytes: int
    dropped_bytes: int
    dropped_frames: int
    retransmissions: int


@dataclass(frozen=True)
class PushRecord:
    """Datagrams that nobody asked for: how many were sent and delivered, and their delays in seconds.

    The delay is from the arrival at the access point until the station has the datagram.
    """

    sent: int
    delivered: int
    delay_s: Summary

    @classmethod
    def of(cls, pusher: Pusher) -> PushRecord:
        """Return what was found; the delays of no delivery are nan."""
        return cls(pusher.sent, len(pusher.delays_s), Summary.of(pusher.delays_s or [math.nan]))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the JSON output has it."""
        delay_s = self.delay_s._asdict() if self.delivered else dict.fromkeys(Summary._fields)
        return {"sent": self.sent, "delivered": self.delivered, "delay_s": delay_s}


_NO_SUPPLY = PowerParameters()


@dataclass(frozen=True)
class Result:
    """One policy's run over the pages of a workload.

    ``policy`` is the policy as it was asked for, ``parameters`` all of its parameters; ``usage`` is the
    energy ledger at the end, ``policy_report`` what the policy itself measured, if anything. ``events``
    counts the SimPy events fired, ``wall_s`` is the time that the simulation took, in seconds; it is the
    only value that differs from run to run. ``pushes`` is there if the workload has any. ``power`` is what
    the radio draws; with its ``supply_v`` there is a mean current, with its ``battery_mah`` a battery's life.
    """

    policy: str
    parameters: dict[str, Any]
    page_records: tuple[PageRecord, ...]
    simulated_s: float
    wall_s: float
    events: int
    usage: Usage
    traffic: Traffic
    policy_report: dict[str, float] = field(default_factory=dict)
    pushes: PushRecord | None = None
    power: PowerParameters = _NO_SUPPLY

    @cached_property
    def pages(self) -> pd.DataFrame:
        """The pages as a DataFrame, one row per page, columns as :class:`PageRecord`."""
        import pandas as pd

        return pd.DataFrame(self.page_records, columns=list(PageRecord._fields))

    @property
    def energy_per_page_j(self) -> float:
        """Joules per page."""
        return self.usage.total_j / len(self.page_records)

    @property
    def energy_by_state_per_page_j(self) -> dict[str, float]:
        """Joules per page awake, asleep and for beacons."""
        count = len(self.page_records)
        usage = self.usage
        joules = {"awake": usage.awake_j, "asleep": usage.asleep_j, "beacons": usage.beacons_j}
        joules |= {"extra": usage.extra_j} if usage.extra_j else {}
        return {state: value / count for state, value in joules.items()}

    @property
    def mean_current_ma(self) -> float | None:
        """Mean current from the supply in milliamperes; None if its voltage is not known."""
        volts = self.power.supply_v
        return None if volts is None else 1000 * self.usage.total_j / self.simulated_s / volts

    @property
    def battery_days(self) -> float | None:
        """Days that the battery lasts at the mean current; None if either is not known."""
        current_ma, charge_mah = self.mean_current_ma, self.power.battery_mah
        return charge_mah / current_ma / 24 if current_ma and charge_mah else None

    @property
    def time_by_state_s(self) -> dict[str, float]:
        """Seconds awake and asleep in the whole run."""
        return {"awake": self.usage.awake_s, "asleep": self.usage.asleep_s}

    @property
    def beacons_per_page(self) -> float:
        """Beacons that the dozing station woke to hear, per page."""
        return self.usage.beacons / len(self.page_records)

    @cached_property
    def page_time_s(self) -> Summary:
        """Time from the request of a page until its last object is complete, in seconds."""
        return Summary.of([record.page_time_s for record in self.page_records])

    @cached_property
    def slowdown(self) -> Summary:
        """Each page's time over that of the same page without power saving."""
        return Summary.of([record.slowdown for record in self.page_records])

    @property
    def _supplied(self) -> dict[str, float | None]:
        return {"mean_current_ma": self.mean_current_ma, "battery_days": self.battery_days}

    def to_dict(self) -> dict[str, Any]:
        """Return the run as the JSON output has it."""
        return {
            "policy": self.policy,
            "parameters": self.parameters,
            "pages": len(self.page_records),
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s,
            "events": self.events,
            "energy_per_page_j": self.energy_per_page_j,
            "energy_by_state_per_page_j": self.energy_by_state_per_page_j,
            "time_by_state_s": self.time_by_state_s,
            "beacons_per_page": self.beacons_per_page,
            "page_time_s": self.page_time_s._asdict(),
            "slowdown": self.slowdown._asdict(),
            "traffic": dataclasses.asdict(self.traffic),
            **{key: value for key, value in self._supplied.items() if value is not None},
            **({"policy_report": self.policy_report} if self.policy_report else {}),
            **({"pushes": self.pushes.to_dict()} if self.pushes else {}),
        }
