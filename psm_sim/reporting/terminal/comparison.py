"""Comparison of policies as a table for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

from psm_sim.reporting.terminal.console import console_on
from psm_sim.simulation.preset import load_preset
from psm_sim.spec import split_commas

if TYPE_CHECKING:
    from psm_sim.simulation import ClientAverage, Comparison, Result

Columns = tuple[tuple[str, Callable[["Result"], float]], ...]

COLUMNS: Columns = (
    ("energy\nJ", lambda run: run.energy_per_page_j),
    ("awake\nJ", lambda run: run.energy_by_state_per_page_j["awake"]),
    ("asleep\nJ", lambda run: run.energy_by_state_per_page_j["asleep"]),
    ("beacons\nJ", lambda run: run.energy_by_state_per_page_j["beacons"]),
    ("\nheard", lambda run: run.beacons_per_page),
    ("time s\nmean", lambda run: run.page_time_s.mean),
    ("\np95", lambda run: run.page_time_s.p95),
    ("slowdown\nmean", lambda run: run.slowdown.mean),
    ("\nmax", lambda run: run.slowdown.max),
)
"""Heading and value of each column after the policy's name; together they fit in 80 columns of text."""


def _spread(measure: str) -> Callable[[Result], float]:
    """Return a function that reads half the width of the interval of an average over clients."""
    return lambda run: cast("ClientAverage", run).interval(measure).half_width


OF_CLIENTS: Columns = (
    *COLUMNS[:1],
    ("\n±", _spread("energy_per_page_j")),
    *COLUMNS[1:4],
    ("time s\nmean", lambda run: run.page_time_s.mean),
    ("\n±", _spread("page_time_s.mean")),
    ("slowdown\nmean", lambda run: run.slowdown.mean),
    ("\n±", _spread("slowdown.mean")),
    ("\nmax", lambda run: run.slowdown.max),
)
"""The columns for averages over several clients."""

_ROOMY = 100
"""Width in columns from which a policy is written in one line, and its numbers stand further apart."""


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write one row per policy, and under the table what it was measured on.

    Parameters
    ----------
    comparison : Comparison
        The runs to show.
    stream : text file
        Where to write, usually standard output.
    preset : str
        The name of the preset that was used, for the caption; empty for none.
    """
    from rich.text import Text

    with console_on(stream) as console:
        columns = OF_CLIENTS if clients_of(comparison) else COLUMNS
        console.print(_table(comparison.runs, columns, roomy=console.width >= _ROOMY))
        console.print()
        for line in caption(comparison, preset):
            console.print(Text(line))


def caption(comparison: Comparison, preset: str = "") -> list[str]:
    """Return the lines that a reader needs to repeat the run and to read its numbers."""
    clients = clients_of(comparison)
    named = f", preset {preset}" if preset else ""
    settings = "".join(f", {key}={value}" for key, value in comparison.settings.items())
    pages = f"{comparison.pages} page{'' if comparison.pages == 1 else 's'} of trace {comparison.trace}"
    remark = comparison.workload.remark.rstrip(".")
    spread = f"± is half of the 95 % interval (Student's) of a mean over {clients} clients."
    chip = f", profile {comparison.scenario.profile}" if comparison.scenario.profile else ""
    return [
        "Energy, beacons and page time are per page; slowdown is against the same page without power saving.",
        *([spread] if clients else []),
        f"{pages}, seed {comparison.seed}, topology {_topology(comparison)}{chip}{named}{settings}.",
        f"{comparison.workload.name}: {remark}.",
        *reports(comparison.runs),
        *currents(comparison.runs),
        *([f"{load_preset(preset).note()}."] if preset else []),
    ]


def reports(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy that measured something itself, such as the mean wait reached."""
    told = [
        (run.policy, [f"{name} {value:.4g}" for name, value in run.policy_report.items()]) for run in runs
    ]
    return [f"{policy}: {', '.join(words)}." for policy, words in told if words]


def currents(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy with its mean current and how long the battery lasts, where known."""
    lines = []
    for run in runs:
        days = "" if run.battery_days is None else f", battery {run.battery_days:.4g} days"
        if run.mean_current_ma is not None:
            lines.append(f"{run.policy}: mean current {run.mean_current_ma:.4g} mA{days}.")
    return lines


def _topology(comparison: Comparison) -> str:
    """Return the topology's name and, of one that is not bundled, in what it differs from one that is."""
    base, differs = comparison.place.base, comparison.topology_differs
    if comparison.topology == base:
        return base
    named = [f"{key}={_plain(value)}" for key, value in differs.items()]
    more = [f"and {len(named) - _NAMED} more"] if len(named) > _NAMED else []
    words = " with " + ", ".join((*named[:_NAMED], *more)) if named else ""
    return f"{comparison.topology}: {base}{words}"


def _plain(value: object) -> str:
    """Return a value as one writes it after ``--set``."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


_NAMED = 3
"""How many keys of a topology the caption names."""


def clients_of(comparison: Comparison) -> int:
    """Return the number of clients that were averaged over; 0 for a single run."""
    return len(getattr(comparison, "clients", ()))


def _table(runs: Sequence[Result], shown: Columns, *, roomy: bool) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, int(roomy)), show_edge=False, header_style="bold")
    table.add_column("\npolicy", overflow="fold")
    for heading, _ in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    columns = [aligned([value(run) for run in runs]) for _, value in shown]
    for run, *cells in zip(runs, *columns, strict=True):
        table.add_row(Text(run.policy if roomy else _stacked(run.policy)), *cells)
    return table


def _stacked(policy: str) -> str:
    """Return a policy with one line per parameter, for a narrow terminal."""
    name, *parameters = [part for half in policy.split(":", 1) for part in split_commas(half)]
    return "\n ".join([f"{name}:" if parameters else name, *parameters])


def aligned(values: Sequence[float]) -> list[str]:
    """Format the numbers of one column with as many decimals as its largest leaves room for, 3 at most."""
    largest = max(abs(value) for value in values)
    decimals = 3 if largest < 1 else max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values]
