"""Results of a sweep: table of its tasks, policies on the Pareto front, and points of a plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.campaign.sweep.planning import LABEL
from psm_sim.campaign.sweep.store import ENERGY, SLOWDOWN, StoredRow
from psm_sim.common.component_spec import name_of
from psm_sim.common.errors import InputError
from psm_sim.common.registry import unknown_name_error
from psm_sim.common.summary_stats import Interval, confidence_interval

if TYPE_CHECKING:
    import pandas as pd

TASK_COLUMNS = ("policy", "name", "trace", "topology", "pages", "seed", "state")
"""Columns before the parameters: policy spec, label or name of the policy, scenario and state."""

_CONFIDENCE = 0.95
_ROUNDING = 1e-9
"""Relative difference below which two values are equal."""


def table_rows(rows: Iterable[StoredRow]) -> list[dict[str, Any]]:
    """Return rows as dictionaries with the same keys in the same order. Missing values are None.

    Each ``[[stations]]`` table has its own row, with the parameter ``station``. The keys are
    :data:`TASK_COLUMNS`, the parameters, the measures and ``error``.
    """
    rows = _split(rows)
    parameters = dict.fromkeys(key for row in rows for key in row.parameters)
    measures = dict.fromkeys(key for row in rows for key in row.measures)
    return [
        {
            **{column: _task_value(row, column) for column in TASK_COLUMNS},
            **{key: row.parameters.get(key) for key in parameters},
            **{key: row.measures.get(key) for key in measures},
            "error": row.error or None,
        }
        for row in rows
    ]


def table_frame(rows: Iterable[StoredRow]) -> pd.DataFrame:
    """Return rows as a DataFrame. See :func:`table_rows` for the columns."""
    import pandas as pd

    return pd.DataFrame(table_rows(rows))


def _split(rows: Iterable[StoredRow]) -> list[StoredRow]:
    """Return a row for each task and table of stations."""
    return [each for row in rows for each in row.by_station()]


def _task_value(row: StoredRow, column: str) -> Any:
    return _name(row) if column == "name" else getattr(row, column)


def _name(row: StoredRow) -> str:
    """Return the label of the policy if it has one, else its name without parameters."""
    return str(row.parameters.get(LABEL) or name_of(row.policy, "policy"))


def select_rows(rows: Sequence[StoredRow], where: Mapping[str, str]) -> list[StoredRow]:
    """Return the rows whose columns have the values of *where*. Numbers are compared as numbers.

    Raises
    ------
    InputError
        If a column is unknown.
    """
    rows = _split(rows)
    records = table_rows(rows)
    for key in where:
        if records and key not in records[0]:
            raise unknown_name_error("column", key, list(records[0]))
    pairs = zip(rows, records, strict=True)
    return [row for row, record in pairs if all(_equals(record[key], text) for key, text in where.items())]


def _equals(value: Any, text: str) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return bool(value == float(text))
        except ValueError:
            return False
    return str(value) in (text, text.capitalize())  # "true" selects True


@dataclass(frozen=True)
class Candidate:
    """Results of one policy in one scenario for all seeds.

    Attributes
    ----------
    rows : tuple of StoredRow
        Finished tasks, one for each seed.
    is_optimal : str
        Whether the policy is Pareto-optimal: ``"yes"``, ``"undecided"`` or ``"no"``. It is empty if the
        policies were not compared, or if a single seed gives no confidence intervals.
    """

    rows: tuple[StoredRow, ...]
    is_optimal: str = ""

    @property
    def policy(self) -> str:
        """Spec of the policy, as the user wrote it."""
        return self.rows[0].policy

    @property
    def name(self) -> str:
        """Label of the policy if it has one, else its name without parameters."""
        return _name(self.rows[0])

    @property
    def label(self) -> str:
        """Label of the policy if it has one, else its spec."""
        return str(self.rows[0].parameters.get(LABEL, self.policy))

    @property
    def scenario(self) -> dict[str, Any]:
        """Trace, topology, number of pages and the topology keys that were set."""
        return scenario_of(self.rows[0])

    @property
    def parameters(self) -> dict[str, Any]:
        """Scenario, with the parameters of the policy and the trace."""
        own = {key: value for key, value in self.rows[0].parameters.items() if key != LABEL}
        return {**self.scenario, **own}

    @property
    def measures(self) -> list[str]:
        """Names of the measures that are numbers in all rows."""
        first = self.rows[0].measures
        return [name for name in first if all(_is_number(row.measures.get(name)) for row in self.rows)]

    def interval(self, measure: str) -> Interval:
        """Return the mean over all seeds of a measure, with its 95 % Student's t interval."""
        return confidence_interval([row.measures[measure] for row in self.rows])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def scenario_of(row: StoredRow) -> dict[str, Any]:
    """Return the parameters of a row except for those of its policy and its seed."""
    settings = {
        key: value for key, value in row.parameters.items() if not key.startswith(("policy.", "trace."))
    }
    return {"trace": row.trace, "topology": row.topology, "pages": row.pages, **settings}


