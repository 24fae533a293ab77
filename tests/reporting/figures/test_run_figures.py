"""Figures of a run: their contents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, best_known
from psm_sim.reporting.figures.canvas import FORMATS, save_picture
from psm_sim.reporting.figures.comparison import (
    draw_energy_by_state,
    draw_slowdowns,
    draw_trade_off,
    figures_of,
    frontier_of,
)
from psm_sim.reporting.figures.timelines import draw_page_timeline, draw_polling_times
from psm_sim.simulation import Comparison, Scenario, run_comparison
from psm_sim.simulation.recorder import timeline
from psm_sim.simulation.table import usage_of
from tests.page_rows import page_rows


def test_each_policy_has_one_mark_with_its_error_bars(replicated: Comparison) -> None:
    """The mark is at slowdown and energy. The title names policies far above; the optimum is a line."""
    named = replace(replicated, preset="thesis")
    figure = draw_trade_off(named, [ParetoCorner(2.9, 1.0), ParetoCorner(2.8, 1.5)])
    (axes,) = figure.axes
    marks = {container.get_label(): container for container in axes.containers}
    assert set(marks) == {"psm", "lpsm", "bsd:p=0.5"}
    assert "always-on" in figure.get_suptitle()
    title = figure.get_suptitle().replace("\n", " ")
    assert title.startswith("6 pages of ucb, means over seeds 1 to 3 with 95 % intervals")
    assert "preset thesis" in title
    for run in replicated.shown[1:]:
        line, _, bars = marks[run.policy]
        assert line.get_xdata()[0] == pytest.approx(run.slowdown.mean)
        assert line.get_ydata()[0] == pytest.approx(run.energy_per_page_j)
        (ends,) = bars[1].get_segments()
        half = run.interval("energy_per_page_j").half_width
        assert ends[1][1] - ends[0][1] == pytest.approx(2 * half)
    assert "best known schedule" in [line.get_label() for line in axes.get_lines()]


def test_the_bars_add_up_to_the_energy(replicated: Comparison) -> None:
    """A policy has three states, and policies are in the order of the table."""
    (axes,) = draw_energy_by_state(replicated).axes
    bars = [bar for container in axes.containers if hasattr(container, "patches") for bar in container]
    for position, run in enumerate(replicated.shown):
        mine = bars[position :: len(replicated.shown)]
        assert sum(bar.get_width() for bar in mine) == pytest.approx(run.energy_per_page_j)
    assert [label.get_text() for label in axes.get_yticklabels()] == [run.policy for run in replicated.shown]


def test_the_distribution_of_slowdowns_rises_from_0_to_1(replicated: Comparison) -> None:
    """Each policy has a line over the pages of all seeds."""
    (axes,) = draw_slowdowns(replicated).axes
    for line, run in zip(axes.get_lines(), replicated.shown, strict=True):
        assert line.get_label() == run.policy
        shares = np.asarray(line.get_ydata())
        assert (shares[0], shares[-1]) == (0.0, 1.0)
        assert np.asarray(line.get_xdata())[-1] == pytest.approx(run.slowdown.max)


def test_the_figure_of_a_device_without_pages_has_power_and_latency(device: Comparison) -> None:
    """A run without pages has no energy per page and no slowdown; latencies begin at about 0."""
    (axes,) = draw_trade_off(device).axes
    assert axes.get_ylabel() == "mean power (mW)"
    assert axes.get_xlabel().endswith("latency, 99th percentile (ms)")
    low, high = axes.get_xlim()
    assert -0.1 * high < low < 0
    marks = {container.get_label(): container.lines[0] for container in axes.containers}
    (bars,) = draw_energy_by_state(device).axes
    assert bars.get_xlabel() == "mean power (mW)"
    pieces = [bar for container in bars.containers if hasattr(container, "patches") for bar in container]
    for position, run in enumerate(device.shown):
        power_mw = 1000 * usage_of(run.row).total_j / run["simulated_s"]
        p99_s = run["latency.round_trip_up.latency_s.p99"]
        assert marks[run.label].get_xdata()[0] == pytest.approx(1000 * p99_s)
        assert marks[run.label].get_ydata()[0] == pytest.approx(power_mw)
        widths = [bar.get_width() for bar in pieces[position :: len(device.shown)]]
        assert sum(widths) == pytest.approx(power_mw)
    assert set(figures_of(device)) == {"energy-slowdown", "energy-by-state", "polling-times"}


def test_a_run_of_a_single_page_has_no_figure_of_the_distribution() -> None:
    one = run_comparison(["psm"], Scenario(pages=1))
    assert set(figures_of(one)) == {"energy-slowdown", "energy-by-state", "page-timeline"}


def test_marks_at_a_slowdown_of_1_are_within_the_axes(replicated: Comparison) -> None:
    """Marks at slowdown 1 are within them with half of their width."""
    (axes,) = draw_trade_off(replicated).axes
    assert min(run.slowdown.mean for run in replicated.shown) == pytest.approx(1.0, abs=0.01)
    low, high = axes.get_xlim()
    assert 0.02 < (1 - low) / (high - low) < 0.1


def test_a_frontier_that_a_result_beats_is_not_called_best_known() -> None:
    """The frontier joins its corners and is level beyond its ends."""
    corners = [ParetoCorner(3.0, 1.0), ParetoCorner(2.0, 2.0)]
    assert best_known(corners, [(1.0, 3.0), (1.5, 2.6), (4.0, 2.1)]) == corners
    for result in ((1.0, 2.9), (1.5, 2.4), (4.0, 1.9)):
        assert best_known(corners, [(1.0, 4.0), result]) == []


def test_the_frontier_is_not_drawn_if_a_policy_is_below_the_frontier() -> None:
    """Pages with parallel connections, whose delays overlap, are an example."""
    modern = Scenario("modern", pages=2, settings={"browser.connections": 1})
    assert frontier_of(run_comparison(["psm"], modern))
    assert frontier_of(run_comparison(["anticipate:price_w=1"], modern)) == []


def test_timelines_of_several_results_share_the_page_and_the_axis(replicated: Comparison) -> None:
    first, second = replicated.runs
    panels = first.plot(second).axes
    assert panels[0].get_xlim() == panels[1].get_xlim()
    numbers = [axes.get_title(loc="left").split("page ")[1].split(",")[0] for axes in panels]
    assert numbers[0] == numbers[1]


def test_the_timeline_of_a_page_has_every_received_beacon(replicated: Comparison) -> None:
    figure = draw_page_timeline(replicated.runs)
    run = replicated.runs[0].parts[0]
    number = int(figure.axes[0].get_title(loc="left").split("page ")[1].split(",")[0])
    record = page_rows(run)[number - 1]
    seen = timeline(run)
    heard_s = seen["time_s"][seen["event"] == "beacon"] - record.start_s
    low_s, high_s = figure.axes[0].get_xlim()
    (line,) = [line for line in figure.axes[0].get_lines() if line.get_label() == "beacon received"]
    shown_s = heard_s[(heard_s >= low_s) & (heard_s <= high_s)]
    assert np.asarray(line.get_xdata()) == pytest.approx(shown_s.to_numpy(), abs=1e-5)


def test_polling_times_are_plotted_for_policies_with_varying_polling_times(replicated: Comparison) -> None:
    figure = draw_polling_times(replicated)
    assert figure is not None
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["lpsm", "bsd:p=0.5"]
    assert draw_polling_times(run_comparison(["psm"], Scenario(pages=2))) is None


def test_a_figure_is_reproducible_byte_for_byte(replicated: Comparison, tmp_path: Path) -> None:
    for suffix in FORMATS:
        paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "again")]
        for path in paths:
            save_picture(draw_energy_by_state(replicated), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_timeline_agrees_with_the_counts_of_the_result() -> None:
    """The counts are of beacons, pages and decisions."""
    run = run_comparison(["psm"], Scenario(pages=3)).runs[0]
    seen = timeline(run)
    assert (seen["event"] == "beacon").sum() == usage_of(run.row).beacons
    assert (seen["event"] == "page complete").sum() == 3
    assert seen["time_s"].is_monotonic_increasing
    down = seen[seen["link"] == "wired down"]
    assert down["bytes"].sum() == run["traffic.server_sent_bytes"]
