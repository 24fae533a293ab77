"""Figures of a replay, each with its data: losses, polling times, weights and regret.

The thesis has such figures as 2-5 and 2-9 to 2-11. Figures of long replays show means over windows with equal
numbers of polls. Cumulative losses cover all polls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from psm_lab.replay.figure_columns import (
    best_expert_columns,
    concat_columns,
    cumulative_columns,
    history_of,
    loss_columns,
    opening,
    round_values,
    weight_columns,
)
from psm_sim.common.formatting import truncate
from psm_sim.reporting.figures.canvas import add_legend, common_style, new_figure, save_figure
from psm_sim.reporting.style import BLUE, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_lab.replay.replay_history import PollTable
    from psm_lab.replay.trace_replay import ReplayedClient

_UNITS = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))


class FigureData(NamedTuple):
    """Figure and its data, by column."""

    figure: Figure
    numbers: Mapping[str, Sequence[Any]]


_BEST_FIXED = "best fixed expert in hindsight"
_LEARNER_LABELS = {"mixture": "learner: mixture loss", "suffered": "learner: loss at the polling time used"}


def write_figures(
    folder: Path, client: ReplayedClient, other: ReplayedClient, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Write the figures of a replay to a *folder* in some *formats*, and return their paths.

    *client* is the replay, with its history. *other* is that of the same activity under the second loss. The
    figure of sleep times shows both.
    """
    paths: list[Path] = []
    with common_style():
        for name, data in _figures(client, other):
            paths += save_figure(data.figure, folder / name, data.numbers, formats)
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


def losses(client: ReplayedClient) -> FigureData:
    """Plot the loss per poll of each expert and of the learner (thesis, figure 2-9)."""
    numbers = loss_columns(client)
    return FigureData(draw_losses(pd.DataFrame(numbers)), numbers)


def draw_losses(frame: pd.DataFrame) -> Figure:
    """Plot :func:`loss_columns`, with one panel for the whole replay and one for its start."""
    times_ms = _expert_times_ms(frame)
    figure, axes = new_figure(2, 1, height_in=6.0)
    for panel, (name, marker) in zip(axes, (("whole", ""), ("beginning", "o")), strict=True):
        rows = frame[frame["panel"] == name]
        _plot_losses(panel, rows, times_ms, marker)
        panel.set_title(_title_rows(name, rows["polls"]), loc="left", fontsize=9)
    add_legend(figure, axes[1])
    _add_expert_scale(figure, axes, times_ms)
    return figure


def _plot_losses(axes: Axes, rows: pd.DataFrame, times_ms: NDArray[Any], marker: str) -> None:
    time, unit = _in_unit(rows["time_s"].to_numpy())
    for ms, colour in zip(times_ms.tolist(), _expert_colours(times_ms.size), strict=True):
        axes.plot(time, rows[f"expert_{ms:g}_ms_nats"], color=colour, linewidth=0.8)
    circles: dict[str, Any] = {"marker": marker, "markersize": 2.6, "markerfacecolor": "white"}
    circles["markevery"] = -(-time.size // 150)
    axes.plot(time, rows["suffered_nats"], color=VERMILLION, label=_LEARNER_LABELS["suffered"], **circles)
    axes.plot(time, rows["mixture_nats"], "k--", linewidth=1.0, label=_LEARNER_LABELS["mixture"])
    axes.set(xlabel=f"time ({unit})", ylabel="loss per poll (nats)", yscale="log")
    axes.margins(x=0.01)


def cumulative_losses(client: ReplayedClient) -> FigureData:
    """Plot cumulative losses and regrets of the learner.

    The comparators are the best fixed expert and the current best expert of each poll.
    """
    numbers = cumulative_columns(client)
    figure, axes = _plot_against_best(pd.DataFrame(numbers), _best_fixed_title(client))
    axes[0].set_ylabel("cumulative loss (nats)")
    axes[2].set_ylabel("regret (nats)")
    return FigureData(figure, numbers)


def losses_against_best(client: ReplayedClient) -> FigureData:
    """Plot the loss and regret per poll against the best fixed and the current best expert.

    The thesis has them in figure 2-11. See :func:`cumulative_losses` for the cumulative losses.
    """
    numbers = best_expert_columns(client)
    return FigureData(draw_against_best(pd.DataFrame(numbers), _best_fixed_title(client)), numbers)


def draw_against_best(frame: pd.DataFrame, best_fixed: str = _BEST_FIXED) -> Figure:
    """Plot :func:`best_expert_columns`, and the regrets below.

    *best_fixed* is the title of the panel of the best fixed expert.
    """
    figure, axes = _plot_against_best(frame, best_fixed)
    axes[0].set(ylabel="loss per poll (nats)", yscale="log")
    axes[1].set_yscale("log")
    axes[2].set_ylabel("regret per poll (nats)")
    figure.suptitle(_title_window(frame["poll"].iloc[0]), fontsize=9)
    return figure


def _best_fixed_title(client: ReplayedClient) -> str:
    return f"{_BEST_FIXED}, {client.replay.times_ms.item(client.best_expert):g} ms"


def _plot_against_best(frame: pd.DataFrame, best_fixed: str) -> tuple[Figure, Sequence[Axes]]:
    """Plot losses of the learner and their differences from two comparators, and return the four panels."""
    time, unit = _in_unit(frame["time_s"].to_numpy())
    titles = (best_fixed, "current best expert of each poll")
    comparators = (frame["best_fixed_expert_nats"], frame["current_best_nats"])
    styles = {"mixture": ("black", "--"), "suffered": (VERMILLION, "-")}
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.6)
    for above, below, title, comparator in zip(axes[:2], axes[2:], titles, comparators, strict=True):
        above.set_title(title, loc="left", fontsize=9)
        above.plot(time, comparator, color=BLUE, linewidth=1.6, label="comparator")
        below.axhline(0, color=BLUE, linewidth=1.6)
        below.set_xlabel(f"time ({unit})")
        for name, (colour, line) in styles.items():
            if f"{name}_nats" not in frame:
                continue
            loss = frame[f"{name}_nats"]
            style: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.0}
            above.plot(time, loss, label=_LEARNER_LABELS[name], **style)
            below.plot(time, loss - comparator, **style)
    add_legend(figure, axes[0])
    return figure, axes


