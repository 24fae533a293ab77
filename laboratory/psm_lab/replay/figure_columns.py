"""Columns of the figures of a replay: losses and weights of the whole replay and of its first polls.

The columns of long replays are means over windows with equal numbers of polls. Values have seven significant
digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from psm_lab.replay.replay_history import ReplayHistory
from psm_lab.replay.trace_replay import ReplayedClient

_ZOOM, _POLLS_WITH_BYTES = (2_000, 10_000), 300
"""Limits on the number of first polls in the loss figure, and the number of polls with bytes to include.

All are large enough to show the convergence of the learner.
"""

_WEIGHTS_ZOOM = 2000
"""Number of first polls in the weight figure, which is large because weights change slowly."""


def loss_columns(client: ReplayedClient) -> pd.DataFrame:
    """Return the losses per poll of the whole replay and of its start."""
    history = history_of(client)
    beginning = history.beginning
    indices = np.flatnonzero(beginning.facts["buffered_bytes"])[:_POLLS_WITH_BYTES]
    polls = indices[-1] + 1 if indices.size == _POLLS_WITH_BYTES else _ZOOM[1]
    tables = {"whole": history.whole, "beginning": beginning.first(int(np.clip(polls, *_ZOOM)))}
    return _concat(
        {
            panel: {
                "time_s": table.end_s,
                "polls": table.polls,
                "mixture_nats": table.facts["mixture"],
                "suffered_nats": table.facts["suffered"],
                **_by_expert(client, "expert_{:g}_ms_nats", table.losses),
            }
            for panel, table in tables.items()
        }
    )


def weight_columns(client: ReplayedClient) -> pd.DataFrame:
    """Return the weights of the whole replay and of its start."""
    history = history_of(client)
    tables = {"whole": history.whole, "beginning": history.beginning.first(_WEIGHTS_ZOOM)}
    return _concat(
        {
            panel: {"poll": table.last_poll, **_by_expert(client, "weight_{:g}_ms", table.weights)}
            for panel, table in tables.items()
        }
    )


def best_expert_columns(client: ReplayedClient) -> pd.DataFrame:
    """Return the losses per poll of the learner, the best fixed and the current best expert."""
    table = history_of(client).whole
    return _frame(
        {
            "time_s": table.end_s,
            "poll": table.last_poll,
            "suffered_nats": table.facts["suffered"],
            "best_fixed_expert_nats": table.losses[:, client.best_expert],
            "current_best_nats": table.facts["current_best"],
        }
    )


FIGURES = {"losses": loss_columns, "weights": weight_columns, "against-best": best_expert_columns}
"""Data of each figure by its name."""


def history_of(client: ReplayedClient) -> ReplayHistory:
    """Return the history of a replay, or raise ValueError if it was not recorded."""
    if client.history is None:
        raise ValueError("the replay has no history; run it with history=True")
    return client.history


def _by_expert(client: ReplayedClient, name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the columns of *values*, each under *name* with the polling time of its expert."""
    return {name.format(ms): values[:, index] for index, ms in enumerate(client.replay.times_ms.tolist())}


def _concat(panels: dict[str, dict[str, NDArray[Any]]]) -> pd.DataFrame:
    """Return the rows of all panels, with the name of the panel in the first column."""
    frames = {panel: _frame(columns) for panel, columns in panels.items()}
    return pd.concat(frames, names=["panel"]).reset_index("panel").reset_index(drop=True)


def _frame(columns: dict[str, NDArray[Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: [float(f"{value:.7g}") for value in values.tolist()] for name, values in columns.items()}
    )
