"""Columns of the figures of a replay: losses and weights per poll, with the first polls for a closer look.

Long replays have means over windows with equal numbers of polls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_lab.replay.replay_history import PollTable, ReplayHistory
from psm_lab.replay.trace_replay import ReplayedClient

LEARNER_LOSSES = ("mixture", "suffered")
"""Losses of the learner: of the mixture of the experts, and at the polling time used."""

_ZOOM = (300, 3_000)
_POLLS_WITH_BYTES = 60
_LONG_ZOOM = (2_000, 10_000)
_LONG_POLLS_WITH_BYTES = 300
"""Number of polls with bytes that is large enough to show the convergence of the learner."""

_WEIGHTS_ZOOM = 2000
"""Number of polls in the panel that zooms in on the start. It is large, because weights change slowly."""


def loss_columns(client: ReplayedClient) -> dict[str, list[Any]]:
    """Return the losses per poll of the whole replay and of its start, by column."""
    history = history_of(client)
    tables = (history.whole, opening(history, _LONG_POLLS_WITH_BYTES, _LONG_ZOOM))
    columns: dict[str, list[Any]] = {
        "panel": _panel_names(tables),
        "time_s": concat_columns(*(table.end_s for table in tables)),
        "polls": concat_columns(*(table.polls for table in tables)),
    }
    for name in LEARNER_LOSSES:
        columns[f"{name}_nats"] = concat_columns(*(table.facts[name] for table in tables))
    for index, ms in enumerate(client.replay.times_ms.tolist()):
        columns[f"expert_{ms:g}_ms_nats"] = concat_columns(*(table.losses[:, index] for table in tables))
    return columns


def weight_columns(client: ReplayedClient) -> dict[str, list[Any]]:
    """Return the weights of the whole replay and of its start, by column."""
    history = history_of(client)
    tables = (history.whole, history.beginning.first(_WEIGHTS_ZOOM))
    columns: dict[str, list[Any]] = {
        "panel": _panel_names(tables),
        "poll": concat_columns(*(table.last_poll for table in tables)),
    }
    for index, ms in enumerate(client.replay.times_ms.tolist()):
        columns[f"weight_{ms:g}_ms"] = concat_columns(*(table.weights[:, index] for table in tables))
    return columns


def best_expert_columns(client: ReplayedClient) -> dict[str, list[Any]]:
    """Return the losses per poll of the learner, the best fixed and the current best expert, by column."""
    table, best = history_of(client).whole, client.best_expert
    losses = {"suffered": table.facts["suffered"]}
    return _against_best(table, losses, (table.losses[:, best], table.facts["current_best"]))


def cumulative_columns(client: ReplayedClient) -> dict[str, list[Any]]:
    """Return the cumulative losses of the learner, the best fixed and the current best expert, by column."""
    table, best = history_of(client).whole, client.best_expert
    losses = {name: table.cumulative(name) for name in LEARNER_LOSSES}
    return _against_best(table, losses, (table.cumulative_losses[:, best], table.cumulative("current_best")))


def _against_best(
    table: PollTable, losses: Mapping[str, NDArray[Any]], comparators: Sequence[NDArray[Any]]
) -> dict[str, list[Any]]:
    names = (*losses, "best_fixed_expert", "current_best")
    columns = {
        f"{name}_nats": loss for name, loss in zip(names, (*losses.values(), *comparators), strict=True)
    }
    columns = {"time_s": table.end_s, "poll": table.last_poll, **columns}
    return {name: round_values(np.asarray(values)) for name, values in columns.items()}


def history_of(client: ReplayedClient) -> ReplayHistory:
    """Return the history of a replay, or raise ValueError if it was not recorded."""
    if client.history is None:
        raise ValueError("the replay has no history; run it with history=True")
    return client.history


def opening(
    history: ReplayHistory, polls_with_bytes: int = _POLLS_WITH_BYTES, zoom: tuple[int, int] = _ZOOM
) -> PollTable:
    """Return the first polls of a replay, for the panel that zooms in on the start.

    They include *polls_with_bytes* polls with buffered bytes, if the minimum and maximum number of polls in
    *zoom* allow that. *history* is that of the whole replay.
    """
    table = history.beginning
    indices = np.flatnonzero(table.facts["buffered_bytes"])[:polls_with_bytes]
    low, high = zoom
    return table.first(int(np.clip(indices[-1] + 1 if indices.size == polls_with_bytes else high, low, high)))


def _panel_names(tables: tuple[PollTable, PollTable]) -> list[str]:
    """Return the name of the panel of each row."""
    whole, beginning = tables
    return ["whole"] * whole.polls.size + ["beginning"] * beginning.polls.size


def round_values(values: NDArray[Any]) -> list[float]:
    """Return values rounded to seven significant digits, for the CSV."""
    return [float(f"{value:.7g}") for value in values.tolist()]


def concat_columns(*columns: NDArray[Any]) -> list[float]:
    """Return the concatenated columns, rounded for the CSV."""
    return round_values(np.concatenate(columns))