def sleep_times(client: ReplayedClient, other: ReplayedClient) -> FigureData:
    """Plot the polling times over time for two losses, with one row per loss.

    The columns show the whole replay and its start. Marks below each curve show the polls that retrieved
    bytes. *client* and *other* are replays of the same activity, with their histories.
    """
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.2)
    numbers: dict[str, list[Any]] = {}
    span_s = opening(history_of(client)).end_s[-1]
    for row, replayed in enumerate((client, other)):
        history, name = history_of(replayed), str(replayed.method.parameters["loss"])
        whole = history.whole
        portion = history.beginning.first(int(np.searchsorted(history.beginning.end_s, span_s)) + 1)
        _plot_polling_times(axes[2 * row], whole, replayed, f"({'ab'[row]}) loss {truncate(name, 24, '…')}")
        _plot_polling_times(axes[2 * row + 1], portion, replayed, _title_window(portion.polls[0], "start"))
        axes[2 * row].set_ylabel(f"polling time (ms)\n{_title_window(whole.polls[0], '').lstrip(', ')}")
        for panel, table in (("whole", whole), ("beginning", portion)):
            key = f"{'ab'[row]}_{panel}"
            numbers[f"{key}_time_s"] = concat_columns(table.end_s)
            numbers[f"{key}_polling_ms"] = concat_columns(table.facts["slept_ms"])
            numbers[f"{key}_held_bytes"] = concat_columns(table.facts["buffered_bytes"])
    add_legend(figure, axes[0])
    return FigureData(figure, numbers)


def _plot_polling_times(axes: Axes, table: PollTable, client: ReplayedClient, title: str) -> None:
    times_ms = client.replay.times_ms
    time, unit = _in_unit(table.end_s)
    axes.step(time, table.facts["slept_ms"], where="pre", color=BLUE, label="polling time")
    axes.set(xlabel=f"time ({unit})", ylim=(0, times_ms[-1] * 1.05))
    axes.set_title(title, loc="left", fontsize=9)
    with_bytes = np.flatnonzero(table.facts["buffered_bytes"] > 0)
    style: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "color": VERMILLION, "linewidth": 0.7}
    axes.vlines(time[with_bytes], 0, 0.045, label="poll that retrieved bytes", **style)
    axes.margins(x=0.01)


def weights(client: ReplayedClient) -> FigureData:
    """Plot the weights of the experts at each poll, stacked to 1 (thesis, figure 2-10)."""
    numbers = weight_columns(client)
    return FigureData(draw_weights(pd.DataFrame(numbers)), numbers)


def draw_weights(frame: pd.DataFrame) -> Figure:
    """Plot :func:`weight_columns`, with one panel for the whole replay and one for its start."""
    times_ms = _expert_times_ms(frame)
    figure, axes = new_figure(2, 1, height_in=5.6)
    for panel, name in zip(axes, ("whole", "beginning"), strict=True):
        rows = frame[frame["panel"] == name]
        layers = [rows[f"weight_{ms:g}_ms"] for ms in times_ms.tolist()]
        panel.stackplot(rows["poll"], layers, colors=_expert_colours(times_ms.size), linewidth=0)
        panel.set(xlabel="poll", ylabel="weight", ylim=(0, 1))
        panel.margins(x=0)
        panel.grid(visible=False)
        panel.set_title(_title_rows(name, rows["poll"]), loc="left", fontsize=9)
    _add_expert_scale(figure, axes, times_ms)
    return figure


