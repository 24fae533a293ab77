"""Differences between two policies on the same pages, paired run by run, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

from psm_sim.simulation.failed_pages import drop_nan
from psm_sim.simulation.result import Result
from psm_sim.simulation.seed_average import MEASURES, Average
from psm_sim.summary_stats import Interval, confidence_interval

SAVED = "energy_saved_percent"

_COMPARED = ("energy_per_page_j", "page_time_s.mean", "slowdown.mean")


@dataclass(frozen=True)
class PairedDifference:
    """One policy less another, the reference; each interval is over the pairs of their runs.

    ``saved_percent`` is the reference's energy less the policy's, in per cent of the reference's;
    ``measures`` are the policy's less the reference's, named and in units as in the JSON output.
    """

    policy: str
    against: str
    saved_percent: Interval
    measures: dict[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Return it as the JSON output has it; half widths only where there are several runs."""
        every = {SAVED: self.saved_percent, **self.measures}
        several = self.saved_percent.replications > 1
        widths = {"half_width_95": {name: each.half_width for name, each in every.items()}} if several else {}
        means = {name: each.mean for name, each in every.items()}
        return {"policy": self.policy, "against": self.against, **means, **widths}


def paired_difference(run: Result, reference: Result) -> PairedDifference:
    """Return a run less the reference, which has the same pages."""
    measures = {name: _paired(run, reference, _less(MEASURES[name])) for name in _COMPARED}
    return PairedDifference(run.policy, reference.policy, _paired(run, reference, _saved_percent), measures)


def _paired(run: Result, reference: Result, value: Callable[[Result, Result], float]) -> Interval:
    return confidence_interval(
        drop_nan(value(*pair) for pair in zip(_runs_of(run), _runs_of(reference), strict=True))
    )


def _runs_of(run: Result) -> tuple[Result, ...]:
    return run.results if isinstance(run, Average) else (run,)


def _less(measure: Callable[[Result], float]) -> Callable[[Result, Result], float]:
    return lambda run, reference: measure(run) - measure(reference)


def _saved_percent(run: Result, reference: Result) -> float:
    whole_j = reference.energy_per_page_j
    return 100 * (1 - run.energy_per_page_j / whole_j) if whole_j else nan
