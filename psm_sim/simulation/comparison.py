"""Comparison: several runs over the same pages, and what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psm_sim.formatting import format_pairs
from psm_sim.network import Topology, topology_differences
from psm_sim.simulation.display import table_text, trade_off
from psm_sim.simulation.paired_differences import PairedDifference, paired_difference
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


_MAIN = (
    "policy",
    "energy_per_page_j",
    "difference.energy_saved_percent",
    "page_time_s.mean",
    "slowdown.mean",
    "slowdown.max",
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several runs over the same pages, in the order the policies were given.

    ``place`` is the topology with the value of every key, ``workload`` the pages, ``always_on`` the run
    without power saving that every slowdown is measured against. ``baselines`` stand above them though
    nobody asked for them, and ``reference`` is what energy and slowdown are compared with, if anything.
    """

    scenario: Scenario
    resolved_topology: Topology
    workload: Workload
    runs: tuple[Result, ...]
    always_on: Result
    baselines: tuple[Result, ...] = ()
    reference: Result | None = None

    def __str__(self) -> str:
        return table_text(self)

    def __repr__(self) -> str:
        policies = ", ".join(run.policy for run in self.runs)
        return f"<{type(self).__name__} of {policies}: {self.trace}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        """Return the main columns as HTML, for notebooks; every name is escaped."""
        shown = self.frame.reindex(columns=[name for name in _MAIN if name in self.frame])
        return shown.to_html(index=False, float_format="{:.4g}".format)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per policy shown; nested values are columns joined by a dot, as ``slowdown.mean``."""
        import pandas as pd

        return pd.json_normalize([self._row(run) for run in self.shown])

    def _row(self, run: Result) -> dict[str, Any]:
        row = {key: value for key, value in run.to_dict().items() if not isinstance(value, list)}
        less = {} if self.reference is None else paired_difference(run, self.reference).to_dict()
        less.pop("policy", None)
        return {
            **row,
            "parameters": format_pairs(row["parameters"]),
            **({"difference": less} if less else {}),
            **self.facts,
        }

    @property
    def differences(self) -> list[PairedDifference]:
        """The difference of each policy shown from the reference; empty without a reference."""
        reference = self.reference
        return [] if reference is None else [paired_difference(run, reference) for run in self.shown]

    @property
    def facts(self) -> dict[str, Any]:
        """The trace, topology, settings and seed, as they stand in every frame."""
        return self.scenario.facts

    def plot(self) -> Any:
        """Draw energy against slowdown, with hindsight's frontier; return the matplotlib figure."""
        return trade_off(self)

    @property
    def shown(self) -> tuple[Result, ...]:
        """The baselines, and the runs that are none of them."""
        return (
            *self.baselines,
            *(run for run in self.runs if not any(run is each for each in self.baselines)),
        )

    @property
    def trace(self) -> str:
        """The trace as the user wrote it."""
        return self.scenario.trace_name

    @property
    def topology(self) -> str:
        """The topology as the user wrote it."""
        return self.scenario.topology_name

    @property
    def topology_differs(self) -> dict[str, Any]:
        """The keys in which the topology, before profile and settings, differs from the bundled one."""
        told = {**self.scenario.chip, **self.settings, "faults.seed": None}
        return {
            key: value
            for key, value in topology_differences(self.resolved_topology).items()
            if key not in told
        }

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded."""
        return len(self.workload.pages)

    @property
    def seed(self) -> int:
        """The seed of everything drawn."""
        return self.scenario.seed

    @property
    def settings(self) -> dict[str, Any]:
        """The topology keys that were overridden, as they were given."""
        return dict(self.scenario.settings)
