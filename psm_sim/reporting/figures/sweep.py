"""Figure of a sweep: mean energy against mean slowdown or latency of each policy and scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.results import Candidate, candidates, delays_of, varying_keys
from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import parameters_of
from psm_sim.network.topology import parameter_of
from psm_sim.policies import POLICIES
from psm_sim.reporting.figures.canvas import add_legend, add_title, common_style, new_figure
from psm_sim.reporting.figures.comparison import plot_series
from psm_sim.reporting.marks import LABELS, Mark, axis_start, short_name
from psm_sim.reporting.style import policy_style
from psm_sim.simulation.table import ENERGY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_MARKS, MAX_SERIES = 2_000, 16
"""Maximum numbers of marks, and of series in the legend."""

_MAX_LABELLED = 40
"""Maximum number of marks of a series that are labelled with their values."""


def draw(rows: Sequence[TaskRow]) -> Figure:
    """Plot one mark per policy and scenario, with 95 % intervals over the seeds.

    If the marks of a series differ in a single parameter, they are joined in the order of this parameter and
    labelled with its values. If some scenarios have pages, scenarios without pages are left out. At least one
    task of *rows* must be done.
    """
    done = candidates(rows)
    delay = delays_of(done)[0]
    done = [candidate for candidate in done if delay in candidate.row.measures]
    series = _series(done[:MAX_MARKS])
    swept = dict.fromkeys(_label(key) for group in series.values() if (key := _swept_parameter(group)))
    notes = [f"marks: {', '.join(swept)}"] if swept else []
    notes += [f"{MAX_MARKS} of {len(done)} combinations"] if len(done) > MAX_MARKS else []
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    with common_style():
        for name, group in series.items():
            plot_series(axes, _marks(name, group, delay), delay, max_labelled=_MAX_LABELLED)
        axes.set_xlabel(LABELS[delay])
        axes.set_ylabel(LABELS[ENERGY])
        start = axis_start(delay, [candidate.interval(delay).mean for candidate in done[:MAX_MARKS]])
        if start is not None:
            axes.set_xlim(left=start)
    add_title(figure, [_describe(done), "; ".join(["means over seeds with 95 % intervals", *notes])])
    if len(series) <= MAX_SERIES:
        add_legend(figure, axes)
    return figure


def _series(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """Return the candidates of each series, by the name of the series.

    Candidates of the same name form a series. If they differ in text parameters of the policy, such as
    ``loss`` of ``lpsm``, and also in other parameters, each text has its own series.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.row.name, []).append(candidate)
    series: dict[str, list[Candidate]] = {}
    for name, group in groups.items():
        keys = varying_keys(candidate.row.inputs for candidate in group)
        texts = [
            key for key in keys if any(isinstance(candidate.row.inputs.get(key), str) for candidate in group)
        ]
        texts = [key for key in texts if key.startswith("policy.")]
        for candidate in group:
            pairs = [f"{key.rpartition('.')[2]}={candidate.row.inputs.get(key)}" for key in texts]
            full_name = f"{name}:{','.join(pairs)}" if 0 < len(texts) < len(keys) else name
            series.setdefault(full_name, []).append(candidate)
    return series


def _swept_parameter(group: Sequence[Candidate]) -> str:
    """Return the key of the parameter in which candidates differ; empty if they differ in several or none."""
    keys = varying_keys(candidate.row.inputs for candidate in group)
    return keys[0] if len(keys) == 1 else ""


def _label(key: str) -> str:
    owner, _, name = key.removeprefix("policy.").rpartition(".")
    try:
        if key.startswith("policy."):
            label, unit = f"{name} of {owner}", parameters_of(POLICIES.get(owner))[name].unit
        else:
            label, unit = key, parameter_of(key).unit
    except (InputError, KeyError):  # the policy file is gone, or the key is not a topology key
        return key
    return f"{label} ({unit})" if unit else label


def _marks(name: str, group: Sequence[Candidate], delay: str) -> list[Mark]:
    """Return the marks of a series. If one parameter varies, they are sorted by it and show its values."""
    swept = _swept_parameter(group)
    if swept:
        group = sorted(group, key=lambda each: _order(each.row.inputs.get(swept)))
    marks = []
    for candidate in group:
        value = candidate.row.inputs.get(swept)
        text = f"{value:g}" if isinstance(value, float) else short_name(str(value))
        intervals = {measure: candidate.interval(measure) for measure in (delay, ENERGY)}
        means = {measure: interval.mean for measure, interval in intervals.items()}
        half_widths = {measure: interval.half_width for measure, interval in intervals.items()}
        label = short_name(name)
        marks.append(Mark(label, name, policy_style(name), means, half_widths, text if swept else ""))
    return marks


def _order(value: Any) -> tuple[bool, bool, Any]:
    """Return a sort key that puts numbers before texts, and None last."""
    return value is None, isinstance(value, str), value if value is not None else 0


def _describe(done: Sequence[Candidate]) -> str:
    """Return the settings that all candidates share, such as ``"trace ucb, pages 100, seeds 1 to 5"``."""
    varying = varying_keys(candidate.row.scenario for candidate in done)
    shared = [f"{key} {value}" for key, value in done[0].row.scenario.items() if key not in varying]
    seeds = sorted({row.seed for candidate in done for row in candidate.rows})
    return ", ".join([*shared, f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"])
