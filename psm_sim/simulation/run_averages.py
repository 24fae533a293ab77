"""Averages of one policy over several runs, and differences between two policies paired by run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from psm_sim.common.summary_stats import Interval, Summary, confidence_interval
from psm_sim.network import Usage
from psm_sim.simulation.result import Result, drop_nan
from psm_sim.simulation.result_parts import Traffic, pool_latencies

if TYPE_CHECKING:
    import pandas as pd

MEASURES: Mapping[str, Callable[[Result], float]] = {
    "energy_per_page_j": lambda run: run.energy_per_page_j,
    "energy_by_state_per_page_j.awake": lambda run: run.energy_by_state_per_page_j["awake"],
    "energy_by_state_per_page_j.asleep": lambda run: run.energy_by_state_per_page_j["asleep"],
    "energy_by_state_per_page_j.beacons": lambda run: run.energy_by_state_per_page_j["beacons"],
    "beacons_per_page": lambda run: run.beacons_per_page,
    "page_time_s.mean": lambda run: run.page_time_s.mean,
    "slowdown.mean": lambda run: run.slowdown.mean,
}
"""Values that are averaged with an interval, by their names in the JSON output."""


@dataclass(frozen=True, repr=False)
class Average(Result):
    """Average of several runs of one policy, with the interface of :class:`Result`.

    Values per page and summaries are means over the runs, except that ``max`` is the maximum of all runs.
    ``page_records``, times, events, ``usage``, ``traffic`` and failed pages are those of all runs together.

    Attributes
    ----------
    names : tuple of str
        Name of each run.
    results : tuple of Result
        Result of each run.
    """

    KIND: ClassVar[str] = "run"
    HAS_INTERVALS: ClassVar[bool] = True

    names: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def _extent(self) -> str:
        return f"{super()._extent} of {len(self.names)} {self.KIND}s"

    def interval(self, measure: str) -> Interval:
        """Return the mean of one of :data:`MEASURES` over the runs, with its 95 % confidence interval.

        Runs without a completed page are excluded, because they have no page time.
        """
        return confidence_interval(drop_nan(MEASURES[measure](result) for result in self.results))

    @property
    def energy_per_page_j(self) -> float:
        """Energy per page, in joules."""
        return self.interval("energy_per_page_j").mean

    @property
    def energy_by_state_per_page_j(self) -> dict[str, float]:
        """Energy per page in joules, by the same names as that of each run."""
        states = ("awake", "asleep", "beacons")
        joules = {state: self.interval(f"energy_by_state_per_page_j.{state}").mean for state in states}
        by_run = [result.energy_by_state_per_page_j for result in self.results]
        for name in ("transmit", "wake_ups", "frames"):
            if any(name in run for run in by_run):
                joules[name] = sum(run.get(name, 0.0) for run in by_run) / len(by_run)
        return joules

    @property
    def beacons_per_page(self) -> float:
        """Number of beacons received while dozing, per page."""
        return self.interval("beacons_per_page").mean

    @cached_property
    def page_time_s(self) -> Summary:
        """Summary of the page times in seconds, averaged over the runs."""
        return _average_summaries([result.page_time_s for result in self.results])

    @cached_property
    def slowdown(self) -> Summary:
        """Summary of the slowdowns, averaged over the runs."""
        return _average_summaries([result.slowdown for result in self.results])

    @cached_property
    def page_time_percentiles_s(self) -> dict[str, float]:
        """Percentiles of the page times in seconds, averaged over the runs."""
        by_run = [result.page_time_percentiles_s for result in self.results]
        return {name: _mean(drop_nan(run[name] for run in by_run)) for name in by_run[0]}

    @cached_property
    def pages(self) -> pd.DataFrame:
        """DataFrame with one row per page of all runs, and the name of the run as its first column."""
        import pandas as pd

        frames = []
        for name, result in zip(self.names, self.results, strict=True):
            frame = result.pages
            columns = [self.KIND, *(column for column in frame.columns if column != self.KIND)]
            frames.append(frame.assign(**{self.KIND: frame.get(self.KIND, name)})[columns])
        return pd.concat(frames, ignore_index=True)

    @property
    def failed_pages(self) -> int:
        """The number of failed pages in all runs."""
        return sum(result.failed_pages for result in self.results)

    @property
    def failed_page_records(self) -> list[dict[str, Any]]:
        """Number and reason of each failed page, with the name of its run."""
        runs = zip(self.names, self.results, strict=True)
        return [{self.KIND: name, **record} for name, run in runs for record in run.failed_page_records]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run: its name, number of pages and :data:`MEASURES`."""
        return [
            {
                self.KIND: name,
                "pages": len(result.page_records),
                **({"failed_pages": result.failed_pages} if result.reports_failures else {}),
                **{measure: value(result) for measure, value in MEASURES.items()},
            }
            for name, result in zip(self.names, self.results, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the averages as in the JSON output, with half widths and one row per run."""
        half_widths = {measure: self.interval(measure).half_width for measure in MEASURES}
        intervals = {"half_width_95": half_widths} if self.HAS_INTERVALS else {}
        return {**super().to_dict(), **intervals, f"{self.KIND}s": self.rows()}


class ClientAverage(Average):
    """Average of one policy over several clients of a recording."""

    KIND = "client"

    @property
    def clients(self) -> tuple[str, ...]:
        """Identifier of each client."""
        return self.names


class SeedAverage(Average):
    """Average of one policy over the pages of several seeds."""

    KIND = "seed"


Kind = TypeVar("Kind", bound=Average)


def average_runs(kind: type[Kind], names: tuple[str, ...], results: Sequence[Result]) -> Kind:
    """Average the *results* of one policy, at least one. *kind* and *names* state how the runs differ."""
    first = results[0]
    return kind(
        policy=first.policy,
        parameters=first.parameters,
        page_records=tuple(record for result in results for record in result.page_records),
        simulated_s=sum(result.simulated_s for result in results),
        wall_s=sum(result.wall_s for result in results),
        events=sum(result.events for result in results),
        power=first.power,
        usage=Usage(*(sum(values) for values in zip(*(result.usage for result in results), strict=True))),
        traffic=_sum_of_traffic([result.traffic for result in results]),
        policy_report=_mean_report([result.policy_report for result in results]),
        reports_failures=first.reports_failures,
        latency=pool_latencies([result.latency for result in results]),
        facts=first.facts,
        station=first.station,
        station_policy=first.station_policy,
        policy_label=first.policy_label,
        names=names,
        results=tuple(results),
    )


def _mean_report(reports: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each count over the runs that have it."""
    names = dict.fromkeys(name for report in reports for name in report)
    values_by_name = {name: [report[name] for report in reports if name in report] for name in names}
    return {name: _mean(values) for name, values in values_by_name.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _sum_of_traffic(traffics: Sequence[Traffic]) -> Traffic:
    names = [field.name for field in fields(Traffic)]
    return Traffic(**{name: sum(getattr(traffic, name) for traffic in traffics) for name in names})


def _average_summaries(summaries: Sequence[Summary]) -> Summary:
    defined = [summary for summary in summaries if not isnan(summary.mean)] or summaries[:1]
    mean, median, p95 = (sum(summary[index] for summary in defined) / len(defined) for index in range(3))
    return Summary(mean, median, p95, max(summary.max for summary in defined))


def kinds_of(run: Result) -> list[str]:
    """Return how the single runs of a result differ, such as ``["seed", "station"]``."""
    return [run.KIND, *kinds_of(run.results[0])] if isinstance(run, Average) else []


def single_runs(run: Result) -> Iterator[tuple[list[str], Result]]:
    """Yield the single runs of a result, each with one name for each of :func:`kinds_of`."""
    if not isinstance(run, Average):
        yield [], run
        return
    for name, result in zip(run.names, run.results, strict=True):
        yield from (([name, *names], single) for names, single in single_runs(result))


SAVED = "energy_saved_percent"

_COMPARED = ("energy_per_page_j", "page_time_s.mean", "slowdown.mean")


@dataclass(frozen=True)
class PairedDifference:
    """Difference of one policy from a reference, with intervals over the paired runs.

    Attributes
    ----------
    policy, against : str
        The policy and the reference.
    saved_percent : Interval
        Energy saving of the policy, in percent of the energy of the reference.
    measures : dict of str to Interval
        Differences of the policy from the reference, with the names and units of the JSON output.
    station, label : str
        Stations whose results are compared, and label of the policy, as in :class:`Result`.
    """

    policy: str
    against: str
    saved_percent: Interval
    measures: dict[str, Interval]
    station: str = ""
    label: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as in the JSON output, with half widths if there are several runs."""
        intervals = {SAVED: self.saved_percent, **self.measures}
        several = self.saved_percent.replications > 1
        widths = (
            {"half_width_95": {name: interval.half_width for name, interval in intervals.items()}}
            if several
            else {}
        )
        means = {name: interval.mean for name, interval in intervals.items()}
        label = {"label": self.label} if self.label else {}
        station = {"station": self.station} if self.station else {}
        return {"policy": self.policy, **label, **station, "against": self.against, **means, **widths}


def paired_difference(run: Result, reference: Result) -> PairedDifference:
    """Return the difference of a run from a reference run on the same pages."""
    measures = {name: _interval(run, reference, _subtract(MEASURES[name])) for name in _COMPARED}
    saved_percent = _interval(run, reference, _saved_percent)
    identity = run.policy, reference.policy
    return PairedDifference(*identity, saved_percent, measures, run.station, run.policy_label)


def _interval(run: Result, reference: Result, value: Callable[[Result, Result], float]) -> Interval:
    return confidence_interval(
        drop_nan(value(*pair) for pair in zip(replications_of(run), replications_of(reference), strict=True))
    )


def replications_of(run: Result) -> tuple[Result, ...]:
    """Return the independent runs that a result averages, or the result itself if there is only one."""
    return run.results if isinstance(run, Average) and run.HAS_INTERVALS else (run,)


def _subtract(measure: Callable[[Result], float]) -> Callable[[Result, Result], float]:
    return lambda run, reference: measure(run) - measure(reference)


def _saved_percent(run: Result, reference: Result) -> float:
    reference_j = reference.energy_per_page_j
    return 100 * (1 - run.energy_per_page_j / reference_j) if reference_j else nan
