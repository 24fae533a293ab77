"""Ranking of the power-save settings of a device: the least energy within a bound on the delay.

All settings see the same traffic. Energies are compared by paired tests over seeds. Settings share a rank if
the difference of their energies is not significant, or smaller than the accuracy of chip profiles. A setting
is recommended only if the upper end of the confidence interval of its delay is within the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from psm_sim.campaign.chip_currents import Current, ModeRow, keeps_order
from psm_sim.campaign.driver_settings import NEW_DRIVER, Setting
from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.summary_stats import MIN_DIFFERENCE, Interval, shared_ranks, significant_differences
from psm_sim.network.chip_profiles import ChipProfile, load_profile
from psm_sim.simulation import Comparison, Result, Scenario, run_comparison
from psm_sim.simulation.table import directions_of, fold, usage_of
from psm_sim.simulation.verdict import Reason, saving_reason
from psm_sim.workload import Workload

REPLICATIONS = 8
"""Default number of seeds."""

NEW_REPLICATIONS = 1
"""Default number of seeds of policies that need a new driver.

One seed of a policy with a costly lookahead takes as long as all seeds of the settings.
"""

SIMILAR = 0.05
"""Relative difference from which two energies, or a delay and the bound, differ with few seeds.

The settings of a driver have more seeds, so that smaller differences count, see :data:`MIN_DIFFERENCE`.
"""

MAX_REPORT_PERIOD_S = 3600.0
"""Longest simulated interval of reports, in seconds.

The simulated time is ten intervals. From 15 min to 1 h, the mean currents of an ESP32 change by at most
0.9 %, and from 1 h to 3 h, without this limit, by 0.6 %: ``psm_sim advise --profile esp32 --replications 3
--format json --report-every 1h``.
"""

CLOSE = 1.25
"""Largest ratio of a delay to the bound at which the delay is still close to the bound (a choice)."""

MAX_LOST, MAX_MISSING = 0.01, 0.05
"""Maximum shares of lost and of missing messages, in addition to the shares without power saving (a choice).

Messages on their way at the end of a run are missing, too, so their share may be larger.
"""


class DelayVerdict(StrEnum):
    """Relation of a setting's delay to the bound."""

    WITHIN = "within the bound"
    UNCERTAIN = "too close to the bound"
    ABOVE = "above the bound"
    LOSES = "loses messages or pages"


@dataclass(frozen=True)
class SettingRow:
    """Setting with its simulated energy and delay.

    Attributes
    ----------
    setting : Setting
        The setting.
    result : Result
        Result of the setting, averaged over the seeds.
    delay_s : Interval
        With pages, the mean page time added by power saving; otherwise the 99th percentile of the latency in
        the slower direction. The confidence interval is a jackknife interval over the seeds.
    verdict : DelayVerdict
        Whether the delay is within the bound.
    rank : int
        Rank by energy, from 1, if the driver offers the setting and its delay is within the bound; otherwise
        0. Settings whose energies do not differ share a rank.
    """

    setting: Setting
    result: Result
    delay_s: Interval
    verdict: DelayVerdict
    rank: int = 0

    @property
    def energy_j(self) -> float:
        """Mean energy, in joules per page."""
        return self.result.energy_per_page_j

    @property
    def power_w(self) -> float:
        """Mean power of the radio, in watts."""
        return usage_of(self.result.row).total_j / float(self.result["simulated_s"])

    @property
    def is_within(self) -> bool:
        """Whether the delay is within the bound."""
        return self.verdict is DelayVerdict.WITHIN

    @property
    def missing(self) -> float:
        """Share of the messages that were not delivered by the end of the run; nan without messages."""
        return _missing(self.result) if directions_of(self.result.row) else math.nan


