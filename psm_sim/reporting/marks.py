"""Marks of results in figures: measures with confidence intervals, styles, labels and titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from psm_sim.common.formatting import pluralize, truncate
from psm_sim.reporting.style import Style, distinct_styles
from psm_sim.simulation import Comparison, Result
from psm_sim.simulation.table import ENERGY, SLOWDOWN, Row, directions_of

POWER = "mean_power_mw"

LABELS = {
    ENERGY: "energy (J per page)",
    POWER: "mean power (mW)",
    SLOWDOWN: "slowdown, mean",
    "latency.p99_ms": "latency, 99th percentile (ms)",
    "latency.down.p99_ms": "downlink latency, 99th percentile (ms)",
    "latency.up.p99_ms": "uplink latency, 99th percentile (ms)",
    "latency.round_trip_down.p99_ms": "downlink round-trip latency, 99th percentile (ms)",
    "latency.round_trip_up.p99_ms": "uplink round-trip latency, 99th percentile (ms)",
}
"""Labels of the axes, by measure."""

BEST_KNOWN = "best known schedule"
"""Label of the frontier of :func:`~psm_sim.campaign.offline_pareto_frontier.pareto_frontier`."""

FAR = 3.0
"""Multiple of the lowest energy. Marks above it are omitted, because they would flatten the others."""

SLOWDOWN_TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)
"""Ticks of logarithmic slowdown axes."""

_MAX_NAME_LENGTH = 40  # half the width of a figure


@dataclass(frozen=True)
class Mark:
    """Result of a policy in a figure.

    Attributes
    ----------
    label : str
        Label in legends and on axes. Marks with the same label are one series.
    name : str
        Full name.
    style : Style
        Style of the policy.
    values : mapping of str to float
        Measures, by name.
    half_widths : mapping of str to float
        Half-widths of the 95 % confidence intervals of the measures.
    value : str
        Text beside the mark: the parameter value that distinguishes the mark within its series.
    """

    label: str
    name: str
    style: Style
    values: Mapping[str, float]
    half_widths: Mapping[str, float] = field(default_factory=dict)
    value: str = ""

    def ends(self, measure: str) -> tuple[float, float]:
        """Return the ends of the confidence interval of a measure; nan without an interval.

        The interval of a slowdown is cut at 1, the slowdown without delay.
        """
        value, half_width = self.values[measure], self.half_widths.get(measure, nan)
        low = value - half_width
        return (max(low, min(value, 1.0)) if measure == SLOWDOWN else low), value + half_width

    def is_cut(self, measure: str) -> bool:
        """Return whether :meth:`ends` cuts the interval of a measure."""
        return self.ends(measure)[0] > self.values[measure] - self.half_widths.get(measure, nan)


def marks_of(comparison: Comparison) -> list[Mark]:
    """Return the marks of a comparison, with confidence intervals over seeds or clients."""
    runs, measures = comparison.shown, (ENERGY, POWER, SLOWDOWN)
    return [
        Mark(
            label,
            run.label,
            style,
            {name: run[name] for name in measures} | _latencies_ms(run.row),
            {name: run.interval(name).half_width for name in measures} if run.replicate else {},
        )
        for run, label, style in zip(runs, labels_of(runs), styles_of(runs), strict=True)
    ]


def _latencies_ms(row: Row) -> dict[str, float]:
    names = directions_of(row)
    return {f"latency.{name}.p99_ms": 1000 * row[f"latency.{name}.latency_s.p99"] for name in names}


def labels_of(runs: Sequence[Result]) -> list[str]:
    """Return the labels of results. Long labels are truncated if they remain different."""
    short = [short_name(run.label) for run in runs]
    counts = Counter(short)
    return [label if counts[label] == 1 else run.label for label, run in zip(short, runs, strict=True)]


def styles_of(runs: Sequence[Result]) -> list[Style]:
    """Return the style of each result. Those of one policy differ if their labels or stations differ."""
    return distinct_styles([(run.policy, run.station or run.policy_label) for run in runs])


def axes_of(comparison: Comparison) -> tuple[str, str]:
    """Return the measures on the x and y axis: slowdown and energy; without pages, latency and power."""
    latency = next(iter(directions_of(comparison.runs[0].row)), None)
    if loads_pages(comparison) or latency is None:
        return SLOWDOWN, ENERGY
    return f"latency.{latency}.p99_ms", POWER


def loads_pages(comparison: Comparison) -> bool:
    """Return whether pages are loaded. Devices only exchange messages."""
    return any(run["loads_pages"] for run in comparison.runs)


def split_far(marks: Sequence[Mark], measure: str = ENERGY) -> tuple[list[Mark], list[Mark]]:
    """Return the marks up to :data:`FAR` times the lowest energy or power, and the marks above it."""
    limit = FAR * min(mark.values[measure] for mark in marks)
    near = [mark for mark in marks if mark.values[measure] <= limit]
    return near, [mark for mark in marks if mark.values[measure] > limit]


def axis_start(measure: str, values: Sequence[float]) -> float | None:
    """Return the lower limit of an axis: a little below 1 for slowdowns, and below 0 for latencies.

    Return None, which stands for an automatic limit, for other measures, or if a value is lower.
    """
    floor = {"slowdown": 1.0, "latency": 0.0}.get(measure.partition(".")[0])
    if floor is None or min(values) < floor:
        return None
    span = max(values) - floor
    return floor - 0.04 * (span if span > 0 else 1.0)


def short_name(text: str) -> str:
    """Return the name of a policy, trace or topology, truncated if it is too long for a legend."""
    return truncate(text, _MAX_NAME_LENGTH, "...")


def title_of(comparison: Comparison, runs: str = "") -> str:
    """Return the title of a figure: pages, trace, seeds or clients, topology, chip and preset.

    *runs* names the plotted seeds or clients, such as ``"seed 1"``. By default, all are plotted.
    """
    run = comparison.runs[0]
    if not runs and run.replicate:
        several = "" if run.replicate == "seed" else f"{len(run.parts)} {run.replicate}s, "
        runs = f"means over {several}{comparison.seed_range} with 95 % intervals"
    pages = f"{pluralize(comparison.pages, 'page')} of " if loads_pages(comparison) else ""
    scenario = comparison.scenario
    named = {"topology": scenario.topology_name, "profile": scenario.profile, "preset": comparison.preset}
    settings = "".join(f", {kind} {short_name(name)}" for kind, name in named.items() if name)
    return f"{pages}{short_name(scenario.trace_name)}, {runs or comparison.seed_range}{settings}"


def first_run(comparison: Comparison) -> str:
    """Return the name of the first seed or client, whose timelines are shown."""
    run = comparison.runs[0]
    if run.replicate:
        return f"{run.replicate} {run.names(run.replicate)[0]}"
    return comparison.seed_range
