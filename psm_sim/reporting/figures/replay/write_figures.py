"""Figures of a replay as files: thesis figures 2-9 to 2-11, and three that the thesis does not have.

Long replays are drawn as means over equal windows of polls; cumulative losses are those of every poll.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.replay.axes import FigureData
from psm_sim.reporting.figures.replay.losses import cumulative_losses, losses, losses_against_best
from psm_sim.reporting.figures.replay.polling_times import sleep_times
from psm_sim.reporting.figures.replay.weights import regret_bound, switching_rates, weights
from psm_sim.reporting.figures.style import common_style, save_figure

if TYPE_CHECKING:
    from psm_sim.replay.trace_replay import ReplayedClient


def write_figures(folder: Path, client: ReplayedClient, other: ReplayedClient) -> list[Path]:
    """Write every figure that the client's learner has; return the files.

    Parameters
    ----------
    folder : Path
        The folder of the files; made if need be.
    client : ReplayedClient
        The replay to draw, made with its history.
    other : ReplayedClient
        The same activity under the second loss, for the figure of sleep times; made with its history too.
    """
    paths: list[Path] = []
    with common_style():
        for name, drawn in _figures(client, other):
            paths += save_figure(drawn.figure, folder / name, drawn.numbers)
    return paths


def _figures(client: ReplayedClient, other: ReplayedClient) -> Iterator[tuple[str, FigureData]]:
    yield "losses", losses(client)
    yield "weights", weights(client)
    yield "losses-against-best", losses_against_best(client)
    yield "cumulative-losses", cumulative_losses(client)
    yield "sleep-times", sleep_times(client, other)
    if client.history is not None and client.history.rates.size:
        yield "switching-rates", switching_rates(client)
    yield "regret-bound", regret_bound(client)
