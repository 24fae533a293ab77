"""Figures of the learner: weights (thesis, figure 2-10), switching rates, and regret with its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.reporting.figures.replay.axes_and_colours import (
    FigureData,
    concat_columns,
    expert_colours,
    expert_scale,
    history_of,
    round_values,
    title_window,
)
from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    from psm_sim.replay.trace_replay import ReplayedClient

WEIGHTS_ZOOM = 2000
"""Number of polls in the panel that zooms in on the start. It is large, because weights change slowly."""


def weights(client: ReplayedClient) -> FigureData:
    """Plot the weights of the experts at each poll, stacked to 1 (thesis, figure 2-10).

    The panels show the whole replay and its start.
    """
    history, times_ms = history_of(client), client.replay.times_ms
    whole, zoom = history.whole, history.beginning.first(WEIGHTS_ZOOM)
    figure, axes = new_figure(2, 1, height_in=5.6)
    for panel, table in zip(axes, (whole, zoom), strict=True):
        panel.stackplot(table.last_poll, table.weights.T, colors=expert_colours(times_ms.size), linewidth=0)
        panel.set(xlabel="poll", ylabel="weight", ylim=(0, 1))
        panel.margins(x=0)
        panel.grid(visible=False)
    axes[0].set_title(title_window(whole.polls), loc="left", fontsize=9)
    axes[1].set_title(f"the first {zoom.polls.size} polls", loc="left", fontsize=9)
    expert_scale(figure, axes, times_ms)
    numbers: dict[str, list[Any]] = {
        "panel": ["whole"] * whole.polls.size + ["beginning"] * zoom.polls.size,
        "poll": concat_columns(whole.last_poll, zoom.last_poll),
    }
    for column, ms in enumerate(times_ms.tolist()):
        numbers[f"weight_{ms:g}_ms"] = concat_columns(whole.weights[:, column], zoom.weights[:, column])
    return FigureData(figure, numbers)


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
    figure.legend(loc="outside lower center", ncols=3)
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
    from psm_sim.replay.replay_regret import regret_and_bound

    curve = regret_and_bound(history_of(client), client.replay.learner)
    figure, axes = new_figure(height_in=3.8)
    axes[0].plot(curve.polls, curve.bound, color=COLOURS[1], linestyle="--", label=f"bound: {curve.theorem}")
    axes[0].plot(curve.polls, curve.regret, color=COLOURS[0], marker="o", markersize=3.5, label="regret")
    span = f"the first {curve.polls[-1]:,.0f}"
    axes[0].set(xlabel=f"poll ({span})", ylabel="regret, mixture loss (nats)", xscale="log")
    axes[0].set_title(f"against {curve.against}", loc="left", fontsize=9)
    figure.legend(loc="outside lower center", ncols=2)
    columns = (curve.polls, curve.regret, curve.bound, curve.alpha)
    names = ("poll", "regret_nats", "bound_nats", "best_alpha")
    return FigureData(figure, dict(zip(names, map(round_values, columns), strict=True)))
