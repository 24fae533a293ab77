"""Writers of a replay as a table, JSON or CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.common.formatting import flatten
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.terminal import replay

if TYPE_CHECKING:
    from psm_sim.replay.replay_config import ReplayConfig
    from psm_sim.replay.trace_replay import ReplayedClient


def to_dict(trace: str, seed: int, method: ReplayConfig, clients: Sequence[ReplayedClient]) -> dict[str, Any]:
    """Return a replay as plain values, with its settings and ``runs``, one per client.

    Parameters
    ----------
    trace : str
        Trace, as named by the user.
    seed : int
        Seed of its pages.
    method : ReplayConfig
        Configuration of polling and learning.
    clients : sequence of ReplayedClient
        Results of the clients.
    """
    return {
        "psm_sim": __version__,
        "trace": trace,
        "seed": seed,
        "parameters": method.parameters,
        "runs": [client.to_dict() for client in clients],
    }


def write(values: dict[str, Any], form: str, stream: TextIO) -> None:
    """Write the values of :func:`to_dict`.

    Parameters
    ----------
    values : dict
        Replay as plain values.
    form : str
        ``"table"``, ``"json"`` or ``"csv"``.
    stream : text file
        Output stream.
    """
    if form == "json":
        stream.write(to_text(values))
    elif form == "csv":
        _write_csv(values, stream)
    else:
        replay.write(values, stream)


def _write_csv(values: dict[str, Any], stream: TextIO) -> None:
    """Write one row per client. Nested names are joined by dots, such as ``regret.mixture.best_expert``."""
    rows = []
    for run in values["runs"]:
        measures = {key: value for key, value in run.items() if key not in _NOT_IN_CSV}
        shared = {"trace": values["trace"], "seed": values["seed"], **values["parameters"]}
        rows.append(flatten({**shared, **measures}))
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


_NOT_IN_CSV = ("remark", "trace_parameters", "expert_losses")