def varying_keys(scenarios: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between scenarios, in order of first occurrence."""
    records = list(scenarios)
    keys = dict.fromkeys(key for record in records for key in record)
    return [key for key in keys if len({repr(record.get(key)) for record in records}) > 1]


def candidates(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Group the finished tasks that differ only in the seed, in the order of *rows*.

    The results of each ``[[stations]]`` table are a group of their own.
    """
    groups: dict[tuple[Any, ...], list[StoredRow]] = {}
    for row in _split(rows):
        if row.state == "done":
            groups.setdefault((row.policy, *scenario_of(row).items()), []).append(row)
    return [Candidate(tuple(group)) for group in groups.values()]


def pareto_front(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Return the candidates that no other one dominates, scenario after scenario, by increasing energy.

    Two candidates are compared by the differences of their energies and slowdowns for the seeds that they
    share. A candidate dominates another one if the 95 % Student's t intervals of the mean differences show
    that it is not worse in either and better in at least one. A candidate is Pareto-optimal if each other
    one is worse in at least one, or equal in both. It is undecided if the intervals allow neither
    conclusion. With a single seed there are no intervals, and the values are compared as they are.
    """
    scenarios: dict[tuple[Any, ...], list[Candidate]] = {}
    for candidate in candidates(rows):
        scenarios.setdefault(tuple(candidate.scenario.items()), []).append(candidate)
    front = []
    for group in scenarios.values():
        members = [
            replace(member, is_optimal=verdict)
            for member, verdict in zip(group, _verdicts(group), strict=True)
            if verdict != "no"
        ]
        front += sorted(members, key=lambda member: member.interval(ENERGY).mean)
    return front


def _verdicts(group: Sequence[Candidate]) -> list[str]:
    """Return whether each candidate of a scenario is Pareto-optimal."""
    seeds: dict[int, int] = {}
    for row in (row for candidate in group for row in candidate.rows):
        seeds.setdefault(row.seed, len(seeds))
    values = np.full((2, len(group), len(seeds)), np.nan)
    for index, candidate in enumerate(group):
        for row in candidate.rows:
            values[:, index, seeds[row.seed]] = row.measures[ENERGY], row.measures[SLOWDOWN]
    optimal, undecided = ("yes", "undecided") if len(seeds) > 1 else ("", "")
    verdicts = []
    for index in range(len(group)):
        low, high = _intervals_of_differences(values, values[:, index : index + 1])
        is_dominated = ((high <= 0).all(axis=0) & (high < 0).any(axis=0)).any()
        is_worse = (low > 0).any(axis=0) | ((low == 0) & (high == 0)).all(axis=0)
        verdicts.append("no" if is_dominated else optimal if is_worse.all() else undecided)
    return verdicts


def _intervals_of_differences(
    values: NDArray[np.float64], reference: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the confidence intervals of the mean differences along the last axis.

    Values that one of both lacks are nan. An interval is infinite if they share fewer than two values,
    unless there is only one value at all.
    """
    from scipy.special import stdtrit

    with np.errstate(all="ignore"):  # values of 1e300
        differences = values - reference
        differences[np.abs(differences) <= _ROUNDING * np.abs(reference)] = 0.0
        count = (~np.isnan(differences)).sum(axis=-1)
        freedom = np.maximum(count - 1, 1)
        mean = np.nansum(differences, axis=-1) / np.maximum(count, 1)
        variance = np.nansum((differences - mean[..., None]) ** 2, axis=-1) / freedom
        half_width = stdtrit(freedom, (1 + _CONFIDENCE) / 2) * np.sqrt(variance / np.maximum(count, 1))
    half_width[count < min(2, differences.shape[-1])] = np.inf
    return mean - half_width, mean + half_width


class Point(NamedTuple):
    """Point of a series.

    Attributes
    ----------
    series : str
        Name of the series.
    x : object
        Interval for a measure, or the value of a parameter.
    y : Interval
        Value on the y-axis.
    swept : str
        Name of the only parameter in which the points of the series differ; empty if there are several.
    value : object
        Value of this parameter.
    """

    series: str
    x: Any
    y: Interval
    swept: str = ""
    value: Any = None


def swept_parameter(group: Sequence[Candidate]) -> str:
    """Return the only parameter in which candidates differ; empty if there is none, or several."""
    keys = varying_keys(each.parameters for each in group)
    return keys[0] if len(keys) == 1 else ""


def series_names(candidates: Sequence[Candidate]) -> list[str]:
    """Return the name of the series of each candidate, so that each series has one curve.

    A series has the candidates of one name. If they differ in several parameters, those with texts as values
    tell the series apart, such as the loss of ``lpsm`` from its ``gamma``.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.name, []).append(candidate)
    texts = {name: _text_keys(group) for name, group in groups.items()}
    return [_series_name(candidate, texts[candidate.name]) for candidate in candidates]


def _text_keys(group: Sequence[Candidate]) -> list[str]:
    """Return the policy parameters with varying texts, if other parameters vary as well."""
    keys = varying_keys(each.parameters for each in group)
    texts = [
        key
        for key in keys
        if key.startswith("policy.") and any(isinstance(each.parameters.get(key), str) for each in group)
    ]
    return texts if len(texts) < len(keys) else []


def _series_name(candidate: Candidate, keys: Sequence[str]) -> str:
    pairs = [f"{key.rpartition('.')[2]}={candidate.parameters.get(key)}" for key in keys]
    return f"{candidate.name}:{','.join(pairs)}" if pairs else candidate.name


def describe_scenarios(rows: Iterable[StoredRow]) -> str:
    """Return what the finished tasks have in common, for titles: trace, topology, pages, settings, seeds."""
    done = [row for row in rows if row.state == "done"]
    scenarios = [scenario_of(row) for row in done]
    varying = varying_keys(scenarios)
    shared = [f"{key} {value}" for key, value in scenarios[0].items() if key not in varying]
    seeds = sorted({row.seed for row in done})
    return ", ".join([*shared, f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"])


def plot_points(rows: Iterable[StoredRow], x: str, y: str, by: str) -> list[Point]:
    """Return the points of a plot, which are means over the seeds of the finished tasks among *rows*.

    *x* is a measure or a parameter, and *y* is a measure. *by* is the parameter that distinguishes the
    series; ``name`` stands for :func:`series_names`.

    Raises
    ------
    InputError
        If a column is unknown, *y* is not a measure, or two points of a series have the same value of the
        parameter *x* because they differ in another parameter.
    """
    grouped = candidates(rows)
    measures = list(dict.fromkeys(name for candidate in grouped for name in candidate.measures))
    parameters = [*TASK_COLUMNS, *dict.fromkeys(key for each in grouped for key in each.rows[0].parameters)]
    for name, columns in ((x, [*measures, *parameters]), (y, measures), (by, parameters)):
        if grouped and name not in columns:
            raise unknown_name_error("column", name, columns)
    records = [(candidate, table_rows(candidate.rows[:1])[0]) for candidate in grouped]
    done = [(each, record) for each, record in records if record.get(x) is not None and y in each.measures]
    if not done:
        raise InputError(f"No finished task has {x}; run the sweep, or select other tasks with --where.")
    names = series_names([candidate for candidate, _ in done])
    series_of = {
        id(candidate): name if by == "name" else str(record.get(by, ""))
        for (candidate, record), name in zip(done, names, strict=True)
    }
    groups: dict[str, list[Candidate]] = {}
    for candidate, _ in done:
        groups.setdefault(series_of[id(candidate)], []).append(candidate)
    swept = {series: swept_parameter(group) for series, group in groups.items()}
    points, first = [], dict[tuple[str, Any], Candidate]()
    for candidate, record in done:
        series, x_is_measure = series_of[id(candidate)], x in candidate.measures
        other = candidate if x_is_measure else first.setdefault((series, record[x]), candidate)
        if other is not candidate:
            keys = varying_keys({"policy": twin.policy, **twin.scenario} for twin in (other, candidate))
            raise InputError(
                f"Several points of {by} {series!r} at {x} {record[x]!r} differ in "
                f"{', '.join(keys)}; select one with --where {keys[0]}=VALUE, or use --by {keys[0]}."
            )
        value = candidate.interval(x) if x_is_measure else record[x]
        key = swept[series]
        points.append(Point(series, value, candidate.interval(y), key, record.get(key)))
    return points
