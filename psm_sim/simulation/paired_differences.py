"""Differences between two policies, paired by run, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.simulation.failed_pages import drop_nan
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_averages import MEASURES, Average

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
    """

    policy: str
    against: str
    saved_percent: Interval
    measures: dict[str, Interval]

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
        return {"policy": self.policy, "against": self.against, **means, **widths}


def paired_difference(run: Result, reference: Result) -> PairedDifference:
    """Return the difference of a run from a reference run on the same pages."""
    measures = {name: _interval(run, reference, _subtract(MEASURES[name])) for name in _COMPARED}
    return PairedDifference(run.policy, reference.policy, _interval(run, reference, _saved_percent), measures)


def _interval(run: Result, reference: Result, value: Callable[[Result, Result], float]) -> Interval:
    return confidence_interval(
        drop_nan(value(*pair) for pair in zip(_runs_of(run), _runs_of(reference), strict=True))
    )


def _runs_of(run: Result) -> tuple[Result, ...]:
    return run.results if isinstance(run, Average) else (run,)


def _subtract(measure: Callable[[Result], float]) -> Callable[[Result, Result], float]:
    return lambda run, reference: measure(run) - measure(reference)


def _saved_percent(run: Result, reference: Result) -> float:
    reference_j = reference.energy_per_page_j
    return 100 * (1 - run.energy_per_page_j / reference_j) if reference_j else nan
