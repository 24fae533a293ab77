"""Result of a policy: the rows of its runs, and the values computed from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.common.errors import InputError, one_of
from psm_sim.common.formatting import pluralize
from psm_sim.common.summary_stats import Interval, Summary, confidence_interval, percentiles
from psm_sim.policies import Policy
from psm_sim.simulation.table import MEASURES, Block, Row, drop_nan, fold, measure, nested

if TYPE_CHECKING:
    import pandas as pd

_VALUES = (
    "pages",
    "simulated_s",
    "wall_s",
    "events",
    "energy_per_page_j",
    "energy_by_state_per_page_j",
    "time_by_state_s",
    "beacons_per_page",
    "page_time_s",
    "slowdown",
    "page_time_percentiles_s",
    "traffic",
)
"""First values of the JSON output of a result."""

_DISTRIBUTED = ("energy_per_page_j", "energy_by_state_per_page_j.awake", "page_time_s.mean", "slowdown.mean")
"""Values whose distribution over the stations is reported."""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Result of one policy, as returned by :func:`psm_sim.simulate`.

    Index a result with a name of the JSON output, such as ``result["page_time_percentiles_s.p90"]``. Over
    several seeds, clients or stations, values per page are means, ``max`` is a maximum, and totals such as
    ``simulated_s`` and ``events`` are sums. Page times and slowdowns cover the completed pages only. The
    energy per page is the energy of the whole run divided by the number of all pages.

    Printing a result shows its main values. A notebook displays them as a table.

    Attributes
    ----------
    blocks : tuple of Block
        Rows of each run. There is at least one run.
    levels : tuple of str
        Keys that distinguish the runs, such as ``("seed", "station")``; empty for a single run.
    facts : dict
        Trace, topology, battery, settings and seed.

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
    >>> result["energy_per_page_j"] == result.energy_per_page_j
    True
    >>> result.pages.shape[0]
    5
    """

    blocks: tuple[Block, ...]
    levels: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def row(self) -> Row:
        """All values by name."""
        return fold([part.row for part in self.parts]) if self.parts else measure(self.blocks[0])

    def __getitem__(self, name: str) -> Any:
        try:
            return self.row[name]
        except KeyError:
            names = [key for key in self.row if key.startswith(f"{name}.")] or self.row
            raise KeyError(f"unknown value {name!r}; expected {one_of(name, names)}") from None

    @cached_property
    def parts(self) -> tuple[Result, ...]:
        """A result for each seed, client or station; empty for a single run.

        With several seeds and stations, each part is a seed, and the parts of a seed are its stations.
        """
        if not self.levels:
            return ()
        level, *rest = self.levels
        groups = groupby(self.blocks, lambda block: block.keys[level])
        return tuple(
            Result(tuple(blocks), tuple(rest), {**self.facts, level: key} if level == "seed" else self.facts)
            for key, blocks in groups
        )

    @property
    def replicate(self) -> str:
        """What varies between the independent runs: ``"seed"``, ``"client"``, or empty for a single run.

        The stations of a run share a channel, so they are not independent.
        """
        return next((level for level in self.levels[:1] if level != "station"), "")

    @property
    def replicates(self) -> tuple[Result, ...]:
        """The independent runs; the result itself if there is only one."""
        return self.parts if self.replicate else (self,)

    def interval(self, name: str) -> Interval:
        """Return the mean of a value over the independent runs, with its 95 % confidence interval.

        Runs without a completed page are excluded, because they have no page time.
        """
        return confidence_interval(drop_nan(replicate.row[name] for replicate in self.replicates))

    def names(self, level: str) -> list[str]:
        """Return the different values of *level*, such as ``["1", "2", "3"]`` for ``"seed"``."""
        return list(dict.fromkeys(str(block.keys[level]) for block in self.blocks))

    @property
    def keys(self) -> Row:
        """Policy, seed, client and station of the first run."""
        return self.blocks[0].keys

    @property
    def policy(self) -> str:
        """The policy as the user specified it."""
        return str(self.keys["policy"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the policy that the stations follow, including the defaults."""
        return dict(self.keys["parameters"])

    @property
    def policy_label(self) -> str:
        """Label that the user gave the policy (``label=``); empty for none."""
        return str(self.keys["label"])

    @property
    def policy_name(self) -> str:
        """The label of the policy if it has one, else the policy."""
        return self.policy_label or self.policy

    @property
    def station(self) -> str:
        """Name of the ``[[stations]]`` table that the result describes; empty without such tables."""
        return str(self.keys["kind"])

    @property
    def station_policy(self) -> str:
        """Policy that the ``[[stations]]`` table sets; empty if the table sets no policy."""
        return str(self.keys["station_policy"])

    @property
    def label(self) -> str:
        """The name of the policy, followed by the name of the stations if the topology has several."""
        return f"{self.policy_name} ({self.station})" if self.station else self.policy_name

    @property
    def identity(self) -> dict[str, str]:
        """Dictionary with ``policy``, and with ``label``, ``station`` and ``station_policy`` if not empty."""
        values = {"label": self.policy_label, "station": self.station, "station_policy": self.station_policy}
        return {"policy": self.policy, **{name: value for name, value in values.items() if value}}

    @property
    def policy_state(self) -> Policy | None:
        """The policy after the run; None for several runs, or if the run was in another process."""
        return self.blocks[0].policy_state if len(self.blocks) == 1 else None

    @property
    def energy_per_page_j(self) -> float:
        """Energy per page, in joules."""
        return float(self.row["energy_per_page_j"])

    @property
    def page_time_s(self) -> Summary:
        """Summary of the page times, from the request of a page to its last byte, in seconds."""
        return self._summary("page_time_s")

    @property
    def slowdown(self) -> Summary:
        """Summary of the slowdowns: page time divided by the time of the same page without power saving."""
        return self._summary("slowdown")

    def _summary(self, name: str) -> Summary:
        return Summary(*(self.row[f"{name}.{statistic}"] for statistic in Summary._fields))

    @cached_property
    def pages(self) -> pd.DataFrame:
        """DataFrame with a row per page of each run: the columns of ``pages.csv``, policy and scenario."""
        import pandas as pd

        columns = [block.page_columns() for block in self.blocks]
        keys = {
            level: np.repeat([block.keys[level] for block in self.blocks], list(map(len, self.blocks)))
            for level in self.levels
        }
        values = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        label = {"label": self.policy_label} if self.policy_label else {}
        facts = {name: value for name, value in self.facts.items() if name not in keys}
        return pd.DataFrame({**keys, **values}).assign(policy=self.policy, **label, **facts)

    @property
    def failures(self) -> list[Row]:
        """Number and reason of each failed page, with its seed, client or station."""
        return [
            {**{level: str(block.keys[level]) for level in self.levels}, "page": page, "reason": reason}
            for block in self.blocks
            for page, reason in block.failures.items()
        ]

    def plot(self, *others: Result) -> Any:
        """Plot the timeline of the page with the median slowdown. Return the matplotlib figure.

        The same page of up to three *others* is plotted below it, with the same time axis.

        Raises
        ------
        InputError
            If the trace has no page views.
        """
        if not self.row["loads_pages"]:
            raise InputError(
                f"plot shows a page, and trace {self.facts['trace']} has none; use psm_sim.timeline."
            )
        from psm_sim.reporting.figures.timelines import draw_page_timeline

        return draw_page_timeline([self, *others])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as in the JSON output, with plain values."""
        row, level = self.row, self.levels[0] if self.levels else ""
        supply = [name for name in ("mean_current_ma", "battery_days") if name in row]
        return {
            **self.identity,
            "parameters": self.parameters,
            **nested(row, _VALUES),
            **(
                {"failed_pages": row["failed_pages"], "failures": self.failures}
                if "failed_pages" in row
                else {}
            ),
            **nested(row, [*supply, "policy_report", "pushes"]),
            **nested(
                {name: _nan_to_none(row[name]) for name in row if name.startswith("latency.")}, ["latency"]
            ),
            **(
                {"half_width_95": {name: self.interval(name).half_width for name in MEASURES}}
                if self.replicate
                else {}
            ),
            **({f"{level}s": self._part_rows(level)} if level else {}),
            **({"distribution": self._distribution()} if level == "station" else {}),
        }

    def _part_rows(self, level: str) -> list[Row]:
        """Return a dictionary for each of :attr:`parts`: name, number of pages and :data:`MEASURES`."""
        return [
            {
                level: name,
                **{key: part.row[key] for key in ("pages", "failed_pages", *MEASURES) if key in part.row},
            }
            for name, part in zip(self.names(level), self.parts, strict=True)
        ]

    def _distribution(self) -> Row:
        return {
            name: percentiles(drop_nan(part.row[name] for part in self.parts), (0, 10, 50, 90, 100))
            for name in _DISTRIBUTED
        }

    @property
    def key_numbers(self) -> str:
        """Energy and slowdown as text. Without page views, mean power and the largest p99 latency."""
        row = self.row
        if row["loads_pages"]:
            return f"{row['energy_per_page_j']:.4g} J, slowdown {row['slowdown.mean']:.4g}"
        current_ma = row.get("mean_current_ma")
        power = f"{row['mean_power_mw']:.4g} mW" if current_ma is None else f"{current_ma:.4g} mA"
        delays_s = [row[name] for name in row if name.endswith(".latency_s.p99")]
        return f"{power}, p99 {max(delays_s):.3g} s" if delays_s else power

    def __repr__(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self.facts.items() if value != "")
        several = f" of {len(self.parts)} {self.levels[0]}s" if self.levels else ""
        pages = pluralize(self.row["pages"], "page")
        return f"<Result of {self.label}: {self.key_numbers}; {pages}{several}; {facts}>"

    def __str__(self) -> str:
        values = self._main_values()
        width = max(map(len, values))
        return "\n".join([repr(self), *(f"{name:{width}}  {value:.4g}" for name, value in values.items())])

    def _repr_html_(self) -> str:
        """Return the main values as HTML for notebooks, with all names escaped."""
        import pandas as pd

        return pd.DataFrame({self.label: self._main_values()}).to_html(float_format="{:.4g}".format)

    def _main_values(self) -> dict[str, float]:
        states = nested(self.row, ["energy_by_state_per_page_j"])["energy_by_state_per_page_j"]
        return {
            "energy per page (J)": self.row["energy_per_page_j"],
            **{f"energy {name} (J)": value for name, value in states.items()},
            "page time, mean (s)": self.row["page_time_s.mean"],
            "slowdown, mean": self.row["slowdown.mean"],
            "slowdown, max": self.row["slowdown.max"],
        }


def _nan_to_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def complete_slowdowns(result: Result) -> list[float]:
    """Return the slowdowns of all pages without nan, or ``[nan]`` if none is left."""
    return drop_nan(np.concatenate([block.pages["slowdown"] for block in result.blocks]).tolist())


def describe_failures(failures: Sequence[Mapping[str, Any]]) -> str:
    """Format the reasons with their counts, the most frequent one first.

    *failures* is the list of the JSON output. If it names stations, the counts of each station are added.
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