@dataclass(frozen=True)
class DriverAdvice:
    """Settings of a driver, ranked by energy, and the setting to select.

    Attributes
    ----------
    rows : tuple of SettingRow
        Settings by ascending energy: first those within the bound, then the others.
    best : SettingRow or None
        Setting to select; None if no setting qualifies. A setting qualifies if the driver offers it and its
        delay is within the bound. If some qualifying settings receive all group addressed frames, the others
        are excluded. Of the settings that remain, the best has the least energy or, at practically equal
        energy, the least delay.
    tied : tuple of SettingRow
        Qualifying settings with practically the same energy as the best, which receive all group addressed
        frames if the best does.
    second : SettingRow or None
        Qualifying setting with the least energy, if it was excluded from the choice because it misses group
        addressed frames.
    better : tuple of SettingRow
        Settings within the bound that use less energy than the best, but require a new driver or another
        access point.
    beyond : SettingRow or None
        Setting of the driver that is beyond the bound and needs less energy than the best. If the delay of
        some such settings is at most 1.25 times the bound, the least energy among them decides. Otherwise,
        the least delay decides.
    """

    rows: tuple[SettingRow, ...]
    best: SettingRow | None = None
    tied: tuple[SettingRow, ...] = ()
    second: SettingRow | None = None
    better: tuple[SettingRow, ...] = ()
    beyond: SettingRow | None = None


@dataclass(frozen=True)
class Advice(DriverAdvice):
    """Choice of a setting, with its simulations.

    Attributes
    ----------
    comparison : Comparison
        Comparison of the policies that simulate the settings.
    max_latency_s : float or None
        Bound on the delay, in seconds.
    driver : str
        Driver whose settings are ranked.
    modes : tuple of ModeRow
        Modes of the chip by ascending current; empty if there is no chip, or if the chip has no modes.
    report_every_s : float or None
        Interval of the reports, in seconds, if the option ``--report-every`` selects the traffic.
    at_dtim_3 : mapping of str to Current
        Mean current of each setting of the driver if the DTIM period were 3, by name. Empty if the user has
        stated the DTIM period of the access point.
    """

    comparison: Comparison = field(kw_only=True)
    max_latency_s: float | None = None
    driver: str = "generic"
    modes: tuple[ModeRow, ...] = ()
    report_every_s: float | None = None
    at_dtim_3: Mapping[str, Current] = field(default_factory=dict)

    @cached_property
    def chip(self) -> ChipProfile | None:
        """Chip of the profile; None without a profile, or if the profile states no supply voltage."""
        profile = self.comparison.scenario.profile
        chip = load_profile(profile) if profile else None
        return chip if chip is not None and "power.supply_v" in chip.values else None

    @property
    def reversible(self) -> list[SettingRow]:
        """Lower-ranked settings whose uncertain current may be below that of the best."""
        if self.chip is None or self.best is None:
            return []
        others = [row for row in self.rows if row.rank > self.best.rank]
        return [row for row in others if not keeps_order(self.best.result, row.result, self.chip)]

    @property
    def dtim_period(self) -> int:
        """DTIM period of the access point."""
        return self.comparison.resolved_topology.beacon.dtim_period

    @property
    def reason(self) -> tuple[Reason, SettingRow] | None:
        """Radio state in which the best setting saves the most energy, and the setting it is compared with.

        The best setting is compared with the default of the driver or, if that is not within the bound, with
        no power saving.
        """
        others = [row for row in self.rows if row.setting.is_default and row.is_within]
        others += [row for row in self.rows if row.setting.policy == "always-on"]
        for other in others:
            if self.best is not None and self.best.energy_j < other.energy_j:
                reason = saving_reason(self.best.result.row, other.result.row)
                return None if reason is None else (reason, other)
        return None

    @property
    def default(self) -> SettingRow | None:
        """Setting that the driver uses unless another one is selected; None if it is not known."""
        return next((row for row in self.rows if row.setting.is_default), None)

    @property
    def nearest(self) -> SettingRow | None:
        """Setting of the driver with the least delay; None if all of them lose messages."""
        arriving = [
            row for row in self.rows if not row.setting.needs and row.verdict is not DelayVerdict.LOSES
        ]
        return min(arriving, key=lambda row: row.delay_s.mean, default=None)

    @property
    def uncertain(self) -> list[SettingRow]:
        """Settings whose delay is so close to the bound that more seeds are needed to decide."""
        return [row for row in self.rows if row.verdict is DelayVerdict.UNCERTAIN]

    @property
    def is_decided(self) -> bool:
        """Whether ``best`` stays the same even if all uncertain settings turn out to be within the bound."""
        if self.best is None:
            return not self.uncertain
        complete = self.best.setting.dtim_share(self.dtim_period) == 1
        return not any(
            row.energy_j < self.best.energy_j
            and not row.setting.needs
            and (row.setting.dtim_share(self.dtim_period) == 1 or not complete)
            for row in self.uncertain
        )

    @property
    def has_pages(self) -> bool:
        """Whether the traffic has page views. Delays are then page times, otherwise latencies of messages."""
        return self.comparison.workload.has_pages

    @property
    def has_delays(self) -> bool:
        """Whether the traffic has page views or messages; otherwise all delays are 0."""
        return self.has_pages or bool(self.comparison.workload.messages)

    @property
    def replications(self) -> int:
        """Number of runs of each setting: one for each seed or client."""
        return len(self.comparison.runs[0].replicates)


