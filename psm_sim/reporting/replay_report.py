"""A replay as a table, as one JSON object and as CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.reporting.console import console_on
from psm_sim.reporting.json_report import to_text

if TYPE_CHECKING:
    from psm_sim.experiments.replay import Method, ReplayedClient


def to_dict(trace: str, seed: int, method: Method, clients: Sequence[ReplayedClient]) -> dict[str, Any]:
    """Return a replay as plain values: how it was made, and ``runs``, one a client."""
    return {
        "psm_sim": __version__,
        "trace": trace,
        "seed": seed,
        "parameters": method.parameters,
        "runs": [client.to_dict() for client in clients],
    }


def write(values: dict[str, Any], form: str, stream: TextIO) -> None:
    """Write what :func:`to_dict` returned, as ``table``, ``json`` or ``csv``."""
    if form == "json":
        stream.write(to_text(values))
    elif form == "csv":
        _write_csv(values, stream)
    else:
        _write_tables(values, stream)


def _write_csv(values: dict[str, Any], stream: TextIO) -> None:
    """Write a row a client; nested names are joined by a dot, as ``regret.mixture.best_expert``."""
    rows = []
    for run in values["runs"]:
        facts = {key: value for key, value in run.items() if key not in _NOT_IN_CSV}
        shared = {"trace": values["trace"], "seed": values["seed"], **values["parameters"]}
        rows.append(_flat({**shared, **facts}))
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


_NOT_IN_CSV = ("remark", "trace_parameters", "expert_losses")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _write_tables(values: dict[str, Any], stream: TextIO) -> None:
    from rich.text import Text

    parameters = values["parameters"]
    with console_on(stream) as console:
        for run in values["runs"]:
            for line in _facts(run):
                console.print(Text(line))
            console.print(_losses(run))
            console.print()
        for line in _caption(values, parameters):
            console.print(Text(line))


def _facts(run: dict[str, Any]) -> list[str]:
    polling = run["polling_ms"]
    polls = f"{run['polls']:,} poll{'' if run['polls'] == 1 else 's'}"
    left = run["trace_bytes"] - run["bytes"]
    rest = f", {left:,} more had not come" if left else ", all there are"
    duration, span = _duration(run["replayed_s"]), f"{polling['min']:g} to {polling['max']:g} ms"
    return [
        f"{run['client']}: {polls} in {duration}, {run['bytes']:,} bytes held{rest}",
        f"polling time {polling['mean']:.1f} ms in the mean, from {span}",
    ]


def _losses(run: dict[str, Any]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    table.add_column("\nloss of")
    headings = ("\nnats", "a poll\nmillinats", "regret of\nthe mixture", "regret of the\npolling time")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    loss, best, regret = run["loss"], run["best_expert"], run["regret"]
    each = 1e3 / run["polls"]
    for name, nats, against in (
        ("learner: mixture", loss["mixture"], None),
        ("learner: polling time used", loss["suffered"], None),
        (f"best fixed expert, {best['ms']:g} ms", best["loss"], "best_expert"),
        ("best expert of each poll", run["current_best_loss"], "current_best"),
    ):
        regrets = [_number(regret[of][against]) if against else "" for of in ("mixture", "suffered")]
        table.add_row(name, _number(nats), f"{nats * each:.3f}", *regrets)
    return table


def _caption(values: dict[str, Any], parameters: dict[str, Any]) -> list[str]:
    gamma = "" if parameters["gamma"] is None else f", gamma {parameters['gamma']:g}"
    rounded = f"rounded to {parameters['round_ms']:g} ms" if parameters["round_ms"] else "not rounded"
    shown = {run["remark"] for run in values["runs"]}
    experts = f"{parameters['min_ms']:g} to {parameters['max_ms']:g} ms by {parameters['step_ms']:g}"
    learner = f"{parameters['learner']}, loss {parameters['loss']}{gamma}"
    return [
        f"{learner}; experts {experts}, polling times {rounded}; seed {values['seed']}.",
        *(f"{values['trace']}: {remark}." for remark in sorted(shown)),
    ]


def _number(value: float) -> str:
    """Return *value* with five digits or so, and a real minus."""
    size = abs(value)
    decimals = 4 if size < 1 else max(0, 3 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}"


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
