"""Writer of the replay figures: thesis, figures 2-9 to 2-11, and further ones.

Figures of long replays show means over windows with equal numbers of polls. Cumulative losses cover all
polls.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.replay.axes_and_colours import FigureData
from psm_sim.reporting.figures.replay.losses import cumulative_losses, losses, losses_against_best
from psm_sim.reporting.figures.replay.polling_times import sleep_times
from psm_sim.reporting.figures.replay.weights_and_regret import regret_bound, switching_rates, weights
from psm_sim.reporting.figures.style import common_style, save_figure

if TYPE_CHECKING:
    from psm_sim.replay.trace_replay import ReplayedClient


def write_figures(folder: Path, client: ReplayedClient, other: ReplayedClient) -> list[Path]:
    """Write the figures of a replay, and return their paths.

    Parameters
    ----------
    folder : Path
        Output folder. It is created if it does not exist.
    client : ReplayedClient
        Replay to plot, with its history.
    other : ReplayedClient
        Replay of the same activity under the second loss, with its history. The figure of sleep times
        shows both.
    """
    paths: list[Path] = []
    with common_style():
        for name, data in _figures(client, other):
            paths += save_figure(data.figure, folder / name, data.numbers)
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
