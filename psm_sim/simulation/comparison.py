"""Results of several policies on the same pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psm_sim.common.formatting import format_pairs
from psm_sim.network import Topology, topology_differences
from psm_sim.simulation.paired_differences import PairedDifference, paired_difference
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_display import table_text, trade_off
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
    """Results of several policies on the same pages, as returned by :func:`psm_sim.compare`.

    Printing a comparison shows the table of the command line. A notebook displays its main columns.

    Attributes
    ----------
    scenario : Scenario
        Trace, topology, number of pages and seed.
    resolved_topology : Topology
        Topology with the values of all keys.
    workload : Workload
        The pages.
    runs : tuple of Result
        Results of the compared policies, in the given order.
    always_on : Result
        Run without power saving, the reference of every slowdown.
    baselines : tuple of Result
        Results of the baselines, which precede the policies in tables.
    reference : Result or None
        Result that energy and slowdown are compared with; None if there is no reference.

    See Also
    --------
    psm_sim.compare : Simulate several policies on the same pages.

    Examples
    --------
    >>> import psm_sim
    >>> comparison = psm_sim.compare(["lpsm"], pages=5)
    >>> [run.policy for run in comparison.shown]
    ['always-on', 'psm', 'lpsm']
    >>> psm, lpsm = comparison.frame["energy_per_page_j"].iloc[1:]
    >>> lpsm < psm
    True
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
        """Return the main columns as HTML for notebooks, with all names escaped."""
        shown = self.frame.reindex(columns=[name for name in _MAIN if name in self.frame])
        return shown.to_html(index=False, float_format="{:.4g}".format)

    @property
    def frame(self) -> pd.DataFrame:
        """The results as a DataFrame with one row per shown policy.

        Nested values are columns with dotted names, such as ``slowdown.mean``.
        """
        import pandas as pd

        return pd.json_normalize([self._row(run) for run in self.shown])

    def _row(self, run: Result) -> dict[str, Any]:
        row = {key: value for key, value in run.to_dict().items() if not isinstance(value, list)}
        difference = {} if self.reference is None else paired_difference(run, self.reference).to_dict()
        difference.pop("policy", None)
        return {
            **row,
            "parameters": format_pairs(row["parameters"]),
            **({"difference": difference} if difference else {}),
            **self.facts,
        }

    @property
    def differences(self) -> list[PairedDifference]:
        """Difference of each shown policy from the reference; empty without a reference."""
        reference = self.reference
        return [] if reference is None else [paired_difference(run, reference) for run in self.shown]

    @property
    def facts(self) -> dict[str, Any]:
        """Trace, topology, settings and seed, which are columns of every frame."""
        return self.scenario.facts

    def plot(self) -> Any:
        """Plot energy against slowdown, with the offline frontier. Return the matplotlib figure."""
        return trade_off(self)

    @property
    def shown(self) -> tuple[Result, ...]:
        """The baselines followed by all other runs."""
        return (
            *self.baselines,
            *(run for run in self.runs if not any(run is baseline for baseline in self.baselines)),
        )

    @property
    def trace(self) -> str:
        """The trace as the user specified it."""
        return self.scenario.trace_name

    @property
    def topology(self) -> str:
        """The topology as the user specified it."""
        return self.scenario.topology_name

    @property
    def topology_differs(self) -> dict[str, Any]:
        """Topology keys that differ from the bundled topology, apart from profile and settings."""
        reported = {**self.scenario.chip, **self.settings, "faults.seed": None}
        return {
            key: value
            for key, value in topology_differences(self.resolved_topology).items()
            if key not in reported
        }

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded."""
        return len(self.workload.pages)

    @property
    def seed(self) -> int:
        """The seed of all random values."""
        return self.scenario.seed

    @property
    def settings(self) -> dict[str, Any]:
        """The overridden topology keys, as specified."""
        return dict(self.scenario.settings)
