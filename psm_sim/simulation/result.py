"""Result of a run: energy, times and slowdown, in total and by page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from psm_sim.common.record_array import record_column
from psm_sim.common.summary_stats import Summary, percentiles
from psm_sim.network import Usage
from psm_sim.network.topology_sections import PowerParameters
from psm_sim.policies import Policy
from psm_sim.simulation.result_parts import Latency, Origin, PageRecord, PushRecord, Traffic

if TYPE_CHECKING:
    import pandas as pd

PERCENTILES = (10, 50, 90, 99)
"""Reported percentiles of the page times."""


_NO_SUPPLY = PowerParameters()


@dataclass(frozen=True, repr=False)
class Result:
    """Result of one policy on the pages of a workload, as returned by :func:`psm_sim.simulate`.

    Printing a result shows its main values. A notebook displays them as a table. If pages have failed,
    page-time and slowdown summaries cover the completed pages, and the energy is that of the whole run
    divided by all pages.

    Attributes
    ----------
    policy : str
        The policy as the user specified it.
    parameters : dict
        All parameters of the policy, or of ``station_policy``.
    page_records : sequence of PageRecord
        One record per page.
    simulated_s : float
        Simulated time, in seconds.
    wall_s : float
        Run time of the simulation, in seconds. All other values are reproducible.
    events : int
        Number of SimPy events.
    usage : Usage
        Energy, time and beacons by radio state.
    traffic : Traffic
        Bytes sent, received and lost on the way to the client.
    policy_report : dict of str to float
        Counters of the policy and of the device, if any.
    pushes : PushRecord or None
        Datagrams to the station; None if the workload has none.
    power : PowerParameters
        Power of the radio. Its ``supply_v`` is required for :attr:`mean_current_ma`.
    latency : dict of str to Latency
        Latency of background traffic, by direction.
    reports_failures : bool
        Whether pages can fail without ending the run.
    failures : dict of int to str
        Reason of each failed page, by its 1-based number.
    facts : dict
        Trace, topology, battery, settings and seed.
    origin : Origin or None
        Inputs that reproduce the run; None for averages.
    policy_state : Policy or None
        The policy after the run; None if the run was in another process.
    station : str
        Name of the ``[[stations]]`` table whose stations the result describes; empty without such tables.
    station_policy : str
        Policy that these stations follow instead of *policy*; empty if they have none of their own.
    policy_label : str
        Label that the user gave the policy (``label=``); empty for none.

    See Also
    --------
    psm_sim.simulate : Simulate one policy.
    psm_sim.compare : Simulate several policies on the same pages.

    Examples
    --------
    >>> import psm_sim
    >>> result = psm_sim.simulate("psm", pages=5)
    >>> result.slowdown.mean > 1
    True
    >>> list(result.energy_by_state_per_page_j)
    ['awake', 'asleep', 'beacons']
    >>> result.pages.shape[0]
    5
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
    station: str = ""
    station_policy: str = ""
    policy_label: str = ""

    HAS_INTERVALS: ClassVar[bool] = False
    """Whether the values are means over independent runs, which have confidence intervals."""

    @property
    def policy_name(self) -> str:
        """The label of the policy if it has one, else the policy."""
        return self.policy_label or self.policy

    @property
    def label(self) -> str:
        """The name of the policy, followed by that of the stations if the topology has several."""
        return f"{self.policy_name} ({self.station})" if self.station else self.policy_name

    @property
    def identity(self) -> dict[str, str]:
        """Policy, its label, station and policy of the station, by their names in the JSON output."""
        values = {
            "label": self.policy_label,
            "station": self.station,
            "station_policy": self.station_policy,
        }
        return {"policy": self.policy, **{name: value for name, value in values.items() if value}}

    @cached_property
    def pages(self) -> pd.DataFrame:
        """DataFrame with one row per page.

        The columns are the fields of :class:`~psm_sim.simulation.PageRecord`, the policy and the facts.
        """
        import pandas as pd

        frame = pd.DataFrame(list(self.page_records), columns=list(PageRecord._fields))
        if self.reports_failures:
            frame = frame.assign(failure=frame["page"].map(self.failures).fillna(""))
        label = {"label": self.policy_label} if self.policy_label else {}
        return frame.assign(policy=self.policy, **label, **self.facts)

    def __repr__(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self.facts.items() if value != "")
        return f"<{type(self).__name__} of {self.label}: {self.key_numbers}; {self._extent}; {facts}>"

    @property
    def key_numbers(self) -> str:
        """Energy and slowdown as text. Without page views, mean power and the largest p99 latency."""
        if self.loads_pages:
            return f"{self.energy_per_page_j:.4g} J, slowdown {self.slowdown.mean:.4g}"
        current_ma = self.mean_current_ma
        power = f"{self.mean_power_mw:.4g} mW" if current_ma is None else f"{current_ma:.4g} mA"
        delays_s = [each.latency_s.p99 for each in self.latency.values()]
        return f"{power}, p99 {max(delays_s):.3g} s" if delays_s else power

    @property
    def _extent(self) -> str:
        return f"{len(self.page_records)} pages"

    def __str__(self) -> str:
        width = max(map(len, self._main))
        return "\n".join(
            [repr(self), *(f"{name:{width}}  {value:.4g}" for name, value in self._main.items())]
        )

    def _repr_html_(self) -> str:
        """Return the main values as HTML for notebooks, with all names escaped."""
        import pandas as pd

        return pd.DataFrame({self.label: self._main}).to_html(float_format="{:.4g}".format)

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
        """Plot the timeline of the page with the median slowdown. Return the matplotlib figure."""
        # Imported by name: reporting is a higher layer, and loads matplotlib.
        return import_module("psm_sim.reporting.figures.timelines").draw_page_timeline([self])

    @property
    def energy_per_page_j(self) -> float:
        """Energy per page, in joules."""
        return self.usage.total_j / len(self.page_records)

    @property
    def energy_by_state_per_page_j(self) -> dict[str, float]:
        """Energy per page in joules, by ``awake``, ``asleep`` and ``beacons``.

        With their own power or energy, ``transmit``, ``wake_ups`` and ``frames`` are added.
        """
        count = len(self.page_records)
        usage = self.usage
        joules = {"awake": usage.awake_j, "asleep": usage.asleep_j, "beacons": usage.beacons_j}
        joules |= {"transmit": usage.transmit_j} if usage.transmit_s else {}
        joules |= {"wake_ups": usage.wake_ups_j} if usage.wake_ups else {}
        joules |= {"frames": usage.frames_j} if usage.frames else {}
        return {state: value / count for state, value in joules.items()}

    @property
    def mean_power_mw(self) -> float:
        """Mean power in milliwatts, think times included."""
        return 1000 * self.usage.total_j / self.simulated_s

    @property
    def mean_current_ma(self) -> float | None:
        """Mean supply current in milliamperes; None if the supply voltage is unknown."""
        volts = self.power.supply_v
        return None if volts is None else self.mean_power_mw / volts

    @property
    def battery_days(self) -> float | None:
        """Battery life at the mean current, in days; None if current or capacity is unknown."""
        current_ma, charge_mah = self.mean_current_ma, self.facts.get("battery_mah")
        return charge_mah / current_ma / 24 if current_ma and charge_mah else None

    @property
    def time_by_state_s(self) -> dict[str, float]:
        """Time awake and asleep in the whole run, in seconds.

        If transmissions have their own power, their time is ``transmit`` and no part of ``awake``.
        """
        usage = self.usage
        times_s = {"awake": usage.awake_s - usage.transmit_s, "asleep": usage.asleep_s}
        return times_s | ({"transmit": usage.transmit_s} if usage.transmit_s else {})

    @property
    def beacons_per_page(self) -> float:
        """Number of beacons received while dozing, per page."""
        return self.usage.beacons / len(self.page_records)

    @cached_property
    def loads_pages(self) -> bool:
        """Whether any page has objects. All others are pauses, during which only messages are sent."""
        return any(record_column(self.page_records, "objects"))

    @cached_property
    def page_time_s(self) -> Summary:
        """Summary of the page times, from the request of a page to its last byte, in seconds."""
        return Summary.of(self._completed("page_time_s"))

    @cached_property
    def slowdown(self) -> Summary:
        """Summary of the slowdowns: page time divided by that of the same page without power saving."""
        return Summary.of(self._completed("slowdown"))

    @property
    def page_time_percentiles_s(self) -> dict[str, float]:
        """Percentiles of the page times in seconds (linear interpolation), with keys such as ``p50``."""
        return percentiles(self._completed("page_time_s"), PERCENTILES)

    def _completed(self, name: str) -> list[float]:
        """Return one field of the completed pages, or a single nan if there are none.

        Slowdowns also require that the page completed without power saving.
        """
        values = record_column(self.page_records, name)
        if not self.reports_failures:
            return values
        return drop_nan(value for number, value in enumerate(values, 1) if number not in self.failures)

    @property
    def failed_pages(self) -> int:
        """The number of failed pages."""
        return len(self.failures)

    @property
    def failed_page_records(self) -> list[dict[str, Any]]:
        """Number and reason of each failed page."""
        return [{"page": number, "reason": reason} for number, reason in self.failures.items()]

    @property
    def _failure_values(self) -> dict[str, Any]:
        values = {"failed_pages": self.failed_pages, "failures": self.failed_page_records}
        return values if self.reports_failures else {}

    @property
    def _supply_values(self) -> dict[str, float | None]:
        return {"mean_current_ma": self.mean_current_ma, "battery_days": self.battery_days}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as in the JSON output, with plain values."""
        latency = {direction: latency.to_dict() for direction, latency in self.latency.items()}
        return {
            **self.identity,
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
            **self._failure_values,
            **{key: value for key, value in self._supply_values.items() if value is not None},
            **({"policy_report": self.policy_report} if self.policy_report else {}),
            **({"pushes": self.pushes.to_dict()} if self.pushes else {}),
            **({"latency": latency} if latency else {}),
        }


def drop_nan(values: Iterable[float]) -> list[float]:
    """Return the values without nan, or a single nan if there are none."""
    return [value for value in values if not math.isnan(value)] or [math.nan]


def complete_slowdowns(result: Result) -> list[float]:
    """Return the defined slowdowns of one or several runs, or a single nan if there are none."""
    return drop_nan(record_column(result.page_records, "slowdown"))


def describe_failures(failures: Sequence[Mapping[str, Any]]) -> str:
    """Format the reasons with their counts, the most frequent one first.

    *failures* are those of the JSON output. If they name stations, the counts of each station are added.
    """
    parts = []
    for reason, count in Counter(failure["reason"] for failure in failures).most_common():
        by_station = Counter(failure.get("station") for failure in failures if failure["reason"] == reason)
        counts = ", ".join(f"{name} {number}" for name, number in by_station.items() if name is not None)
        parts.append(f"{count} x {reason}" + (f" ({counts})" if counts else ""))
    return "; ".join(parts)


def flatten_failures(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a result's ``to_dict()`` with the list of failures as one string."""
    if "failures" not in values:
        return values
    return {**values, "failures": describe_failures(values["failures"])}
