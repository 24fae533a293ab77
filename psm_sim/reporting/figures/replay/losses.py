"""Figures of the losses of experts and learner over time (thesis, figures 2-9 and 2-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.reporting.figures.replay.axes_and_colours import (
    LONG_POLLS_WITH_BYTES,
    LONG_ZOOM,
    FigureData,
    concat_columns,
    expert_colours,
    expert_scale,
    history_of,
    in_unit,
    opening_axes,
    round_values,
    title_window,
)
from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from psm_sim.replay.replay_history import PollTable
    from psm_sim.replay.trace_replay import ReplayedClient


def losses(client: ReplayedClient) -> FigureData:
    """Plot the loss per poll of each expert and of the learner (thesis, figure 2-9).

    The panels show the whole replay and its start.
    """
    history, times_ms = history_of(client), client.replay.times_ms
    whole, zoom = history.whole, opening_axes(history, LONG_POLLS_WITH_BYTES, LONG_ZOOM)
    figure, axes = new_figure(2, 1, height_in=6.0)
    _plot_losses(axes[0], whole)
    _plot_losses(axes[1], zoom, marker="o")
    axes[0].set_title(title_window(whole.polls), loc="left", fontsize=9)
    axes[1].set_title(f"the first {zoom.polls.size} polls", loc="left", fontsize=9)
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    expert_scale(figure, axes, times_ms)
    return FigureData(figure, _loss_numbers(times_ms, whole, zoom))


def _plot_losses(axes: Axes, table: PollTable, marker: str = "") -> None:
    time, unit = in_unit(table.end_s)
    for expert_losses, colour in zip(table.losses.T, expert_colours(table.losses.shape[1]), strict=True):
        axes.plot(time, expert_losses, color=colour, linewidth=0.8)
    circles: dict[str, Any] = {"marker": marker, "markersize": 2.6, "markerfacecolor": "white"}
    circles["markevery"] = -(-time.size // 150)
    axes.plot(time, table.facts["suffered"], color=COLOURS[1], label=_LEARNER_LABELS["suffered"], **circles)
    axes.plot(time, table.facts["mixture"], "k--", linewidth=1.0, label=_LEARNER_LABELS["mixture"])
    axes.set(xlabel=f"time ({unit})", ylabel="loss per poll (nats)", yscale="log")
    axes.margins(x=0.01)


def _loss_numbers(times_ms: Any, whole: PollTable, zoom: PollTable) -> dict[str, list[Any]]:
    tables = (whole, zoom)
    numbers: dict[str, list[Any]] = {
        "panel": ["whole"] * whole.polls.size + ["beginning"] * zoom.polls.size,
        "time_s": concat_columns(*(table.end_s for table in tables)),
        "polls": concat_columns(*(table.polls for table in tables)),
    }
    for name in ("mixture", "suffered"):
        numbers[f"{name}_nats"] = concat_columns(*(table.facts[name] for table in tables))
    for column, ms in enumerate(times_ms.tolist()):
        numbers[f"expert_{ms:g}_ms_nats"] = concat_columns(*(table.losses[:, column] for table in tables))
    return numbers


def cumulative_losses(client: ReplayedClient) -> FigureData:
    """Plot cumulative losses and regrets of the learner (thesis, figure 2-11).

    The comparators are the best fixed expert and the current best expert of each poll.
    """
    table, best = history_of(client).whole, client.best_expert
    ms = client.replay.times_ms.item(best)
    learner_losses = {name: table.cumulative(name) for name in ("mixture", "suffered")}
    comparators = {
        f"best fixed expert in hindsight, {ms:g} ms": table.cumulative_losses[:, best],
        "current best expert of each poll": table.cumulative("current_best"),
    }
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.6)
    time, unit = in_unit(table.end_s)
    for column, (name, comparator) in enumerate(comparators.items()):
        above, below = axes[column], axes[2 + column]
        above.set_title(name, loc="left", fontsize=9)
        above.plot(time, comparator, color=COLOURS[0], linewidth=1.6, label="comparator")
        below.axhline(0, color=COLOURS[0], linewidth=1.6)
        for (kind, loss), colour, line in zip(
            learner_losses.items(), ("black", COLOURS[1]), ("--", "-"), strict=True
        ):
            style: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.2}
            above.plot(time, loss, label=_LEARNER_LABELS[kind], **style)
            below.plot(time, loss - comparator, **style)
        above.set(ylabel="cumulative loss (nats)" if column == 0 else "")
        below.set(xlabel=f"time ({unit})", ylabel="regret (nats)" if column == 0 else "")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    columns = (
        table.end_s,
        table.last_poll,
        learner_losses["mixture"],
        learner_losses["suffered"],
        *comparators.values(),
    )
    return FigureData(
        figure, dict(zip(_CUMULATIVE, map(round_values, map(np.asarray, columns)), strict=True))
    )


def losses_against_best(client: ReplayedClient) -> FigureData:
    """Plot the loss and regret per poll against the best fixed and the current best expert.

    See :func:`cumulative_losses` for the cumulative losses, as in the thesis, figure 2-11.
    """
    table, best = history_of(client).whole, client.best_expert
    learner_loss = table.facts["suffered"]
    comparators = {
        f"best fixed expert in hindsight, {client.replay.times_ms.item(best):g} ms": table.losses[:, best],
        "current best expert of each poll": table.facts["current_best"],
    }
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.6)
    time, unit = in_unit(table.end_s)
    for column, (name, comparator) in enumerate(comparators.items()):
        above, below = axes[column], axes[2 + column]
        above.set_title(name, loc="left", fontsize=9)
        above.plot(time, comparator, color=COLOURS[0], linewidth=1.2, label="comparator")
        above.plot(
            time,
            learner_loss,
            color=COLOURS[1],
            linewidth=0.8,
            marker="o",
            markersize=2.2,
            label=_LEARNER_LABELS["suffered"],
        )
        above.set(yscale="log", ylabel="loss per poll (nats)" if column == 0 else "")
        below.axhline(0, color=COLOURS[0], linewidth=1.2)
        below.plot(time, learner_loss - comparator, color=COLOURS[1], linewidth=0.8)
        below.set(xlabel=f"time ({unit})", ylabel="regret per poll (nats)" if column == 0 else "")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    figure.suptitle(title_window(table.polls), fontsize=9)
    columns = (table.end_s, table.last_poll, learner_loss, *comparators.values())
    names = ("time_s", "poll", "suffered_nats", "best_fixed_expert_nats", "current_best_nats")
    return FigureData(figure, dict(zip(names, map(round_values, map(np.asarray, columns)), strict=True)))


_LEARNER_LABELS = {"mixture": "learner: mixture loss", "suffered": "learner: loss at the polling time used"}
_NATS = ("mixture", "suffered", "best_fixed_expert", "current_best")
_CUMULATIVE = ("time_s", "poll", *(f"{name}_nats" for name in _NATS))
