"""Figures of the learner over time: weights (thesis, figure 2-10), switching rates, regret and bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.reporting.figures.replay.axes import (
    FigureData,
    concat_columns,
    expert_colours,
    expert_scale,
    history_of,
    round_up,
    title_window,
)
from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    from psm_sim.replay.trace_replay import ReplayedClient

WEIGHTS_ZOOM = 2000
"""Polls in the zoom on the beginning: weights move slowly."""


def weights(client: ReplayedClient) -> FigureData:
    """Draw the distribution over experts at each poll, stacked to 1, whole and beginning (figure 2-10)."""
    history, times_ms = history_of(client), client.replay.times_ms
    whole, zoom = history.whole, history.beginning.first(WEIGHTS_ZOOM)
    figure, axes = new_figure(2, 1, height_in=5.6)
    for each, table in zip(axes, (whole, zoom), strict=True):
        each.stackplot(table.last_poll, table.weights.T, colors=expert_colours(times_ms.size), linewidth=0)
        each.set(xlabel="poll", ylabel="weight", ylim=(0, 1))
        each.margins(x=0)
        each.grid(visible=False)
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
    """Draw Learn-alpha's posterior over the switching rate at each poll: median, halves and nine tenths."""
    history = history_of(client)
    (posterior, polls), rates = history.rate_weights, history.rates
    at = {share: rates[_quantile(posterior, share)] for share in (0.05, 0.25, 0.5, 0.75, 0.95)}
    figure, axes = new_figure(height_in=3.8)
    for low, high, shade in ((0.05, 0.95, "#CFE3F1"), (0.25, 0.75, "#7FB5DA")):
        label = f"{high - low:.0%} of the posterior"
        axes[0].fill_between(polls, at[low], at[high], color=shade, linewidth=0, label=label)
    axes[0].plot(polls, at[0.5], color="black", linewidth=1.2, label="median")
    axes[0].set(xlabel="poll", ylabel="switching rate (a poll)", yscale="log", ylim=(rates[0] / 1.5, 1.3))
    axes[0].margins(x=0.01)
    figure.legend(loc="outside lower center", ncols=3)
    numbers: dict[str, list[Any]] = {"poll": round_up(polls)}
    numbers |= {f"quantile_{share:g}": round_up(rate) for share, rate in at.items()}
    for rate, column in zip(rates.tolist(), posterior.T, strict=True):
        numbers[f"weight_{rate:.6g}"] = [float(f"{weight:.4g}") for weight in column.tolist()]
    return FigureData(figure, numbers)


def _quantile(posterior: NDArray[Any], share: float) -> NDArray[np.intp]:
    """Return the index of the least rate with at least *share* of the posterior up to it, per row."""
    found = (posterior.cumsum(axis=1) < share).sum(axis=1)
    return np.asarray(np.minimum(found, posterior.shape[1] - 1))


def regret_bound(client: ReplayedClient) -> FigureData:
    """Draw the regret of the mixture loss after growing numbers of polls, and what bounds it."""
    from psm_sim.replay.replay_regret import regret_and_bound

    found = regret_and_bound(history_of(client), client.replay.learner)
    figure, axes = new_figure(height_in=3.8)
    axes[0].plot(found.polls, found.bound, color=COLOURS[1], linestyle="--", label=f"bound: {found.theorem}")
    axes[0].plot(found.polls, found.regret, color=COLOURS[0], marker="o", markersize=3.5, label="regret")
    most = f"the first {found.polls[-1]:,.0f}"
    axes[0].set(xlabel=f"poll ({most})", ylabel="regret, mixture loss (nats)", xscale="log")
    axes[0].set_title(f"against {found.against}", loc="left", fontsize=9)
    figure.legend(loc="outside lower center", ncols=2)
    columns = (found.polls, found.regret, found.bound, found.alpha)
    names = ("poll", "regret_nats", "bound_nats", "best_alpha")
    return FigureData(figure, dict(zip(names, map(round_up, columns), strict=True)))
