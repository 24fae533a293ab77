"""Result of a run: joules, seconds and slowdown, over all pages and page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psm_sim.network import Usage
from psm_sim.network.topology_device import PowerParameters
from psm_sim.policies import Policy
from psm_sim.simulation.display import page_timeline
from psm_sim.simulation.failed_pages import percentiles_of, summarize_pages
from psm_sim.simulation.message_latency import Latency
from psm_sim.simulation.run_records import Origin, PageRecord, PushRecord, Traffic
from psm_sim.summary_stats import Summary

if TYPE_CHECKING:
    import pandas as pd


PERCENTILES = (10, 50, 90, 99)
"""The percentiles of the page times that are reported."""


_NO_SUPPLY = PowerParameters()


@dataclass(frozen=True, repr=False)
class Result:
    """One policy's run over the pages of a workload.

    ``policy`` is the policy as it was asked for, ``parameters`` all of its parameters; ``usage`` is the
    energy ledger at the end, ``policy_report`` what the policy or the device counted, if anything. ``events``
    counts the SimPy events fired, ``wall_s`` is the time that the simulation took, in seconds; it is the
    only value that differs from run to run. ``pushes`` is there if the workload sends the station datagrams,
    ``latency`` has the ways that its messages took, by name. ``power`` is what the radio draws; with its
    ``supply_v`` there is a mean current, with its ``battery_mah`` a battery's life. ``failures`` has the
    reason of each failed page, by its number, if ``reports_failures``: then summaries are over the other
    pages, and energy is that of the whole run over all pages. ``facts`` has the trace,
    topology, settings and seed; ``origin`` is enough to run it again, and ``policy_state`` is the policy as
    the run has left it; results from other processes have none.
    """

    policy: str
    parameters: dict[str, Any]
    page_records: Sequence[PageRecord]
    simulated_s: float
    wall_s: float
    events: int
    usage: Usage
    traffic: Traffic
    policy_report: dict[str, float] = field(default_factory=dict)
    pushes: PushRecord | None = None
    power: PowerParameters = _NO_SUPPLY
    latency: dict[str, Latency] = field(default_factory=dict)
    reports_failures: bool = False
    failures: dict[int, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    origin: Origin | None = field(default=None, repr=False, compare=False)
    policy_state: Policy | None = field(default=None, repr=False, compare=False)

    @cached_property
    def pages(self) -> pd.DataFrame:
        """The pages as a DataFrame, one row per page: columns as :class:`PageRecord`, policy and facts."""
        import pandas as pd

        frame = pd.DataFrame(list(self.page_records), columns=list(PageRecord._fields))
        if self.reports_failures:
            frame = frame.assign(failure=frame["page"].map(self.failures).fillna(""))
        return frame.assign(policy=self.policy, **self.facts)

    def __repr__(self) -> str:
        where = ", ".join(f"{key} {value}" for key, value in self.facts.items() if value != "")
        return f"<{type(self).__name__} of {self.policy}: {len(self.page_records)} pages; {where}>"

    def __str__(self) -> str:
        width = max(map(len, self._main))
        return "\n".join(
            [repr(self), *(f"{name:{width}}  {value:.4g}" for name, value in self._main.items())]
        )

    def _repr_html_(self) -> str:
        """Return the main values as HTML, for notebooks; every name is escaped."""
        import pandas as pd

        return pd.DataFrame({self.policy: self._main}).to_html(float_format="{:.4g}".format)

    @property
    def _main(self) -> dict[str, float]:
        states = {f"energy {name} (J)": value for name, value in self.energy_by_state_per_page_j.items()}
        return {
            "energy per page (J)": self.energy_per_page_j,
            **states,
            "page time, mean (s)": self.page_time_s.mean,
            "slowdown, mean": self.slowdown.mean,
            "slowdown, max": self.slowdown.max,
        }

    def plot(self) -> Any:
        """Draw the timeline of one page, of median slowdown; return the matplotlib figure."""
        return page_timeline([self])

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
        return summarize_pages(self, "page_time_s")

    @cached_property
    def slowdown(self) -> Summary:
        """Each page's time over that of the same page without power saving."""
        return summarize_pages(self, "slowdown")

    @property
    def page_time_percentiles_s(self) -> dict[str, float]:
        """Percentiles of the page times in seconds (linear between neighbours), as ``p50``."""
        return percentiles_of(self, "page_time_s", PERCENTILES)

    @property
    def failed_pages(self) -> int:
        """The number of pages that have failed."""
        return len(self.failures)

    @property
    def failed_page_records(self) -> list[dict[str, Any]]:
        """Number and reason of each failed page."""
        return [{"page": number, "reason": reason} for number, reason in self.failures.items()]

    @property
    def _failed(self) -> dict[str, Any]:
        found = {"failed_pages": self.failed_pages, "failures": self.failed_page_records}
        return found if self.reports_failures else {}

    @property
    def _supplied(self) -> dict[str, float | None]:
        return {"mean_current_ma": self.mean_current_ma, "battery_days": self.battery_days}

    def to_dict(self) -> dict[str, Any]:
        """Return the run as the JSON output has it."""
        latency = {way: each.to_dict() for way, each in self.latency.items()}
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
            "page_time_percentiles_s": self.page_time_percentiles_s,
            "traffic": self.traffic.to_dict(with_lost=self.reports_failures),
            **self._failed,
            **{key: value for key, value in self._supplied.items() if value is not None},
            **({"policy_report": self.policy_report} if self.policy_report else {}),
            **({"pushes": self.pushes.to_dict()} if self.pushes else {}),
            **({"latency": latency} if latency else {}),
        }