def advise(
    settings: Sequence[Setting],
    scenario: Scenario,
    max_latency_s: float | None = None,
    replications: int | None = None,
    progress: Progress = no_progress,
    workers: int | None = None,
) -> Advice:
    """Simulate the settings on the same traffic and rank them by energy.

    Parameters
    ----------
    settings
        Settings to compare. The first setting has no power saving.
    scenario
        Traffic, and a topology with one station.
    max_latency_s
        Maximum added page time, or maximum 99th percentile of the latency of messages, in seconds.
    replications
        Number of seeds. None uses :data:`REPLICATIONS` seeds, but :data:`NEW_REPLICATIONS` for policies that
        need a new driver, and 1 seed if all seeds have the same traffic.
    progress
        Called with the number of finished seeds or clients if there are several, otherwise with the number of
        finished settings.
    workers
        See :func:`~psm_sim.simulation.run_comparison`.

    Raises
    ------
    InputError
        If an argument is invalid, or if *max_latency_s* is set and the traffic has neither pages nor
        messages.
    """
    workload = _check_traffic(scenario, max_latency_s)
    count = replications or _replications(scenario, workload)

    def simulate(some: Sequence[Setting], seeds: int) -> tuple[Comparison, list[SettingRow]]:
        def report(done: int, total: int, label: str, unit: str = "") -> None:
            if unit:
                progress(done, total, f"{len(some)} settings", unit)
            else:
                progress(len(some) * done // total, len(some), label)

        policies = [setting.policy for setting in some]
        comparison = run_comparison(policies, scenario, seeds, report, workers)
        runs = zip(some, comparison.runs, strict=True)
        return comparison, [_row(setting, run, comparison, max_latency_s) for setting, run in runs]

    comparison, rows = simulate([setting for setting in settings if setting.needs != NEW_DRIVER], count)
    if new := [setting for setting in settings if setting.needs == NEW_DRIVER]:
        seeds = replications or min(count, NEW_REPLICATIONS)
        tried = simulate(new, seeds)[1]
        rows += tried if seeds == count else [_with_margin(row, max_latency_s) for row in tried]
    choice = choose(rows, comparison.resolved_topology.beacon.dtim_period, max_latency_s)
    return Advice(**vars(choice), comparison=comparison, max_latency_s=max_latency_s)


def _with_margin(row: SettingRow, max_latency_s: float | None) -> SettingRow:
    """Return *row*, marked as uncertain if its delay differs from the bound by less than :data:`SIMILAR`."""
    is_similar = abs(row.delay_s.mean / (max_latency_s or math.inf) - 1) < SIMILAR
    return replace(row, verdict=DelayVerdict.UNCERTAIN) if is_similar else row


def _check_traffic(scenario: Scenario, max_latency_s: float | None) -> Workload:
    """Return the workload of the first client. Reject several stations, or a bound on missing delays."""
    stations = scenario.resolve_unseeded_topology().stations
    if stations:
        names = ", ".join(station.name for station in stations)
        raise InputError(
            f"advise simulates one station, but topology {scenario.topology_name} has {names}; use another"
            " topology."
        )
    workload = scenario.workloads()[0]
    if max_latency_s is not None and not workload.messages and not workload.has_pages:
        raise InputError(
            f"A maximum latency has no effect on trace {scenario.trace_name}, because it has neither pages"
            " nor messages; remove it or use another trace."
        )
    return workload


def _replications(scenario: Scenario, workload: Workload) -> int:
    """Return the default number of seeds: 1 for several clients, or if all seeds have the same traffic."""
    others = replace(scenario, seed=scenario.seed + 1).workloads()
    is_fixed = (others[0].pages, others[0].messages) == (workload.pages, workload.messages)
    return 1 if is_fixed or len(others) > 1 else REPLICATIONS


def _row(setting: Setting, result: Result, comparison: Comparison, max_latency_s: float | None) -> SettingRow:
    runs = result.replicates
    if comparison.workload.has_pages:
        pairs = zip(runs, comparison.always_on.replicates, strict=True)
        added_s = [run["page_time_s.mean"] - on["page_time_s.mean"] for run, on in pairs]
        added_s = [math.inf if math.isnan(value) else value for value in added_s]  # no page is complete
        delay_s = _jackknife(lambda indices: float(np.mean([added_s[index] for index in indices])), len(runs))
    else:
        delay_s = _jackknife(lambda indices: _slower_p99_s([runs[index] for index in indices]), len(runs))
    loses = _loses(result, comparison.always_on)
    return SettingRow(
        setting, result, delay_s, DelayVerdict.LOSES if loses else verdict_of(delay_s, max_latency_s)
    )


def _loses(result: Result, always_on: Result) -> bool:
    """Return whether power saving makes pages or messages fail, or over half of the messages are missing."""
    lost, missing = _lost(result) - _lost(always_on), _missing(result) - _missing(always_on)
    failed = _failed(result) - _failed(always_on)
    return failed > MAX_LOST or lost > MAX_LOST or missing > MAX_MISSING or _missing(result) > 0.5


def _failed(result: Result) -> float:
    """Return the share of failed pages."""
    return float(result.row.get("failed_pages", 0) / result.row["pages"])


def _lost(result: Result) -> float:
    """Return the share of lost messages among those delivered or lost."""
    lost = _count(result, "lost")
    finished = lost + _count(result, "delivered")
    return lost / finished if finished else 0.0


def _missing(result: Result) -> float:
    """Return the share of messages that were not delivered, whether they are known to be lost or not."""
    sent = _count(result, "sent")
    return 1 - _count(result, "delivered") / sent if sent else 0.0


def _count(result: Result, name: str) -> int:
    """Return a number of messages, summed over all directions."""
    return sum(result[f"latency.{direction}.{name}"] for direction in directions_of(result.row))


def verdict_of(delay_s: Interval, max_latency_s: float | None) -> DelayVerdict:
    """Return the relation of a delay to the bound *max_latency_s*; None is an infinite bound."""
    if math.isinf(delay_s.mean):
        return DelayVerdict.LOSES
    if max_latency_s is None or delay_s.high <= max_latency_s:
        return DelayVerdict.WITHIN
    return DelayVerdict.ABOVE if delay_s.low > max_latency_s else DelayVerdict.UNCERTAIN


def _slower_p99_s(runs: Sequence[Result]) -> float:
    """Return the 99th percentile of the latency in the slower direction; infinity if nothing arrived."""
    pooled = fold([run.row for run in runs])
    values = [
        pooled[f"latency.{name}.latency_s.p99"]
        for name in directions_of(pooled)
        if pooled[f"latency.{name}.sent"]
    ]
    return max((math.inf if math.isnan(value) else value for value in values), default=0.0)


def slower(result: Result, direction: str) -> str | None:
    """Return the name of the latencies in *direction*, ``"down"`` or ``"up"``; None if there are none.

    Round trips belong to the direction of the request. If there are both one-way messages and round trips,
    the larger 99th percentile decides.
    """
    names = [f"latency.{name}" for name in directions_of(result.row) if name.endswith(direction)]
    directions = [name for name in names if result[f"{name}.sent"]]
    return max(directions, key=lambda name: np.nan_to_num(result[f"{name}.latency_s.p99"]), default=None)


def _jackknife(statistic: Callable[[Sequence[int]], float], size: int) -> Interval:
    """Return a statistic of runs, and its 95 % interval from leaving out each run in turn (jackknife).

    *statistic* computes its value from indices of runs, and *size* is the number of runs. For a mean, the
    jackknife interval is Student's interval. With a single run the half width is 0.
    """
    everything = range(size)
    value = statistic(everything)
    if size < 2 or math.isinf(value):
        return Interval(value, 0.0, size)
    from scipy.special import stdtrit

    partial = np.array([statistic([index for index in everything if index != out]) for out in everything])
    if not np.isfinite(partial).all():  # only one run delivers messages
        return Interval(value, math.inf, size)
    error = math.sqrt((size - 1) * float(partial.var()))
    return Interval(value, float(stdtrit(size - 1, 0.975)) * error, size)


def choose(rows: Sequence[SettingRow], dtim_period: int, max_latency_s: float | None = None) -> DriverAdvice:
    """Rank settings by energy, and select the best.

    *dtim_period* is the DTIM period of the access point, and *max_latency_s* the bound on the delay.
    """
    rows = sorted(rows, key=lambda row: (not row.is_within, row.energy_j))
    within = [row for row in rows if row.is_within]
    differs = _differences(within)
    offered = [index for index, row in enumerate(within) if not row.setting.needs]
    if not offered:
        return DriverAdvice(tuple(rows))
    for index, rank in zip(offered, shared_ranks(differs, offered), strict=True):
        rows[index] = replace(rows[index], rank=rank)
    complete = [index for index in offered if rows[index].setting.dtim_share(dtim_period) == 1] or offered
    first = [index for index in complete if not differs[complete[0], index]]
    best = first[_best_of_equal([rows[index] for index in first])]
    second = offered[0]
    beyond = [
        row
        for row in rows[len(within) :]
        if row.verdict is not DelayVerdict.LOSES
        and math.isfinite(row.delay_s.high)
        and not row.setting.needs
        and (1 + MIN_DIFFERENCE) * row.energy_j < rows[best].energy_j
    ]
    return DriverAdvice(
        tuple(rows),
        rows[best],
        tuple(rows[index] for index in first if index != best),
        rows[second] if second not in complete and differs[second, best] else None,
        tuple(rows[index] for index in range(best) if rows[index].setting.needs and differs[best, index]),
        _tipping(beyond, max_latency_s or math.inf),
    )


def _tipping(rows: Sequence[SettingRow], max_latency_s: float) -> SettingRow | None:
    """Return the row with the least energy of those whose delay is close to the bound, see :data:`CLOSE`.

    If there are none, return the row with the least delay.
    """
    close = [row for row in rows if row.delay_s.mean <= CLOSE * max_latency_s]
    if close:
        return min(close, key=lambda row: row.energy_j)
    return min(rows, key=lambda row: row.delay_s.mean, default=None)


def _best_of_equal(rows: Sequence[SettingRow]) -> int:
    """Return the index of the best of *rows*, whose energies ascend and do not differ significantly.

    Candidates are the rows whose energy is at most :data:`MIN_DIFFERENCE` above the least energy. The best is
    the first candidate whose delay is at most :data:`MIN_DIFFERENCE` above the least delay of the candidates.
    """
    limit_j = (1 + MIN_DIFFERENCE) * rows[0].energy_j
    equal = [index for index, row in enumerate(rows) if row.energy_j <= limit_j]
    limit_s = (1 + MIN_DIFFERENCE) * min(rows[index].delay_s.mean for index in equal)
    return next(index for index in equal if rows[index].delay_s.mean <= limit_s)


def _differences(rows: Sequence[SettingRow]) -> NDArray[np.bool_]:
    """Return, for each pair of rows, whether their energies differ (significantly, with several runs).

    A row with fewer seeds is compared with the others on its own seeds only.
    """
    samples_j = [[run.energy_per_page_j for run in row.result.replicates] for row in rows]
    count = max(map(len, samples_j), default=1)
    complete = [index for index, sample in enumerate(samples_j) if len(sample) == count]
    means_j = np.array([row.energy_j for row in rows])
    smaller_j = np.minimum.outer(means_j, means_j)
    differs = np.abs(np.subtract.outer(means_j, means_j)) > MIN_DIFFERENCE * smaller_j
    if count > 1:
        differs[np.ix_(complete, complete)] &= significant_differences([samples_j[n] for n in complete])
    for index, sample in enumerate(samples_j):
        if len(sample) < count:
            others_j = np.array([np.mean(other[: len(sample)]) for other in samples_j])
            differs[index] = differs[:, index] = np.abs(others_j / np.mean(sample) - 1) > SIMILAR
    return np.asarray(differs)
