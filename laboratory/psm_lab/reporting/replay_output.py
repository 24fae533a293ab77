"""Output of a replay as a table or JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.common.formatting import format_seconds
from psm_sim.reporting.columns import Column, text_column
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.terminal.console import console_on, print_lines, print_table

if TYPE_CHECKING:
    from psm_lab.replay.replay_config import ReplayConfig
    from psm_lab.replay.trace_replay import ReplayedClient


def to_dict(trace: str, seed: int, method: ReplayConfig, clients: Sequence[ReplayedClient]) -> dict[str, Any]:
    """Return a replay as plain values, with its settings and ``runs``, one for each of the *clients*.

    *trace* and *seed* are those of the user, and *method* is the configuration of polling and learning.
    """
    return {
        "psm_sim": __version__,
        "trace": trace,
        "seed": seed,
        "parameters": method.parameters,
        "runs": [client.to_dict() for client in clients],
    }


def write(values: dict[str, Any], form: str, stream: TextIO) -> None:
    """Write the *values* of :func:`to_dict` to *stream*; *form* is ``"table"`` or ``"json"``."""
    if form == "json":
        stream.write(to_text(values))
    else:
        _write_table(values, stream)


def _write_table(values: dict[str, Any], stream: TextIO) -> None:
    """Write one table per client, and a caption."""
    with console_on(stream) as console:
        for run in values["runs"]:
            print_lines(console, _summary(run))
            print_table(console, _losses(run))
            console.print()
        print_lines(console, _caption(values))


def _summary(run: dict[str, Any]) -> list[str]:
    polling = run["polling_ms"]
    polls = f"{run['polls']:,} poll{'' if run['polls'] == 1 else 's'}"
    left = run["trace_bytes"] - run["bytes"]
    rest = f", {left:,} bytes arrive later" if left else ", the whole trace"
    duration, limits = format_seconds(run["replayed_s"]), f"{polling['min']:g} to {polling['max']:g} ms"
    return [
        f"{run['client']}: {polls} in {duration}, {run['bytes']:,} bytes retrieved{rest}",
        f"mean polling time {polling['mean']:.1f} ms, range {limits}",
    ]


def _losses(run: dict[str, Any]) -> list[Column]:
    loss, best, regret = run["loss"], run["best_expert"], run["regret"]
    nats = {
        "learner: mixture": loss["mixture"],
        "learner: polling time used": loss["suffered"],
        f"best fixed expert, {best['ms']:g} ms": best["loss"],
        "best expert of each poll": run["current_best_loss"],
    }
    regrets = {
        kind: ["", "", *(_number(regret[kind][each]) for each in ("best_expert", "current_best"))]
        for kind in ("mixture", "suffered")
    }
    return [
        text_column("loss of", list(nats)),
        Column("nats", list(map(_number, nats.values()))),
        Column(
            "millinats", [f"{1e3 * value / run['polls']:.3f}" for value in nats.values()], unit="per poll"
        ),
        Column("regret of the", regrets["mixture"], "mixture"),
        Column("regret of the", regrets["suffered"], "polling time"),
    ]


def _caption(values: dict[str, Any]) -> list[str]:
    parameters = values["parameters"]
    gamma = "" if parameters["gamma"] is None else f", gamma {parameters['gamma']:g}"
    remarks = {run["remark"] for run in values["runs"]}
    experts = f"{parameters['min_ms']:g} to {parameters['max_ms']:g} ms by {parameters['step_ms']:g}"
    learner = f"{parameters['learner']}, loss {parameters['loss']}{gamma}"
    return [
        f"{learner}; experts {experts}; seed {values['seed']}.",
        *(f"{values['trace']}: {remark}." for remark in sorted(remarks)),
    ]


def _number(value: float) -> str:
    """Return *value* with four or five digits."""
    size = abs(value)
    decimals = 4 if size < 1 else max(0, 3 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}"
