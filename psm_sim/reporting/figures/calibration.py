"""Figure of a calibration: the current of the recording, an enlarged part, and the share of each state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.calibration.estimator import (
    ASSOCIATION,
    BEACONS,
    FRAMES,
    GROUP_FRAMES,
    MISSED,
    STATES,
    TIMERS,
    Estimate,
)
from psm_sim.reporting.figures.canvas import add_legend, add_title, common_style, new_figure
from psm_sim.reporting.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from psm_sim.calibration.recording import Recording
    from psm_sim.common.array_types import FloatArray

_COLOURS = {
    "base": GREY,
    BEACONS: PURPLE,
    MISSED: ORANGE,
    GROUP_FRAMES: GREEN,
    FRAMES: VERMILLION,
    ASSOCIATION: BLUE,
    TIMERS: SKY,
    "unexplained": "#dddddd",
}
_POINTS = 1000  # points per figure, about one per pixel, so that no short peak vanishes


def draw_calibration(recording: Recording, estimate: Estimate, title: str) -> Figure:
    """Plot the current, whose colour shows the state, and the share of each state in the mean current."""
    figure, (whole, part, shares) = new_figure(3, 1, width_in=7.5, height_in=7.0)
    times_s = recording.times_s - recording.times_s[0]
    # Index of the state of each sample; -1 outside pulses
    of_pulses = [*(STATES.index(state) for state in estimate.states), -1]
    state_of = np.array(of_pulses)[estimate.pulses.owners(times_s.size)]
    with common_style():
        currents_ma, base_ma = recording.currents_ma, estimate.base_ma
        _plot_current(whole, times_s, currents_ma, base_ma, state_of)
        begin_s, end_s = _typical_part(estimate, recording)
        inside = (times_s >= begin_s) & (times_s <= end_s)
        part_ms = 1e3 * (times_s[inside] - begin_s)
        _plot_current(part, part_ms, currents_ma[inside], base_ma[inside], state_of[inside])
        whole.set_xlabel("time (s)")
        whole.axvspan(begin_s, end_s, color=GREY, alpha=0.25, linewidth=0)
        part.set_xlabel(f"time after {begin_s:.3f} s (ms)")
        for axes in (whole, part):
            axes.set_ylabel("current (mA)")
            axes.set_ylim(bottom=0)
            axes.margins(x=0)
        _plot_shares(shares, estimate)
        for state in ("base", *STATES):
            if state == "base" or estimate.calibration.counts[state]:
                whole.fill_between([], [], color=_COLOURS[state], label=state)
    add_title(figure, [title.replace(" %", "\u00a0%")])
    add_legend(figure, whole)
    return figure


def _typical_part(estimate: Estimate, recording: Recording) -> tuple[float, float]:
    """Return start and end of the enlarged part, in seconds: around the first pulse of the rarest state."""
    interval_ms = estimate.calibration.beacon_interval_ms or 100.0
    whole_s = float(recording.times_s[-1] - recording.times_s[0])
    length_s = min(max(1.0, 11 * interval_ms / 1e3), whole_s)
    counts = {state: n for state, n in estimate.calibration.counts.items() if n and state != ASSOCIATION}
    if not counts:
        return 0.0, length_s
    is_rarest = estimate.states == min(counts, key=lambda state: counts[state])
    first_s = float(estimate.pulses.starts_s[is_rarest][0] - recording.times_s[0])
    begin_s = min(max(0.0, first_s - length_s / 2), whole_s - length_s)
    return begin_s, begin_s + length_s


def _plot_current(
    axes: Axes, times: FloatArray, currents_ma: FloatArray, base_ma: FloatArray, state_of: NDArray[np.intp]
) -> None:
    """Fill the area below the base current, and from there to the maximum of each group of samples."""
    group = -(-times.size // _POINTS)
    whole = times.size // group * group
    times, base_ma = times[:whole:group], base_ma[:whole:group]
    blocks, states = currents_ma[:whole].reshape(-1, group), state_of[:whole].reshape(-1, group)
    high = blocks.max(axis=1)
    owner = states[np.arange(high.size), blocks.argmax(axis=1)]
    drawn: dict[str, Any] = {"step": "post", "linewidth": 0, "rasterized": True}
    axes.fill_between(times, 0, base_ma, color=_COLOURS["base"], **drawn)
    for number, state in enumerate(STATES):
        own = owner == number
        if own.any():
            shown = own | np.append(False, own[:-1])
            axes.fill_between(times, base_ma, high, where=shown.tolist(), color=_COLOURS[state], **drawn)


def _plot_shares(axes: Axes, estimate: Estimate) -> None:
    """Plot the shares of the mean current as bars."""
    calibration = estimate.calibration
    states = [state for state, share in calibration.shares.items() if share or state == "unexplained"]
    shares = np.array([100 * calibration.shares[state] for state in states])
    bars = axes.barh(states, shares, color=[_COLOURS[state] for state in states])
    axes.bar_label(bars, [f"{share:.1f} %" for share in shares], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(min(0.0, float(shares.min())), 1.12 * float(shares.max()))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"share of the mean current of {calibration.mean_ma:.3g} mA (%)")