def switching_rates(client: ReplayedClient) -> FigureData:
    """Plot the median and the central 50 % and 90 % intervals of Learn-alpha's switching-rate posterior."""
    history = history_of(client)
    (posterior, polls), rates = history.rate_weights, history.rates
    quantiles = {share: rates[_quantile_index(posterior, share)] for share in (0.05, 0.25, 0.5, 0.75, 0.95)}
    figure, axes = new_figure(height_in=3.8)
    for low, high, shade in ((0.05, 0.95, "#CFE3F1"), (0.25, 0.75, "#7FB5DA")):
        label = f"{high - low:.0%} of the posterior"
        axes[0].fill_between(polls, quantiles[low], quantiles[high], color=shade, linewidth=0, label=label)
    axes[0].plot(polls, quantiles[0.5], color="black", linewidth=1.2, label="median")
    axes[0].set(xlabel="poll", ylabel="switching rate (per poll)", yscale="log", ylim=(rates[0] / 1.5, 1.3))
    axes[0].margins(x=0.01)
    add_legend(figure, axes[0])
    numbers: dict[str, list[Any]] = {"poll": round_values(polls)}
    numbers |= {f"quantile_{share:g}": round_values(rate) for share, rate in quantiles.items()}
    for rate, column in zip(rates.tolist(), posterior.T, strict=True):
        numbers[f"weight_{rate:.6g}"] = [float(f"{weight:.4g}") for weight in column.tolist()]
    return FigureData(figure, numbers)


def _quantile_index(posterior: NDArray[Any], share: float) -> NDArray[np.intp]:
    """Return, for each row, the index of the lowest rate whose cumulative probability is at least *share*."""
    index = (posterior.cumsum(axis=1) < share).sum(axis=1)
    return np.asarray(np.minimum(index, posterior.shape[1] - 1))


def regret_bound(client: ReplayedClient) -> FigureData:
    """Plot the regret of the mixture loss over the number of polls, and its theoretical bound."""
    from psm_lab.replay.replay_history import regret_and_bound

    curve = regret_and_bound(history_of(client), client.replay.learner)
    figure, axes = new_figure(height_in=3.8)
    axes[0].plot(curve.polls, curve.bound, color=VERMILLION, linestyle="--", label=f"bound: {curve.theorem}")
    axes[0].plot(curve.polls, curve.regret, color=BLUE, marker="o", markersize=3.5, label="regret")
    span = f"the first {curve.polls[-1]:,.0f}"
    axes[0].set(xlabel=f"poll ({span})", ylabel="regret, mixture loss (nats)", xscale="log")
    axes[0].set_title(f"against {curve.against}", loc="left", fontsize=9)
    add_legend(figure, axes[0])
    columns = (curve.polls, curve.regret, curve.bound, curve.alpha)
    names = ("poll", "regret_nats", "bound_nats", "best_alpha")
    return FigureData(figure, dict(zip(names, map(round_values, columns), strict=True)))


def _in_unit(seconds: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return times in the largest unit in which the last time is at least 3, and the unit."""
    fits = [(unit, size) for unit, size in _UNITS if seconds[-1] >= 3 * size]
    unit, size = (fits or [_UNITS[-1]])[0]
    return seconds / size, unit


def _expert_colours(experts: int) -> list[Any]:
    """Return one colour per expert, from dark blue to light yellow, which stay ordered in greyscale."""
    from matplotlib import colormaps

    return [colormaps["cividis"](share) for share in np.linspace(0.0, 0.95, experts)]


def _add_expert_scale(figure: Figure, axes: Sequence[Axes], times_ms: NDArray[Any]) -> None:
    """Add a colour bar with one step per expert. *times_ms* are at least two, evenly spaced."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    edges = np.concatenate([times_ms, [2 * times_ms[-1] - times_ms[-2]]]) - (times_ms[1] - times_ms[0]) / 2
    scale = ScalarMappable(BoundaryNorm(edges, times_ms.size), ListedColormap(_expert_colours(times_ms.size)))
    bar = figure.colorbar(scale, ax=list(axes), pad=0.02, aspect=30)
    every = -(-times_ms.size // 12)
    bar.set_ticks(times_ms[::every].tolist(), labels=[f"{ms:g}" for ms in times_ms[::every]])
    bar.set_label("expert: polling time (ms)")
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()


def _title_window(polls: float, span: str = "whole replay") -> str:
    """Return a panel title, which states whether the panel shows every poll or means over *polls* polls."""
    return f"{span}, every poll" if polls == 1 else f"{span}, means over {polls:g} polls"


def _title_rows(panel: str, polls: pd.Series) -> str:
    """Return the title of a panel of :func:`_panel_names`, whose first row has the size of the windows."""
    return _title_window(polls.iloc[0]) if panel == "whole" else f"the first {polls.size} polls"


def _expert_times_ms(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the polling times in the names of the columns ``expert_MS_ms_nats`` or ``weight_MS_ms``."""
    names = [name for name in frame if str(name).startswith(("expert_", "weight_"))]
    return np.array([float(str(name).split("_")[1]) for name in names])
